"""States of random numbers under names, one of which each part of a model would use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ....core.errors import ArgumentError
from ....core.rng import get_rng_state, set_rng_state
from ....core.rng import seed as set_seed


class RNGStatesTracker:
    """States of random numbers under names. Source: paddle.distributed.fleet.meta_parallel.get_rng_state_tracker."""

    def __init__(self) -> None:
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def reset(self) -> None:
        """Forget all of them."""
        self.states_, self.seeds_ = {}, set()

    def add(self, name: str, seed: int) -> None:
        """Start a state at a seed; raises ValueError where the name or the seed is taken."""
        if seed in self.seeds_:
            raise ArgumentError(f"RNGStatesTracker.add: seed {seed} already exists", hint="take another seed")
        if name in self.states_:
            raise ArgumentError(f"RNGStatesTracker.add: state {name} already exists", hint="take another name")
        now = get_rng_state()
        set_seed(seed)
        self.seeds_.add(seed)
        self.states_[name] = get_rng_state()
        set_rng_state(now)

    @contextmanager
    def rng_state(self, name: str = "model_parallel_rng") -> Iterator[None]:
        """A block with random numbers of a name's own state; raises ValueError where there is none."""
        if name not in self.states_:
            raise ArgumentError(f"RNGStatesTracker.rng_state: state {name} does not exist", hint="add it first")
        now = get_rng_state()
        set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = get_rng_state()
            set_rng_state(now)


_TRACKER = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The one tracker of named states of random numbers."""
    return _TRACKER


__all__ = ["RNGStatesTracker", "get_rng_state_tracker"]

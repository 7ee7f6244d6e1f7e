"""Generators of random numbers that traced code makes from a seed: each run makes its own, where eager code does."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...eager.host_ops import effect_op
from ...ir.program import Block
from ..values.base import builder
from ..values.deferred import Call, captured, record

MAKERS = (random.Random, np.random.RandomState, np.random.default_rng)


class MadeGenerator:
    """What runs draw from in place of a generator that a trace made: one for each thread, since several may run."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._held = threading.local()

    def start(self, *args: Any, **kwargs: Any) -> None:
        """Make the generator of this run."""
        self._held.generator = self._make(*args, **kwargs)

    def drawing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, which draws from the generator that it is given, from that of the run."""

        def draw(*args: Any, **kwargs: Any) -> Any:
            return function(self._held.generator, *args, **kwargs)

        return draw


def made_generator(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`make(*args, **kwargs)`: a generator that only tells what is drawn from it, and a start of that in each run."""
    build = builder()
    block: Block | None = build.block
    while block is not None:
        if block in build.loop_bodies or block.name:
            raise UnsupportedError(
                "a generator of random numbers is made in a loop or recursion that a tensor stops",
                hint="make it before the loop",
            )
        block = block.parent
    made = MadeGenerator(make)
    record(effect_op, call=Call(made.start, tuple(map(captured, args)), {k: captured(v) for k, v in kwargs.items()}))
    generator = make(0)
    build.made_generators[id(generator)] = generator, made
    return generator


def of_run(owner: Any, function: Callable[..., Any]) -> Call | None:
    """What draws by `function` from the run's own generator, where a trace made `owner`; None for all others."""
    _, made = builder().made_generators.get(id(owner), (None, None))
    return None if made is None else Call(made.drawing(function))


def refuse_leaving(value: Any) -> None:
    """Raise UnsupportedError for a generator that a trace made and gives out: each run has another one."""
    if id(value) in builder().made_generators:
        raise UnsupportedError(
            "a generator of random numbers that was made inside is given back or kept in an object",
            hint="make it outside of the function, and pass it as an argument or draw from it there",
        )

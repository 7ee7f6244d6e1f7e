"""What optimizers that work around another one share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...core.errors import DTypeError
from ...eager.tensor import wrap
from ...optimizer.lr.base import LRScheduler
from ...optimizer.optimizer import Optimizer


class AroundOptimizer(Optimizer):
    """An optimizer with another one's parameters and learning rate, which counts steps and holds an array for each
    parameter. Raises DTypeError unless inner_optimizer is an Optimizer.
    """

    _of_each: ClassVar[str]
    """What stands behind a parameter's name where a saved state has its array."""
    _of_steps: ClassVar[str]
    """What a saved state calls the number of steps."""

    def __init__(self, inner_optimizer: Optimizer, name: str | None = None) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise DTypeError(f"{type(self).__name__}: inner_optimizer must be an Optimizer, got {inner_optimizer!r}")
        super().__init__(inner_optimizer.get_lr(), inner_optimizer.given_parameters(), name=name)
        self.inner_optimizer = inner_optimizer
        self._steps = 0
        self._arrays: dict[str, Any] = {}

    def get_lr(self) -> float:
        """The learning rate of the inner optimizer."""
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the inner optimizer."""
        self.inner_optimizer.set_lr(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let `scheduler` decide the learning rate of the inner optimizer."""
        self.inner_optimizer.set_lr_scheduler(scheduler)

    def state_dict(self) -> dict[str, Any]:
        """The inner optimizer's state, the arrays of the parameters, and how many steps there were."""
        arrays = {f"{name}{self._of_each}": wrap(array) for name, array in self._arrays.items()}
        return {**self.inner_optimizer.state_dict(), **arrays, self._of_steps: self._steps}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a copy of a saved state."""
        state = dict(state_dict)
        self._steps = int(state.pop(self._of_steps, 0))
        arrays = {key: state.pop(key) for key in list(state) if key.endswith(self._of_each)}
        self._arrays = {key.removesuffix(self._of_each): np.array(value) for key, value in arrays.items()}
        self.inner_optimizer.set_state_dict(state)

    set_dict = set_state_dict
    load_state_dict = set_state_dict

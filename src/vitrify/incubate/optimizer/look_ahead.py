"""LookAhead: weights that follow another optimizer's slowly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DTypeError
from ...core.outside import outside_programs
from ...eager.tensor import Tensor, wrap
from ...ir.guard import program_guard
from ...optimizer.lr.base import LRScheduler
from ...optimizer.optimizer import Optimizer, PairList
from .in_programs import append_following

_STEPS = "LookAhead_steps"


class LookAhead(Optimizer):
    """Slow weights that come a part of the way to those of another optimizer every k steps; both go on from there.

    slow += alpha * (fast - slow); fast = slow. The slow weights start as those after the first step, as in Paddle. In
    static mode `minimize` makes this part of the program.
    alpha: from 0 to 1. k: a positive int. Raises DTypeError unless inner_optimizer is an Optimizer, ArgumentError for
    other numbers. Source: paddle.incubate.LookAhead; Zhang, Lucas, Hinton, Ba 2019.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([4.0]))
        >>> opt = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.25, parameters=[w]), alpha=0.5, k=2)
        >>> for _ in range(2):  # to 2, then on to 1 and half the way back
        ...     (w * w).sum().backward()
        ...     opt.step()
        ...     opt.clear_grad()
        >>> w.tolist()
        [1.5]
    """

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise DTypeError(f"LookAhead: inner_optimizer must be an Optimizer, got {inner_optimizer!r}")
        if not 0.0 <= alpha <= 1.0:
            raise ArgumentError(f"LookAhead: alpha must be between 0 and 1, got {alpha}")
        if not isinstance(k, int) or k < 1:
            raise ArgumentError(f"LookAhead: k must be a positive int, got {k!r}")
        super().__init__(inner_optimizer.get_lr(), inner_optimizer.given_parameters(), name=name)
        self.inner_optimizer = inner_optimizer
        self.alpha = alpha
        self.k = k
        self._steps = 0
        self._slow: dict[str, Any] = {}

    def get_lr(self) -> float:
        """The learning rate of the inner optimizer."""
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the inner optimizer."""
        self.inner_optimizer.set_lr(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let `scheduler` decide the learning rate of the inner optimizer."""
        self.inner_optimizer.set_lr_scheduler(scheduler)

    def step(self) -> None:
        """A step of the inner optimizer; every k-th one brings slow and fast weights together."""
        outside_programs("LookAhead.step")
        self.inner_optimizer.step()
        self._follow()

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], PairList]:
        """Update by the gradients that `loss.backward()` left, as `step` does; returns ([], the pairs).

        For a Variable of a program, what the inner optimizer's `minimize` appends and what follows it are appended.
        """
        outside_programs("LookAhead.minimize", but_written=True)
        found = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        if isinstance(loss, Tensor):
            self._follow()
            return found
        updated = [param for param, _ in found[1]]
        with program_guard(loss.block.program, startup_program):
            append_following(updated, self.alpha, self.k)
        return found

    def _follow(self) -> None:
        self._steps += 1
        for param in self.given_parameters():
            if param.stop_gradient:
                continue
            slow = self._slow.get(param.name)
            if slow is None:
                slow = self._slow[param.name] = param._data.copy()
            if self._steps % self.k == 0:
                slow += self.alpha * (param._data - slow)
                param._data[...] = slow
                param.version_cell()[0] += 1

    def state_dict(self) -> dict[str, Any]:
        """The inner optimizer's state, the slow weights as "<parameter>_slow_0", and how many steps there were."""
        slow = {f"{name}_slow_0": wrap(array) for name, array in self._slow.items()}
        return {**self.inner_optimizer.state_dict(), **slow, _STEPS: self._steps}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a copy of a saved state."""
        state = dict(state_dict)
        self._steps = int(state.pop(_STEPS, 0))
        slow = {key: state.pop(key) for key in list(state) if key.endswith("_slow_0")}
        self._slow = {key.removesuffix("_slow_0"): np.array(value) for key, value in slow.items()}
        self.inner_optimizer.set_state_dict(state)

    set_dict = set_state_dict
    load_state_dict = set_state_dict


__all__ = ["LookAhead"]

"""LookAhead: weights that follow another optimizer's slowly."""

from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ...core.outside import outside_programs
from ...eager.gradients import stops_gradient
from ...eager.tensor import Tensor
from ...ir.guard import program_guard
from ...optimizer.optimizer import Optimizer, PairList
from .around import AroundOptimizer
from .in_programs import append_following


class LookAhead(AroundOptimizer):
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

    _of_each = "_slow_0"
    _of_steps = "LookAhead_steps"

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        super().__init__(inner_optimizer, name)
        if not 0.0 <= alpha <= 1.0:
            raise ArgumentError(f"LookAhead: alpha must be between 0 and 1, got {alpha}")
        if not isinstance(k, int) or k < 1:
            raise ArgumentError(f"LookAhead: k must be a positive int, got {k!r}")
        self.alpha = alpha
        self.k = k

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
        """Count a step; every k-th one, bring together the parameters and their slow weights, the arrays held."""
        self._steps += 1
        for param in self.given_parameters():
            if stops_gradient(param):
                continue
            slow = self._arrays.get(param.name)
            if slow is None:
                slow = self._arrays[param.name] = param._data.copy()
            if self._steps % self.k == 0:
                slow += self.alpha * (param._data - slow)
                param._data[...] = slow
                param.version_cell()[0] += 1


__all__ = ["LookAhead"]

"""GradientMergeOptimizer: updates by the gradients of several batches at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.outside import outside_programs
from ...eager.gradients import stops_gradient
from ...eager.tensor import Tensor, wrap
from ...ir.guard import program_guard
from ...ir.program import Variable
from ...optimizer.optimizer import Optimizer, PairList
from .around import AroundOptimizer
from .in_programs import append_merged


class GradientMergeOptimizer(AroundOptimizer):
    """Updates of another optimizer in every k_steps-th step, by the gradients added up since; by their mean with avg.

    Between, parameters and the optimizer's state stay as they are; so small batches count like one k_steps as large.
    In static mode `minimize` makes this part of the program. Raises DTypeError unless inner_optimizer is an Optimizer,
    ArgumentError for other k_steps than positive ints. Source: paddle.incubate.optimizer.GradientMergeOptimizer, which
    PaddlePaddle has in static mode alone.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([4.0]))
        >>> sgd = paddle.optimizer.SGD(0.25, parameters=[w])
        >>> opt = paddle.incubate.optimizer.GradientMergeOptimizer(sgd, k_steps=2)
        >>> for factor in (1.0, 3.0):  # once, by the mean of the gradients 1 and 3
        ...     (w * factor).sum().backward()
        ...     opt.step()
        ...     opt.clear_grad()
        >>> w.tolist()
        [3.5]
    """

    _of_each = "_gradient_merge_0"
    _of_steps = "GradientMerge_steps"

    def __init__(self, inner_optimizer: Optimizer, k_steps: int = 1, avg: bool = True) -> None:
        super().__init__(inner_optimizer)
        if not isinstance(k_steps, int) or k_steps < 1:
            raise ArgumentError(f"GradientMergeOptimizer: k_steps must be a positive int, got {k_steps!r}")
        self.k_steps = k_steps
        self.avg = avg

    def step(self) -> None:
        """Add up the gradients; every k_steps-th time, a step of the inner optimizer by them."""
        outside_programs("GradientMergeOptimizer.step")
        params = [p for p in self.given_parameters() if not stops_gradient(p) and p.grad is not None]
        self._merge([(p, p.grad) for p in params])

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], PairList]:
        """Update by the gradients that `loss.backward()` left, as `step` does; returns ([], the pairs).

        For a Variable of a program, its backward and what updates in every k_steps-th run are appended.
        """
        outside_programs("GradientMergeOptimizer.minimize", but_written=True)
        pairs = self.inner_optimizer.backward(loss, startup_program, parameters, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs

    def apply_optimize(self, loss: Any, startup_program: Any, params_grads: PairList) -> list[Any]:
        """`apply_gradients`, in the program of `loss` and with the state filled by `startup_program`."""
        if isinstance(loss, Tensor):
            return self.apply_gradients(params_grads)
        with program_guard(loss.block.program, startup_program):
            return self.apply_gradients(params_grads)

    def apply_gradients(self, params_grads: PairList) -> list[Any]:
        """Merge these gradients; returns the operators that update in a program, else []."""
        if params_grads and isinstance(params_grads[0][0], Variable):
            return append_merged(self.inner_optimizer, params_grads, self.k_steps, self.avg)
        self._merge(params_grads)
        return []

    def _merge(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Add gradients to the sums, which are the arrays held; every k_steps-th time, update by them."""
        for param, grad in pairs:
            held = self._arrays.get(param.name)
            self._arrays[param.name] = grad._data.copy() if held is None else held + grad._data
        self._steps += 1
        if self._steps % self.k_steps:
            return
        factor = 1.0 / self.k_steps if self.avg else 1.0
        chosen = [p for p in self.given_parameters() if p.name in self._arrays]
        merged = [(p, wrap((self._arrays[p.name] * factor).astype(self._arrays[p.name].dtype))) for p in chosen]
        self._arrays = {}
        self.inner_optimizer.apply_gradients(merged)


__all__ = ["GradientMergeOptimizer"]

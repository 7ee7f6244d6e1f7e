"""Minimizing a function of a vector by quasi-Newton steps. Source: paddle.incubate.optimizer.functional."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...core.errors import ArgumentError, DTypeError, UnsupportedError
from ...core.outside import outside_programs
from ...eager.backward import grad
from ...eager.grad_mode import enable_grad
from ...eager.tensor import Tensor, wrap
from ...optimizer.lbfgs import LinePoint, Vector, strong_wolfe

_DTYPES = ("float32", "float64")


def minimize_bfgs(
    objective_func: Callable[[Tensor], Tensor], initial_position: Tensor, max_iters: int = 50,
    tolerance_grad: float = 1e-07, tolerance_change: float = 1e-09,
    initial_inverse_hessian_estimate: Tensor | None = None, line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50, initial_step_length: float = 1.0, dtype: str = "float32", name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """(is_converged, num_calls, position, value, gradient, inverse_hessian) of the least value that was found.

    objective_func: of a vector [n] of `dtype`, "float32" or "float64", it gives one number. initial_position: [n].
    initial_inverse_hessian_estimate: symmetric, positive definite [n, n], the identity by default. The search ends
    where the largest part of the gradient is below tolerance_grad, or where a step changes position or value by less
    than tolerance_change, and after max_iters steps, each of max_line_search_iters evaluations at most, of which the
    first goes initial_step_length far. is_converged: bool [1], whether one of the tolerances ended it. num_calls:
    int64 [1]. position, gradient: [n]; value: []; inverse_hessian: [n, n]; all of `dtype`. Raises UnsupportedError for
    other line searches, ArgumentError for other dtypes and for an estimate that is none, DTypeError for a position of
    another dtype. Source: paddle.incubate.optimizer.functional.minimize_bfgs; Nocedal, Wright, "Numerical Optimization"
    (2006), algorithm 6.1.

    Example:
        >>> import vitrify as paddle
        >>> target = paddle.to_tensor([1.0, 2.0])
        >>> found = paddle.incubate.optimizer.functional.minimize_bfgs(
        ...     lambda x: ((x - target) ** 2).sum(), paddle.zeros([2])
        ... )
        >>> found[0].tolist(), found[1].tolist(), found[2].tolist()
        ([True], [3], [1.0, 2.0])
    """
    start = _start("minimize_bfgs", initial_position, line_search_fn, dtype)
    estimate = _FullHessian(_estimate("minimize_bfgs", initial_inverse_hessian_estimate, start))
    search = _Search(objective_func, max_line_search_iters, initial_step_length, tolerance_grad, tolerance_change)
    return (*search.run(start, estimate, max_iters), wrap(estimate.matrix))


def minimize_lbfgs(
    objective_func: Callable[[Tensor], Tensor], initial_position: Tensor, history_size: int = 100, max_iters: int = 50,
    tolerance_grad: float = 1e-08, tolerance_change: float = 1e-08,
    initial_inverse_hessian_estimate: Tensor | None = None, line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50, initial_step_length: float = 1.0, dtype: str = "float32", name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """(is_converged, num_calls, position, value, gradient), by the last `history_size` steps instead of a matrix.

    The other arguments and results, and what is raised, are those of `minimize_bfgs`.
    Source: paddle.incubate.optimizer.functional.minimize_lbfgs; Nocedal, Wright, "Numerical Optimization" (2006),
    algorithm 7.5.

    Example:
        >>> import vitrify as paddle
        >>> def rosenbrock(x):
        ...     return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        >>> start = paddle.to_tensor([-1.2, 1.0], dtype="float64")
        >>> found = paddle.incubate.optimizer.functional.minimize_lbfgs(rosenbrock, start, dtype="float64")
        >>> [round(x, 4) for x in found[2].tolist()]
        [1.0, 1.0]
    """
    start = _start("minimize_lbfgs", initial_position, line_search_fn, dtype)
    estimate = _History(_estimate("minimize_lbfgs", initial_inverse_hessian_estimate, start), history_size)
    search = _Search(objective_func, max_line_search_iters, initial_step_length, tolerance_grad, tolerance_change)
    return search.run(start, estimate, max_iters)


def _start(what: str, position: Any, line_search_fn: str, dtype: str) -> Vector:
    """The vector to start from, with the arguments checked."""
    outside_programs(what)
    if line_search_fn != "strong_wolfe":
        raise UnsupportedError(
            f"{what}: line_search_fn {line_search_fn!r} is not supported", hint='pass "strong_wolfe", the default'
        )
    if dtype not in _DTYPES:
        raise ArgumentError(f"{what}: dtype must be 'float32' or 'float64', got {dtype!r}")
    if not isinstance(position, Tensor) or position.dtype.name != dtype or position.ndim != 1:
        raise DTypeError(f"{what}: initial_position must be a {dtype} vector, got {position!r}")
    return position.numpy()


def _estimate(what: str, given: Tensor | None, start: Vector) -> Vector:
    if given is None:
        return np.eye(start.size, dtype=start.dtype)
    matrix = given.numpy().astype(start.dtype)
    is_square = matrix.shape == (start.size, start.size)
    if not is_square or not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise ArgumentError(f"{what}: initial_inverse_hessian_estimate must be symmetric and positive definite")
    return matrix


class _Estimate(Protocol):
    """What is known of the inverse Hessian."""

    def times(self, grad: Vector) -> Vector:
        """The product with a gradient."""

    def learn(self, step: Vector, change: Vector) -> None:
        """Take in how a step changed the gradient."""


class _FullHessian:
    def __init__(self, matrix: Vector) -> None:
        self.matrix = matrix

    def times(self, grad: Vector) -> Vector:
        return self.matrix @ grad

    def learn(self, step: Vector, change: Vector) -> None:
        share = 1 / (step @ change)
        turn = np.eye(step.size, dtype=step.dtype) - share * np.outer(step, change)
        self.matrix = turn @ self.matrix @ turn.T + share * np.outer(step, step)


class _History:
    def __init__(self, matrix: Vector, size: int) -> None:
        self._matrix = matrix
        self._size = size
        self._pairs: list[tuple[Vector, Vector]] = []

    def times(self, grad: Vector) -> Vector:
        rest, shares = grad, []
        for step, change in reversed(self._pairs):
            shares.append((step @ rest) / (step @ change))
            rest = rest - shares[-1] * change
        found = self._matrix @ rest
        for (step, change), share in zip(self._pairs, reversed(shares)):
            found = found + (share - (change @ found) / (step @ change)) * step
        return found

    def learn(self, step: Vector, change: Vector) -> None:
        self._pairs = [*self._pairs, (step, change)][-self._size :] if self._size > 0 else []


class _Search:
    """Steps downhill until one of the tolerances is met."""

    def __init__(
        self, function: Callable[[Tensor], Tensor], evaluations: int, first: float, flat: float, still: float
    ) -> None:
        self._function = function
        self._evaluations = evaluations
        self._first = first
        self._flat = flat
        self._still = still
        self._calls = 0

    def run(
        self, position: Vector, estimate: _Estimate, max_iters: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """What both functions return."""
        value, grad = self._at(position)
        is_converged = bool(np.abs(grad).max(initial=0.0) < self._flat)
        for _ in range(max_iters):
            if is_converged:
                break
            along = -estimate.times(grad)
            here = LinePoint(0.0, value, grad, float(grad @ along))
            end = strong_wolfe(
                partial(self._on_line, position, along), here, self._first, self._evaluations, self._still
            )
            step = (end.step * along).astype(position.dtype)
            change, fall = end.grad - grad, abs(end.value - value)
            position, value, grad = position + step, end.value, end.grad
            if step @ change > 0:  # else the estimate would not stay positive definite
                estimate.learn(step, change)
            is_flat = np.abs(grad).max() < self._flat
            is_converged = bool(is_flat or np.abs(step).max() < self._still or fall < self._still)
        number = position.dtype.type(value)
        return (
            wrap(np.array([is_converged])), wrap(np.array([self._calls])), wrap(position), wrap(number), wrap(grad),
        )  # fmt: skip

    def _on_line(self, start: Vector, along: Vector, far: float) -> LinePoint:
        value, grad = self._at((start + far * along).astype(start.dtype))
        return LinePoint(far, value, grad, float(grad @ along))

    def _at(self, position: Vector) -> tuple[float, Vector]:
        self._calls += 1
        x = wrap(position.copy())
        x.stop_gradient = False
        with enable_grad():
            value = self._function(x)
        (found,) = grad(
            [value], [x], [None], retain_graph=False, create_graph=False, allow_unused=True, no_grad_vars=[]
        )
        return float(value.item()), np.zeros_like(position) if found is None else found.numpy()


__all__ = ["minimize_bfgs", "minimize_lbfgs"]

"""LBFGS: steps along a direction that past gradients make of the present one. Source: Nocedal, Wright, "Numerical
Optimization" (2006), algorithms 7.4, 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.outside import outside_programs
from ..eager.grad_mode import enable_grad
from ..eager.tensor import Tensor, wrap
from .lr.base import LRScheduler
from .optimizer import Optimizer

Vector = np.ndarray[Any, Any]
# What a line search accepts: enough less than at the start, and enough flatter.
_LESS, _FLATTER = 1e-4, 0.9


@dataclass
class LinePoint:
    """A place on a line: how far along, the value there, the gradient, and its part along the line."""

    step: float
    value: float
    grad: Vector
    slope: float


@dataclass
class _Memory:
    """What one step leaves for the next."""

    steps: list[Vector] = field(default_factory=list)
    changes: list[Vector] = field(default_factory=list)
    grad: Vector | None = None
    direction: Vector | None = None
    moved: float = 0.0
    scale: float = 1.0
    value: float = 0.0
    weights: list[Any] = field(default_factory=list)
    evaluations: int = 0
    iterations: int = 0

    def as_state(self) -> dict[str, Any]:
        """The memory under Paddle's names; nothing before the first iteration."""
        if self.grad is None or self.direction is None:
            return {}
        pairs = zip(self.steps, self.changes)
        return {
            "func_evals": self.evaluations,
            "n_iter": self.iterations,
            "al": _tensors(self.weights),
            "d": wrap(self.direction),
            "alpha": self.moved,
            "old_yk": _tensors(self.changes),
            "old_sk": _tensors(self.steps),
            "ro": _tensors([1 / (change @ step) for step, change in pairs]),
            "H_diag": wrap(self.grad.dtype.type(self.scale)),
            "prev_flat_grad": wrap(self.grad),
            "prev_loss": self.value,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> _Memory:
        """The memory that `as_state`, or Paddle's `state_dict`, tells of."""
        if not state:
            return cls()
        weights = [np.asarray(weight)[()] for weight in state["al"] if weight is not None]
        return cls(
            steps=[np.asarray(step) for step in state["old_sk"]],
            changes=[np.asarray(change) for change in state["old_yk"]],
            grad=np.asarray(state["prev_flat_grad"]),
            direction=np.asarray(state["d"]),
            moved=float(state["alpha"]),
            scale=float(state["H_diag"]),
            value=float(state["prev_loss"]),
            weights=weights,
            evaluations=int(state["func_evals"]),
            iterations=int(state["n_iter"]),
        )


def _tensors(arrays: Sequence[Any]) -> list[Tensor]:
    return [wrap(array) for array in arrays]


def _cubic(a: LinePoint, b: LinePoint, low: float, high: float) -> float:
    """Where the cubic through two points and their slopes is least, between `low` and `high`."""
    first = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = first * first - a.slope * b.slope
    found = (low + high) / 2
    if square >= 0:
        root = np.sqrt(square) * np.sign(b.step - a.step)
        bottom = b.slope - a.slope + 2 * root
        found = b.step - (b.step - a.step) * (b.slope + root - first) / bottom if bottom else found
    return float(min(max(found, low), high))


def _between(a: LinePoint, b: LinePoint) -> float:
    """The step of the least value on the cubic, kept off the ends of the interval."""
    low, high = sorted((a.step, b.step))
    margin = 0.1 * (high - low)
    return _cubic(a, b, low + margin, high - margin)


def _beyond(before: LinePoint, here: LinePoint) -> float:
    """A longer step: where the cubic through both is least, or as near as the farthest that is tried, ten times it."""
    return _cubic(before, here, here.step + 0.01 * (here.step - before.step), 10 * here.step)


def strong_wolfe(
    at: Callable[[float], LinePoint], start: LinePoint, first: float, limit: int, tolerance: float
) -> LinePoint:
    """A point along a line where the value and the slope have fallen enough; the best one after `limit` evaluations."""
    before, here = start, at(first)
    low = high = None
    for used in range(1, limit):
        if here.value > start.value + _LESS * here.step * start.slope or (used > 1 and here.value >= before.value):
            low, high = before, here
            break
        if abs(here.slope) <= -_FLATTER * start.slope:
            return here
        if here.slope >= 0:
            low, high = here, before
            break
        before, here = here, at(_beyond(before, here))
    if low is None or high is None:
        return here
    for _ in range(limit):
        if abs(high.step - low.step) * abs(low.slope) < tolerance:
            break
        here = at(_between(low, high))
        if here.value > start.value + _LESS * here.step * start.slope or here.value >= low.value:
            high = here
            continue
        if abs(here.slope) <= -_FLATTER * start.slope:
            return here
        if here.slope * (high.step - low.step) >= 0:
            high = low
        low = here
    return low


class LBFGS(Optimizer):
    """Follows the direction that the last `history_size` changes of the gradient suggest.

    One `step(closure)` makes up to max_iter iterations and max_eval evaluations (1.25 * max_iter by default), and ends
    early when no gradient is above tolerance_grad or a change is below tolerance_change. closure: computes the loss
    anew, calls backward and returns it. line_search_fn: None goes learning_rate far, "strong_wolfe" looks for how far.
    Raises ArgumentError for other searches. See `Optimizer` for the other arguments. Source: paddle.optimizer.LBFGS.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([4.0, -3.0]))
        >>> opt = paddle.optimizer.LBFGS(line_search_fn="strong_wolfe", parameters=[w])
        >>> def closure():
        ...     opt.clear_grad()
        ...     loss = ((w - 1) ** 4).sum()
        ...     loss.backward()
        ...     return loss
        >>> for _ in range(3):
        ...     _ = opt.step(closure)
        >>> [round(v, 1) for v in w.tolist()]
        [1.0, 1.0]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(f'LBFGS: line_search_fn must be None or "strong_wolfe", got {line_search_fn!r}')
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad = tolerance_grad
        self.tolerance_change = tolerance_change
        self.history_size = history_size
        self.line_search_fn = line_search_fn
        self._memory = _Memory()

    # -- the parameters as one vector ---------------------------------------------------------------------------------

    def _vector(self) -> Vector:
        return np.concatenate([p.numpy().ravel() for p in self._parameters()])

    def _move_to(self, vector: Vector) -> None:
        start = 0
        for p in self._parameters():
            size = int(np.prod(p.shape))
            p.set_value(vector[start : start + size].reshape(p.shape).astype(p.numpy().dtype))
            start += size

    def _gradient(self) -> Vector:
        grads = [(p, p.grad) for p in self._parameters()]
        if self._grad_clip is not None:
            clipped = iter(self._grad_clip([(p, g) for p, g in grads if g is not None]))
            grads = [(p, None if g is None else next(clipped)[1]) for p, g in grads]
        flat = np.concatenate(
            [(np.zeros(p.shape, p.numpy().dtype) if g is None else g.numpy()).ravel() for p, g in grads]
        )
        l1, l2 = self._weight_decay
        if not (l1 or l2):
            return flat
        at = self._vector()
        return flat + l1 * np.sign(at) + l2 * at

    # -- iterations ---------------------------------------------------------------------------------------------------

    def _direction(self, grad: Vector) -> Vector:
        """Minus the inverse curvature that the memory knows, times the gradient: the two loops of algorithm 7.4."""
        memory = self._memory
        found, weights = -grad, []
        pairs = list(zip(memory.steps, memory.changes))
        for step, change in reversed(pairs):
            weights.append((step @ found) / (change @ step))
            found = found - weights[-1] * change
        memory.weights = weights[::-1]
        found = found * memory.scale
        for (step, change), weight in zip(pairs, memory.weights):
            found = found + step * (weight - (change @ found) / (change @ step))
        return found

    def _remember(self, grad: Vector) -> None:
        memory = self._memory
        if memory.grad is None or memory.direction is None:
            return
        step, change = memory.direction * memory.moved, grad - memory.grad
        curvature = float(change @ step)
        if curvature > 1e-10:
            memory.steps, memory.changes = [*memory.steps, step], [*memory.changes, change]
            del memory.steps[: -self.history_size], memory.changes[: -self.history_size]
            memory.scale = curvature / float(change @ change)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """The loss before the first iteration. Raises ArgumentError without a closure."""
        if closure is None:
            raise ArgumentError("LBFGS.step: give it a function that computes the loss and calls backward")
        outside_programs("LBFGS.step")
        memory, evaluations = self._memory, 0

        def evaluate() -> tuple[Any, Vector]:
            nonlocal evaluations
            evaluations += 1
            memory.evaluations += 1
            with enable_grad():
                loss = closure()
            return loss, self._gradient()

        first, grad = evaluate()
        value = float(first)
        for iteration in range(self.max_iter):
            flat = np.abs(grad).max(initial=0) <= self.tolerance_grad
            if flat or (iteration and evaluations >= self.max_eval):
                break
            memory.iterations += 1
            self._remember(grad)
            direction, rate = self._direction(grad), self.get_lr()
            far = min(1.0, 1 / float(np.abs(grad).sum())) * rate if memory.iterations == 1 else rate
            slope = float(grad @ direction)
            if slope > -self.tolerance_change:
                break
            memory.grad, memory.direction, before, origin = grad, direction, value, self._vector()
            memory.value = before

            def at(distance: float, origin: Vector = origin, direction: Vector = direction) -> LinePoint:
                self._move_to(origin + distance * direction)
                loss, found = evaluate()
                return LinePoint(distance, float(loss), found, float(found @ direction))

            if self.line_search_fn is None:
                memory.moved = far
                self._move_to(origin + far * direction)
                if iteration + 1 < self.max_iter:
                    loss, grad = evaluate()
                    value = float(loss)
            else:
                end = strong_wolfe(at, LinePoint(0.0, value, grad, slope), far, 25, self.tolerance_change)
                memory.moved, value, grad = end.step, end.value, end.grad
                self._move_to(origin + end.step * direction)
            small = np.abs(direction * memory.moved).max() <= self.tolerance_change
            if small or abs(value - before) < self.tolerance_change:
                break
        return first

    # -- state --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """What the steps so far have left, as one entry "state"."""
        return {"state": self._memory.as_state()}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take what `state_dict` gave, here or in Paddle."""
        self._memory = _Memory.from_state(state_dict["state"])


__all__ = ["LBFGS"]

"""What windows, bins and resizing need of sizes, as steps of programs compiled ahead of time for sizes left open.

Where sizes are known these are tables of constants; here the run computes them of counted places, as the kernels do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import as_dtype
from .elementwise import add_op, divide_op, multiply_op, subtract_op
from .like import cast_op
from .order_forms import range_form
from .registry import get_op
from .sliding_window import Pair

_INT, _WIDE = np.dtype(np.int64), np.dtype(np.float64)
_CUBIC = -0.75


class _Line:
    """A row of numbers, with arithmetic."""

    def __init__(self, n: Any, x: Any) -> None:
        self._n, self.x = n, x

    @classmethod
    def counted(cls, n: Any, count: int) -> _Line:
        """0, 1, 2, ..."""
        return cls(n, range_form(n, count, 0, 1, as_dtype("int64")))

    def _with(self, op: Any, other: _Line | float) -> _Line:
        y = other.x if isinstance(other, _Line) else self._n.full((), other, self.x.dtype)
        return _Line(self._n, self._n.apply(op, self.x, y))

    def __add__(self, other: _Line | float) -> _Line:
        return self._with(add_op, other)

    def __sub__(self, other: _Line | float) -> _Line:
        return self._with(subtract_op, other)

    def __mul__(self, other: _Line | float) -> _Line:
        return self._with(multiply_op, other)

    def __rsub__(self, other: float) -> _Line:
        return self * -1 + other

    def least(self, other: float) -> _Line:
        return self._with(get_op("minimum"), other)

    def most(self, other: float) -> _Line:
        return self._with(get_op("maximum"), other)

    def down(self) -> _Line:
        return _Line(self._n, self._n.apply(get_op("floor"), self.x))

    def cast(self, dtype: Any) -> _Line:
        return _Line(self._n, self._n.apply(cast_op, self.x, dtype=as_dtype(dtype)))


def window_lengths(
    n: Any, counts: Sequence[int], sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
    pads: Sequence[Pair], exclusive: bool, dtype: Any,
) -> Any:  # fmt: skip
    """`pool_kernel.window_sizes`, of the shape of the windows."""
    total = None
    for axis, (count, size, k, s, (low, high)) in enumerate(zip(counts, sizes, kernel, stride, pads)):
        first = _Line.counted(n, count) * s - low
        last = (first + k).least(size if exclusive else size + high)
        lengths = (last - (first.most(0) if exclusive else first)).cast(dtype).x
        own = n.reshape(lengths, [count if d == axis else 1 for d in range(len(counts))])
        total = own if total is None else n.apply(multiply_op, total, own)
    return total


def _ratio(n: Any, axis: Any) -> _Line | float:
    """Elements of the input to one of the output."""
    if axis.scale and not axis.align_corners:
        return float(axis.ratio())
    less = 1 if axis.align_corners else 0
    own = [n.full((), size - less, _WIDE) for size in (axis.size, max(axis.out, less + 1))]
    return _Line(n, n.apply(divide_op, *own))


def _counted(n: Any, axis: Any) -> _Line:
    return _Line.counted(n, axis.out).cast(_WIDE)


def _nearest(n: Any, axis: Any) -> list[tuple[_Line, None]]:
    return [((_counted(n, axis) * _ratio(n, axis)).down().least(axis.size - 1), None)]


def _centres(n: Any, axis: Any, is_whole: bool) -> _Line:
    at = _counted(n, axis)
    return at * _ratio(n, axis) if is_whole else (at + 0.5) * _ratio(n, axis) - 0.5


def _linear(n: Any, axis: Any) -> list[tuple[_Line, _Line]]:
    at = _centres(n, axis, axis.align_corners or axis.align_mode == 1).most(0)
    first = at.down().least(axis.size - 1)
    share = at - first
    return [(first, 1 - share), ((first + 1).least(axis.size - 1), share)]


def _cubic(n: Any, axis: Any) -> list[tuple[_Line, _Line]]:
    at = _centres(n, axis, axis.align_corners)
    first = at.down()
    share = at - first
    found = []
    for step, d in ((-1, share + 1), (0, share), (1, 1 - share), (2, 2 - share)):
        if step in (0, 1):
            weight = (d * (_CUBIC + 2) - (_CUBIC + 3)) * d * d + 1
        else:
            weight = ((d * _CUBIC - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
        found.append(((first + step).most(0).least(axis.size - 1), weight))
    return found


_TAPS: dict[str, Callable[[Any, Any], Sequence[tuple[_Line, _Line | None]]]] = {
    "nearest": _nearest, "linear": _linear, "cubic": _cubic
}  # fmt: skip


def resized_open(n: Any, x: Any, axes: Sequence[Any], first: int, kind: str) -> Any:
    """x with each dimension from `first` on as a weighted sum of few elements. axes: sizes, and the ratio of each."""
    if kind not in _TAPS:
        n.refuse("filters that smooth have no native form where sizes are left open")
    if kind != "nearest" and x.dtype not in (np.float32, np.float64):
        n.refuse(f"resizing {x.dtype} has no native form")
    for d, axis in enumerate(axes, start=first):
        n.note(min(axis.out, 2), min(axis.size, 2))  # one element stands for others than many do
        total = None
        for place, weight in _TAPS[kind](n, axis):
            part = n.take(x, place.cast(_INT).x, d)
            if weight is not None:
                spread = n.reshape(weight.cast(x.dtype).x, [axis.out if i == d else 1 for i in range(x.ndim)])
                part = n.apply(multiply_op, part, spread)
            total = part if total is None else n.apply(add_op, total, part)
        x = total
        n.note(*x.shape)  # between two dimensions one is large and the other one small
    return n.contiguous(x)


__all__ = ["resized_open", "window_lengths"]

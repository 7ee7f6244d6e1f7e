"""Norms and their gradients in simpler ops, such that what goes over rows is one group of machine code.

Parts of the channels, which are no last dimensions, are rows of an array in another shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.meta import UNKNOWN, Shape
from .like import cast
from .norm_kernel import Layout, stats_dtype
from .reduce import mean, sum
from .registry import get_op
from .shape import reshape
from .unary import sqrt


class _Rows:
    """How the elements of x that are normalized together lie in a row: its last dimensions, or those of x in another
    shape.
    """

    def __init__(self, x: Any, layout: Layout) -> None:
        self.layout, self.shape = layout, tuple(x.shape)
        self.axes = [2] if layout.groups else list(layout.axes)
        self.is_plain = layout.param_axes == layout.axes and not layout.groups

    @property
    def is_there(self) -> bool:
        """Whether there are such rows: of groups, of the channels behind the images in all else."""
        layout, rank = self.layout, len(self.shape)
        if layout.groups:
            behind = tuple(range(2, rank + 1))
            return layout.param_axes == (1,) and layout.axes == behind and UNKNOWN not in self.shape[1:]
        return layout.axes == tuple(range(rank - len(layout.axes), rank))

    def of(self, x: Any) -> Any:
        """An array of the shape of x as rows."""
        return reshape(x, [0, self.layout.groups, -1]) if self.layout.groups else x

    def back(self, rows: Any) -> Any:
        """Rows in the shape of x."""
        return reshape(rows, [0, *self.shape[1:]]) if self.layout.groups else rows

    def stats(self, value: Any) -> Any:
        """A number for each row in the shape of statistics."""
        return reshape(value, [0, *self.layout.stats_shape(self.shape)[1:]]) if self.layout.groups else value

    def spreads(self, param: Any) -> bool:
        """Whether a parameter has a number for each place of a row, or for each channel."""
        axes, shape = self.layout.param_axes, list(param.shape)
        if self.is_plain:
            return shape == list(self.shape[-len(axes) :])
        return axes == (1,) and shape == [self.shape[1]] and UNKNOWN not in shape

    def spread(self, param: Any) -> Any:
        """A parameter in a shape that broadcasts against x."""
        return param if self.is_plain else reshape(param, [-1, *(1,) * (len(self.shape) - 2)])


def norm_in_ops(x: Any, weight: Any, bias: Any, layout: Layout, epsilon: float, *, centered: bool) -> Any:
    """(out, mean, rstd); None where what is normalized over is no row, or parameters do not go with it."""
    rows = _Rows(x, layout)
    if (
        not rows.is_there
        or not (centered or rows.is_plain)
        or any(p is not None and not rows.spreads(p) for p in (weight, bias))
    ):
        return None
    wide = stats_dtype(x.dtype)
    source = rows.of(cast(x, wide))
    if rows.is_plain:
        out, middle, rstd = _in_ops(source, rows.axes, epsilon, centered)
    else:
        out, middle, rstd = _by_rows(source, rows.axes, epsilon)
    out = rows.back(out)
    out = out if weight is None else out * cast(rows.spread(weight), wide)
    out = out if bias is None else out + cast(rows.spread(bias), wide)
    return cast(out, x.dtype), None if middle is None else rows.stats(middle), rows.stats(rstd)


def _in_ops(x: Any, axes: Sequence[int], epsilon: float, centered: bool) -> tuple[Any, Any, Any]:
    """Rows, normalized, and their statistics."""
    middle = _mean(x, axes) if centered else None
    out = x if middle is None else x - middle
    rstd = 1 / sqrt(_mean(out * out, axes) + epsilon)
    return out * rstd, middle, rstd


def _by_rows(x: Any, axes: Sequence[int], epsilon: float) -> tuple[Any, Any, Any]:
    """The same as one op, whose kernel gives what that of the norm does."""
    attrs = {"axes": tuple(axes), "param_axes": tuple(axes), "groups": 0, "epsilon": epsilon}
    out, middle, rstd = get_op("layer_norm")(x, None, None, **attrs)
    return out, middle, rstd


def gradient_in_ops(
    ct: Any, x: Any, weight: Any, bias: Any, mean: Any, rstd: Any, *, axes: Shape, param_axes: Shape, groups: int,
    epsilon: float, with_params: bool,
) -> Any:  # fmt: skip
    """The cotangents of x, weight and bias, where both are there and have a number for each place of a row."""
    if weight is None or bias is None or not with_params or mean is None or groups or param_axes != axes:
        return None
    rows = _Rows(x, Layout(axes, param_axes, groups))
    if stats_dtype(x.dtype) != x.dtype or not all(p.dtype == x.dtype and rows.spreads(p) for p in (weight, bias)):
        return None
    others = list(range(x.ndim - len(axes)))
    y, g = (x - mean) * rstd, ct * weight
    dx = rstd * (g - _mean(g, axes) - y * _mean(g * y, axes))
    return (dx, sum(ct * y, others), sum(ct, others)) if others else None


def _mean(x: Any, axes: Sequence[int]) -> Any:
    return mean(x, list(axes), keepdim=True)


__all__ = ["gradient_in_ops", "norm_in_ops"]

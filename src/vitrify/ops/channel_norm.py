"""Batch norm and its gradient as steps of native programs: each channel is one row of what lies in memory."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from .elementwise import divide_op, multiply_op
from .norm_kernel import Layout


class _Rows(NamedTuple):
    """How an array is read as one row a channel: the order of its dimensions, and its sizes in that order."""

    order: Shape
    sizes: Shape

    def of(self, n: Any, x: Any) -> Any:
        """x as [channels, all others], a copy where it does not lie so."""
        moved = n.view(lambda a: a.transpose(self.order), x)
        rows = n.reshape(moved, (self.sizes[0], prod(self.sizes[1:])))
        return rows if rows.shape[1] == 1 or rows.strides[1] == x.dtype.itemsize else n.copy(rows)

    def new(self, n: Any, dtype: Any) -> tuple[Any, Any]:
        """A new array as rows, and as an array of the shape of x."""
        made = n.new(self.sizes, dtype)
        back = [self.order.index(d) for d in range(len(self.order))]
        return n.reshape(made, (self.sizes[0], prod(self.sizes[1:]))), n.view(lambda a: a.transpose(back), made)


def _rows_of(n: Any, x: Any, axes: Shape, param_axes: Shape, groups: int) -> _Rows:
    """The rows of x; refused where what is normalized over are not all dimensions but one."""
    others = [d for d in range(x.ndim) if d not in param_axes]
    if groups or len(param_axes) != 1 or sorted(axes) != others:
        n.refuse("norms over other dimensions than all but the channels have no native form of their own")
    if x.dtype != np.float32 or not x.size:
        n.refuse(f"norms of channels of {x.dtype}{x.shape} have no native form")
    order = (*param_axes, *sorted(others, key=lambda d: -abs(x.strides[d])))
    return _Rows(order, tuple(x.shape[d] for d in order))


def batch_norm_native(
    n: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape,
    groups: int, epsilon: float, momentum: float,
) -> Any:  # fmt: skip
    """(out, mean, rstd, the new running statistics) of a batch."""
    rows = _rows_of(n, x, axes, param_axes, groups)
    given = rows.of(n, x)
    target, out = rows.new(n, x.dtype)
    channels = rows.sizes[0]
    mean, rstd, new_mean, new_var = (n.new((channels,), x.dtype) for _ in range(4))
    params = [None if p is None else n.contiguous(p) for p in (weight, bias)]
    stats = [mean, rstd, n.contiguous(running_mean), n.contiguous(running_var), new_mean, new_var]
    n.normalize_rows(given, target, params, stats, epsilon, momentum)
    shape = Layout(axes, param_axes, groups).stats_shape(x.shape)
    return out, n.reshape(mean, shape), n.reshape(rstd, shape), new_mean, new_var


def norm_grad_native(
    n: Any, ct: Any, x: Any, weight: Any, bias: Any, mean: Any, rstd: Any, *, axes: Shape, param_axes: Shape,
    groups: int, epsilon: float, with_params: bool,
) -> Any:  # fmt: skip
    """The cotangents of x, weight and bias."""
    if groups and mean is not None:
        return _group_grad(n, ct, x, weight, bias, mean, rstd, Layout(axes, param_axes, groups), with_params)
    rows = _rows_of(n, x, axes, param_axes, groups)
    if mean is None:
        n.refuse("norms without a mean have no native form of their own")
    flowing, given = (rows.of(n, v) for v in (ct, x))
    target, dx = rows.new(n, x.dtype)
    grads = [_grad(n, p, with_params) for p in (weight, bias)]
    scale = None if weight is None else n.contiguous(weight)
    known = (scale, n.contiguous(mean), n.contiguous(rstd))
    wanted = [g if p is not None and with_params else None for g, p in zip(grads, (weight, bias))]
    n.normalize_rows_grad(flowing, given, target, known, wanted)
    return dx, *grads


def _group_grad(
    n: Any, ct: Any, x: Any, weight: Any, bias: Any, mean: Any, rstd: Any, layout: Layout, with_params: bool
) -> Any:
    """The cotangents of a norm of groups of channels: what goes over arrays are two sums for each image and channel,
    and one expression behind them.
    """
    if x.dtype not in (np.float32, np.float64) or mean.dtype != x.dtype or not x.size:
        n.refuse(f"gradients of norms of groups of {x.dtype}{x.shape} have no native form")
    if layout.param_axes != (1,) or layout.axes != tuple(range(2, x.ndim + 1)):
        n.refuse("norms over parts of groups have no native form")
    sizes, places = layout.split(x.shape), tuple(range(3, x.ndim + 1))
    flowing, given = (n.reshape(n.contiguous(v), sizes) for v in (ct, x))
    pulled = n.new(sizes, x.dtype)
    n.compute_into([pulled], _pulled, flowing, given, mean)
    flow, pull = (n.reduce("sum", v, places, True) for v in (flowing, pulled))
    pull = n.apply(multiply_op, pull, rstd)
    scale = None if weight is None else n.reshape(n.contiguous(weight), layout.param_shape(x.shape))
    weighted = [v if scale is None else n.apply(multiply_op, v, scale) for v in (flow, pull)]
    count = n.full((), prod(sizes[2:]), x.dtype)
    means = [n.apply(divide_op, n.reduce("sum", v, (2,), True), count) for v in weighted]
    one = n.full((), 1, x.dtype) if scale is None else scale
    dx = n.new(sizes, x.dtype)
    n.compute_into([dx], _of_group, flowing, given, one, mean, rstd, *means)
    grads = []
    for param, total in ((weight, pull), (bias, flow)):
        found = None if param is None or not with_params else n.reduce("sum", total, (0,), False)
        grads.append(_grad(n, param, False) if found is None else n.copy(n.reshape(n.contiguous(found), param.shape)))
    return n.reshape(dx, x.shape), *grads


def _pulled(ct: Any, x: Any, mean: Any) -> tuple[Any]:
    return (ct * (x - mean),)


def _of_group(ct: Any, x: Any, scale: Any, mean: Any, rstd: Any, flow: Any, pull: Any) -> tuple[Any]:
    return (rstd * (ct * scale - flow - (x - mean) * rstd * pull),)


def _grad(n: Any, param: Any, is_wanted: bool) -> Any:
    """Where a parameter's cotangent goes; zeros, of no size where there is no parameter, if nobody asks for it."""
    if param is None:
        return n.new((0,), np.dtype(np.float32))
    return n.new(param.shape, param.dtype) if is_wanted else n.copy(n.full(param.shape, 0, param.dtype))


__all__ = ["batch_norm_native", "norm_grad_native"]

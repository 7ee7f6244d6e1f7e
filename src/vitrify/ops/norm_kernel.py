"""Normalization of arrays to mean 0 and variance 1 over some dimensions, and its gradient.

Both passes walk over blocks that stay in the cache: the dimensions that are kept come first, those reduced over last,
and a block is a range of one kept dimension.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.dtype import DType, float32
from ..core.meta import Shape

# Elements a block holds: float32 ones and the temporaries of a backward pass fit into a level-2 cache.
_BLOCK = 1 << 16
# The longest row summed by a matrix product.
_SHORT = 4096


class Layout(NamedTuple):
    """Which dimensions of an array are normalized over, and along which the scale and shift vary.

    With `groups`, the one dimension in `param_axes` is first split into (groups, size / groups).
    """

    axes: Shape
    param_axes: Shape
    groups: int

    def split(self, shape: Shape) -> Shape:
        """`shape` with the channels divided into groups."""
        if not self.groups:
            return shape
        at = self.param_axes[0]
        size = shape[at]
        return (*shape[:at], self.groups, size // self.groups if size >= 0 else size, *shape[at + 1 :])

    @property
    def split_params(self) -> Shape:
        """`param_axes` after the split."""
        return (self.param_axes[0], self.param_axes[0] + 1) if self.groups else self.param_axes

    def stats_shape(self, shape: Shape) -> Shape:
        """The shape of mean and rstd: 1 where reduced over."""
        return tuple(1 if i in self.axes else s for i, s in enumerate(self.split(shape)))

    def param_shape(self, shape: Shape) -> Shape:
        """The shape in which scale and shift broadcast."""
        return tuple(s if i in self.split_params else 1 for i, s in enumerate(self.split(shape)))


def stats_dtype(dtype: DType) -> DType:
    """The dtype of means and variances of `dtype`: float32 at least."""
    return dtype if dtype.itemsize > 2 else float32


def wide_float(dtype: Any) -> Any:
    """The dtype that statistics of `dtype` are computed and kept in."""
    return dtype if dtype.itemsize > 2 else np.dtype(np.float32)


class _View:
    """Arrays with the kept dimensions first and the reduced ones last, cut into blocks of rows.

    A block is [kept..., reduced...]; as rows it is [number of kept places, `count`].
    """

    def __init__(self, xp: Any, layout: Layout, shape: Shape, strides: Shape) -> None:
        self.xp = xp
        self.layout = layout
        self.shape = shape
        self.param_shape = layout.param_shape(shape)
        split = layout.split(shape)
        kept = tuple(i for i in range(len(split)) if i not in layout.axes)
        # Reduced dimensions in the order in which they lie in memory: most arrays then need no copy to become rows.
        self.perm = (*kept, *sorted(layout.axes, key=lambda i: -strides[i]))
        self.ones = (1,) * len(layout.axes)
        self.sizes = tuple(split[i] for i in self.perm)
        self.rank = len(kept)
        self.count = math.prod(split[i] for i in layout.axes)
        # A weight that is constant over the reduced dimensions moves out of the sums over them.
        self.outside = not set(layout.split_params) & set(layout.axes)
        self.sum_axes = tuple(i for i, axis in enumerate(self.perm) if axis not in layout.split_params)
        self.blocks = tuple(self._blocks())

    def of(self, x: Any) -> Any:
        """x, of the whole shape or of that of the statistics, in this order of dimensions."""
        if x is None:
            return None
        return (x.reshape(self.layout.split(x.shape)) if x.ndim != len(self.perm) else x).transpose(self.perm)

    def of_param(self, param: Any, dtype: Any) -> Any:
        """A scale or shift, ready to broadcast against a block."""
        return None if param is None else param.reshape(self.param_shape).astype(dtype, copy=False).transpose(self.perm)

    def _blocks(self) -> Iterator[tuple[slice, ...]]:
        """Indices that cut the longest kept dimension into pieces of about `_BLOCK` elements."""
        size = math.prod(self.sizes)
        if size == 0:
            return
        if self.xp is not np or self.rank == 0:
            yield ()
            return
        at = max(range(self.rank), key=lambda i: int(self.sizes[i]))
        step = max(1, _BLOCK * self.sizes[at] // size)
        for start in range(0, self.sizes[at], step):
            yield (*(slice(None),) * at, slice(start, start + step))

    def rows(self, block: Any, dtype: Any) -> Any:
        """A block as contiguous rows; shares memory with it where it can."""
        return self.xp.ascontiguousarray(block, dtype=dtype).reshape(-1, self.count)

    def shaped(self, rows: Any, block: Any) -> Any:
        """Rows, or one value a row, in the shape of their block."""
        return rows.reshape(block.shape if rows.shape[1] == self.count else (*block.shape[: self.rank], *self.ones))


_cached_view = functools.lru_cache(maxsize=256)(_View)


def _view_of(xp: Any, layout: Layout, x: Any) -> _View:
    """The view of arrays that lie in memory as x does; calls with the same sizes share it."""
    return _cached_view(xp, layout, x.shape, x.reshape(layout.split(x.shape)).strides)


def _part(param: Any, index: tuple[slice, ...]) -> Any:
    """The part of a broadcasting array that meets a block."""
    return param if not index or param.shape[len(index) - 1] == 1 else param[index]


def _row_sums(xp: Any, rows: Any) -> Any:
    """[n, 1]: the sum of each row. Short rows are summed by a matrix product, four times as fast; long ones in pairs,
    which loses fewer digits.
    """
    if rows.shape[1] <= _SHORT:
        return rows @ xp.ones((rows.shape[1], 1), rows.dtype)
    return rows.sum(axis=1, keepdims=True)


def _row_dots(xp: Any, a: Any, b: Any) -> Any:
    """[n, 1]: the inner product of each row of a with that of b."""
    return xp.matmul(a[:, None, :], b[:, :, None])[:, :, 0]


def normalize(
    xp: Any, x: Any, weight: Any, bias: Any, layout: Layout, epsilon: float, centered: bool
) -> tuple[Any, Any, Any]:
    """(x - mean) * rstd * weight + bias, mean, rstd; without centering the mean is 0 and is returned as None."""
    dtype = wide_float(x.dtype)
    out = xp.empty_like(x)
    stats = layout.stats_shape(x.shape)
    mean, rstd = xp.zeros(stats, dtype) if centered else None, xp.zeros(stats, dtype)
    view = _view_of(xp, layout, x)
    source, target, means, factors = map(view.of, (x, out, mean, rstd))
    w, b = (view.of_param(p, dtype) for p in (weight, bias))
    for index in view.blocks:
        block = source[index]
        rows = view.rows(block, dtype)
        if centered:
            middle = _row_sums(xp, rows) / dtype.type(view.count)
            means[index] = view.shaped(middle, block)
            rows = rows - middle
        factor = 1 / xp.sqrt(_row_dots(xp, rows, rows) / dtype.type(view.count) + dtype.type(epsilon))
        factors[index] = view.shaped(factor, block)
        rows = xp.multiply(rows, factor, out=rows if centered else None)
        part = view.shaped(rows, block)
        if w is not None:
            part *= _part(w, index)
        if b is not None:
            part += _part(b, index)
        target[index] = part
    return out, mean, rstd


def normalize_adjoint(
    xp: Any, ct: Any, x: Any, weight: Any, mean: Any, rstd: Any, layout: Layout, with_params: bool
) -> tuple[Any, Any, Any]:
    """Cotangents of x, and where wanted of weight and bias in `layout.param_shape`, else None.

    With g = ct * weight and c = x - mean, that of x is rstd * (g - mean(g)) - c * rstd**3 * mean(g * c).
    """
    dtype = wide_float(x.dtype)
    dx = xp.empty_like(x)
    view = _view_of(xp, layout, x)
    source, flow, target, means, factors = map(view.of, (x, ct, dx, mean, rstd))
    w = view.of_param(weight, dtype)
    sums = _ParamSums(view, dtype) if with_params else None
    count = dtype.type(view.count)
    for index in view.blocks:
        block = source[index]
        c, g = view.rows(block, dtype), view.rows(flow[index], dtype)
        factor = factors[index].reshape(-1, 1)
        if means is not None:
            c = c - means[index].reshape(-1, 1)
        if not view.outside:
            if sums is not None:
                sums.add_inside(index, block, c, g, factor)
            if w is not None:
                g = (view.shaped(g, block) * _part(w, index)).reshape(g.shape)
        along, total = _row_dots(xp, g, c), _row_sums(xp, g)
        if view.outside:
            if sums is not None:
                sums.add(index, view.shaped(along * factor, block), view.shaped(total, block))
            scale = factor if w is None else (view.shaped(factor, block) * _part(w, index)).reshape(factor.shape)
        else:
            scale = factor
        part = g * scale
        c = xp.multiply(c, along * scale * factor * factor / count, out=c if means is not None else None)
        part -= c
        if means is not None:
            part -= total * scale / count
        target[index] = view.shaped(part, block)
    return (dx, None, None) if sums is None else (dx, sums.weight, sums.bias)


class _ParamSums:
    """The cotangents of scale and shift, summed up block by block."""

    def __init__(self, view: _View, dtype: Any) -> None:
        self.view = view
        self.weight = view.xp.zeros(view.param_shape, dtype)
        self.bias = view.xp.zeros(view.param_shape, dtype)
        self.totals = tuple(p.transpose(view.perm) for p in (self.weight, self.bias))

    def add(self, index: tuple[slice, ...], *values: Any) -> None:
        """Add to each total what a block, or its row sums, contribute."""
        for total, value in zip(self.totals, values):
            _part(total, index)[...] += value.sum(axis=self.view.sum_axes, keepdims=True)

    def add_inside(self, index: tuple[slice, ...], block: Any, c: Any, g: Any, factor: Any) -> None:
        """`add` of g * c * factor and g, where the parameters vary within rows: one product with the rows where they
        vary along nothing else.
        """
        product = g * c
        if self.view.sum_axes == tuple(range(self.view.rank)):
            lead = self.view.xp.ones_like(factor)
            for total, value in zip(self.totals, (factor.T @ product, lead.T @ g)):
                total += value.reshape(total.shape)
            return
        product *= factor
        self.add(index, self.view.shaped(product, block), self.view.shaped(g, block))

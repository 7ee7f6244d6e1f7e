"""The inverse of max pooling, and power-average pooling."""

from __future__ import annotations

import math
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .adaptive_pool import plane_gather_op
from .arguments import as_ints, dims, entries, rank_of
from .bins import plane_scatter
from .gather import need_integers
from .order_forms import put_along_form
from .pool import avg_pool_op, max_pool_op, window_arguments
from .power import pow
from .registry import define_op
from .sliding_window import FORMATS, Pair, per_dim


def _natural_sizes(sizes: Shape, kernel: Shape, stride: Shape, pads: tuple[Pair, ...]) -> Shape:
    """The input sizes of the pooling that left `sizes` with no remainder."""
    return tuple(
        UNKNOWN if s == UNKNOWN else (s - 1) * st - lo - hi + k
        for s, k, st, (lo, hi) in zip(sizes, kernel, stride, pads)
    )


def _kernel(
    xp: Any, x: Any, indices: Any, *, kernel: Shape, stride: Shape, padding: tuple[Pair, ...], output_size: Any
) -> Any:
    sizes = _natural_sizes(x.shape[2:], kernel, stride, padding) if output_size is None else entries(output_size)
    if indices.size and int(indices.max()) >= math.prod(sizes):
        raise IndexRangeError(
            f"max_unpool{len(kernel)}d: indices reach {int(indices.max())}, an output of {list(sizes)} ends at "
            f"{math.prod(sizes) - 1}",
            hint="pass output_size, the sizes before pooling",
        )
    return plane_scatter(xp, x, indices, (*x.shape[:2], *sizes), add=False)


def _meta(x: Meta, indices: Meta, *, kernel: Shape, stride: Shape, padding: tuple[Pair, ...], output_size: Any) -> Meta:
    op, n = f"max_unpool{len(kernel)}d", len(kernel)
    if x.ndim != n + 2 or indices.ndim != n + 2:
        raise ShapeError(f"{op}: x is {x}, indices is {indices}, expected {n + 2} dimensions each")
    need_integers(op, indices, "indices")
    if any(a != b and UNKNOWN not in (a, b) for a, b in zip(x.shape, indices.shape)):
        raise ShapeError(f"{op}: x is {x}, indices is {indices}: shapes differ")
    natural = _natural_sizes(x.shape[2:], kernel, stride, padding)
    sizes = natural if output_size is None else dims(output_size)
    for size, usual, step in zip(sizes, natural, stride):
        if UNKNOWN not in (size, usual) and not usual - step < size < usual + step:
            raise ArgumentError(f"{op}: output_size must lie within a stride of {list(natural)}, got {list(sizes)}")
    return x.with_shape((*x.shape[:2], *sizes))


def _native(
    n: Any, x: Any, indices: Any, *, kernel: Shape, stride: Shape, padding: tuple[Pair, ...], output_size: Any
) -> Any:
    sizes = _natural_sizes(x.shape[2:], kernel, stride, padding) if output_size is None else entries(output_size)
    planes = math.prod(x.shape[:2])
    rows = [n.reshape(n.contiguous(v), (planes, math.prod(v.shape[2:]))) for v in (x, indices)]
    empty = n.full((planes, math.prod(sizes)), 0, x.dtype)
    out = put_along_form(n, empty, rows[1], rows[0], axis=1, reduce="assign", include_self=True, broadcast=False)
    return n.reshape(out, (*x.shape[:2], *sizes))


max_unpool_op = define_op(
    "max_unpool",
    kernel=_kernel,
    meta=_meta,
    vjp={"x": lambda ct, *, indices: plane_gather_op(ct, indices)},
    dynamic=("output_size",),
    maps={"onnx": "MaxUnpool", "paddle": "unpool"},
    native=_native,
)


def _unpool(
    n: int, x: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, data_format: str, output_size: Any
) -> Any:
    op = f"max_unpool{n}d"
    if data_format != FORMATS[n][0]:
        raise ArgumentError(f"{op}: data_format must be {FORMATS[n][0]}, got {data_format!r}")
    kernel = per_dim(op, kernel_size, n, "kernel_size")
    sizes = None if output_size is None else as_ints(op, output_size, "output_size")
    if isinstance(sizes, tuple):
        sizes = sizes[-n:]
    return max_unpool_op(
        x,
        indices,
        kernel=kernel,
        stride=kernel if stride is None else per_dim(op, stride, n, "stride"),
        padding=tuple((p, p) for p in per_dim(op, padding, n, "padding", least=0)),
        output_size=sizes,
    )


def max_unpool1d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, data_format: str = "NCL",
    output_size: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The inverse of `max_pool1d`; see `max_unpool2d`. Source: paddle.nn.functional.max_unpool1d.

    Example:
        >>> import vitrify as paddle
        >>> out, mask = paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool1d(out, mask, 2).tolist()
        [[[0.0, 3.0, 2.0, 0.0]]]
    """
    return _unpool(1, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool2d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, data_format: str = "NCHW",
    output_size: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """x put at the positions `indices` that `max_pool2d` returned, zeros elsewhere.

    x, indices: [n, c, h, w] -> [n, c, *output_size]; by default the sizes that pooling without remainder had. Raises
    IndexRangeError when an index lies outside, ArgumentError when output_size is a stride or more from the default.
    Source: paddle.nn.functional.max_unpool2d.

    Example:
        >>> import vitrify as paddle
        >>> out, mask = paddle.nn.functional.max_pool2d(paddle.to_tensor([[[[1.0, 2], [4, 3]]]]), 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool2d(out, mask, 2).tolist()
        [[[[0.0, 0.0], [4.0, 0.0]]]]
    """
    return _unpool(2, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool3d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, data_format: str = "NCDHW",
    output_size: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The inverse of `max_pool3d`; see `max_unpool2d`. Source: paddle.nn.functional.max_unpool3d.

    Example:
        >>> import vitrify as paddle
        >>> out, mask = paddle.nn.functional.max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool3d(out, mask, 2).shape
        paddle.Size([1, 1, 2, 2, 2])
    """
    return _unpool(3, x, indices, kernel_size, stride, padding, data_format, output_size)


# --- power average ---------------------------------------------------------------------------------------------------


def _power_pool(
    n: int, x: Any, norm_type: float, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> Any:
    attrs = window_arguments(f"lp_pool{n}d", n, kernel_size, stride, padding, ceil_mode, data_format)
    if norm_type == 0:
        raise ArgumentError(f"lp_pool{n}d: norm_type must not be 0")
    if math.isinf(norm_type):
        return max_pool_op(x, **attrs)
    power, whole = float(norm_type), _whole_windows(x, n, attrs)
    return pow(avg_pool_op(pow(x, power), exclusive=False, divisor=1.0, **whole), 1.0 / power)


def _whole_windows(x: Any, n: int, attrs: dict[str, Any]) -> dict[str, Any]:
    """The same windows with padding behind x where the last ones reach beyond it: a mean would count those for more."""
    rank_of(f"lp_pool{n}d", x)
    padding = attrs["padding"]
    if isinstance(padding, str):
        return attrs
    sizes = x.shape[1:-1] if attrs["channel_last"] else x.shape[2:]
    pads = []
    for size, kernel, stride, (low, high) in zip(sizes, attrs["kernel"], attrs["stride"], padding):
        missing = 0 if size == UNKNOWN else max(kernel - (size + low + high), 0)
        pads.append((low, high + max(missing, stride - 1 if attrs["ceil_mode"] else 0)))
    return {**attrs, "padding": tuple(pads), "ceil_mode": False}


@aliased(x="input")
def lp_pool1d(
    x: Any, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    data_format: str = "NCL", name: str | None = None,
) -> Any:  # fmt: skip
    """(sum of x ** p) ** (1 / p) over each window of x [n, c, l]; see `lp_pool2d`.

    Source: paddle.nn.functional.lp_pool1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.lp_pool1d(paddle.to_tensor([[[3.0, 4.0]]]), 2, 2).tolist()
        [[[5.0]]]
    """
    return _power_pool(1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


@aliased(x="input")
def lp_pool2d(
    x: Any, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """(sum of x ** p) ** (1 / p) over each window of x [n, c, h, w], p being norm_type; the maximum for infinity.

    Source: paddle.nn.functional.lp_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.lp_pool2d(paddle.ones([1, 1, 2, 2]), 2, 2).item()
        2.0
    """
    return _power_pool(2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


__all__ = ["lp_pool1d", "lp_pool2d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]

"""Max, average and power-average pooling over 1, 2 and 3 spatial dimensions."""

from __future__ import annotations

from typing import Any

from ..core.dtype import int32
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .arguments import is_tensor
from .batch_last_pool import max_pool_grad_in_place, max_pool_in_place
from .pool_kernel import (
    average,
    average_adjoint,
    combine,
    lowest,
    max_adjoint,
    max_gather,
    max_positions,
    windows_of,
)
from .registry import define_op
from .sliding_window import (
    is_channel_last,
    need_rank,
    per_dim,
    pool_counts,
    spatial_of,
    window_padding,
    with_spatial,
)
from .window_forms import (
    avg_pool_form,
    avg_pool_grad_native,
    avg_pool_native,
    max_pool_form,
    max_pool_with_index_form,
)


def pooled(kind: str, x: Meta, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool) -> Meta:
    """The meta of x with each window reduced to one element; raises ShapeError when the window is far too large."""
    n = len(kernel)
    op = f"{kind}_pool{n}d"
    need_rank(op, x, n)
    counts = pool_counts(spatial_of(x.shape, channel_last), kernel, stride, padding, ceil_mode)
    if any(count < 0 and count != UNKNOWN for count in counts):
        raise ShapeError(f"{op}: the window {list(kernel)} is larger than the padded x {x}")
    return x.with_shape(with_spatial(x.shape[0], x.shape[-1 if channel_last else 1], counts, channel_last))


# --- maximum ---------------------------------------------------------------------------------------------------------


def _max_kernel(
    xp: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    return combine(
        xp, x, windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last), xp.maximum, lowest(x.dtype)
    )


def _max_meta(x: Meta, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool) -> Meta:
    return pooled("max", x, kernel, stride, padding, ceil_mode, channel_last)


def _max_x(
    ct: Any, *, x: Any, out: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, channel_last: Any
) -> Any:
    return max_pool_grad_op(
        ct, x, out, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, channel_last=channel_last
    )


max_pool_op = define_op(
    "max_pool",
    kernel=_max_kernel,
    meta=_max_meta,
    vjp={"x": _max_x},
    maps={"onnx": "MaxPool", "paddle": "pool2d"},
    native=max_pool_in_place,
    native_alone=True,
    ahead=max_pool_form,
)


def _max_grad_kernel(
    xp: Any, ct: Any, x: Any, out: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool,
    channel_last: bool,
) -> Any:  # fmt: skip
    return max_adjoint(xp, ct, x, out, windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last))


def _max_grad_ct(
    g: Any, *, x: Any, out: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, channel_last: Any
) -> Any:
    return max_pool_gather_op(
        g, x, out, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, channel_last=channel_last
    )


max_pool_grad_op = define_op(
    "max_pool_grad",
    kernel=_max_grad_kernel,
    meta=lambda ct, x, out, **window: x.with_dtype(ct.dtype),
    vjp={"ct": _max_grad_ct},
    native=max_pool_grad_in_place,
    native_alone=True,
)


def _max_gather_kernel(
    xp: Any, g: Any, x: Any, out: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool,
    channel_last: bool,
) -> Any:  # fmt: skip
    return max_gather(xp, g, x, out, windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last))


max_pool_gather_op = define_op(
    "max_pool_gather",
    kernel=_max_gather_kernel,
    meta=lambda g, x, out, **window: out.with_dtype(g.dtype),
    vjp={"g": _max_x},
)


def _max_index_kernel(
    xp: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    out = combine(xp, x, w, xp.maximum, lowest(x.dtype))
    return out, max_positions(xp, x, out, w)


def _max_index_meta(
    x: Meta, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> tuple[Meta, Meta]:
    out = pooled("max", x, kernel, stride, padding, ceil_mode, channel_last)
    return out, out.with_dtype(int32)


def _max_index_x(
    cts: Any, *, x: Any, out: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, channel_last: Any
) -> Any:
    return _max_x(
        cts[0], x=x, out=out, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode,
        channel_last=channel_last,
    )  # fmt: skip


max_pool_with_index_op = define_op(
    "max_pool_with_index",
    kernel=_max_index_kernel,
    meta=_max_index_meta,
    vjp={"x": _max_index_x},
    outputs=("out", "mask"),
    maps={"paddle": "max_pool2d_with_index"},
    ahead=max_pool_with_index_form,
)


# --- average ---------------------------------------------------------------------------------------------------------


def _avg_kernel(
    xp: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Any:  # fmt: skip
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    return average(xp, x, w, exclusive, divisor)


def _avg_meta(
    x: Meta, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool, exclusive: bool,
    divisor: float | None,
) -> Meta:  # fmt: skip
    return pooled("avg", x, kernel, stride, padding, ceil_mode, channel_last)


def _avg_x(
    ct: Any, *, x_like: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, channel_last: Any, exclusive: Any,
    divisor: Any,
) -> Any:  # fmt: skip
    return avg_pool_grad_op(
        ct, x_like, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, channel_last=channel_last,
        exclusive=exclusive, divisor=divisor,
    )  # fmt: skip


avg_pool_op = define_op(
    "avg_pool",
    kernel=_avg_kernel,
    meta=_avg_meta,
    vjp={"x": _avg_x},
    maps={"onnx": "AveragePool", "paddle": "pool2d"},
    native=avg_pool_native,
    ahead=avg_pool_form,
)


def _avg_grad_kernel(
    xp: Any, ct: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Any:  # fmt: skip
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    return average_adjoint(xp, ct, w, exclusive, divisor)


def _avg_grad_ct(
    g: Any, *, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, channel_last: Any, exclusive: Any, divisor: Any
) -> Any:
    return avg_pool_op(
        g, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, channel_last=channel_last,
        exclusive=exclusive, divisor=divisor,
    )  # fmt: skip


avg_pool_grad_op = define_op(
    "avg_pool_grad",
    kernel=_avg_grad_kernel,
    meta=lambda ct, x, **window: x.with_dtype(ct.dtype),
    vjp={"ct": _avg_grad_ct},
    shape_only=["x"],
    native=avg_pool_grad_native,
)


# --- public ----------------------------------------------------------------------------------------------------------


def window_arguments(
    op: str, n: int, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> dict[str, Any]:
    """The attributes of a pooling call from the user's arguments; raises ArgumentError on values out of range."""
    channel_last = is_channel_last(op, data_format, n)
    if isinstance(padding, str) and padding.upper() == "VALID" and ceil_mode:
        raise ArgumentError(f"{op}: padding 'VALID' and ceil_mode=True exclude each other")
    kernel = per_dim(op, kernel_size, n, "kernel_size")
    return {
        "kernel": kernel,
        "stride": kernel if stride is None else per_dim(op, stride, n, "stride"),
        "padding": window_padding(op, padding, n, channel_last),
        "ceil_mode": bool(ceil_mode),
        "channel_last": channel_last,
    }


def _max(
    n: int, x: Any, kernel_size: Any, stride: Any, padding: Any, return_mask: bool, ceil_mode: bool, data_format: str
) -> Any:
    attrs = window_arguments(f"max_pool{n}d", n, kernel_size, stride, padding, ceil_mode, data_format)
    if not return_mask:
        return max_pool_op(x, **attrs)
    if attrs["channel_last"]:
        raise ArgumentError(f"max_pool{n}d: return_mask=True needs channels first, got data_format={data_format!r}")
    return tuple(max_pool_with_index_op(x, **attrs))


def max_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False, ceil_mode: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The maximum of each window of x [n, c, l]; see `max_pool2d`. Source: paddle.nn.functional.max_pool1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    return _max(1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


def max_pool2d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False, ceil_mode: bool = False,
    data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The maximum of each window of x, and with return_mask the int32 positions of the maxima in each image.

    x: [n, c, h, w] (or [n, h, w, c]) floating -> [n, c, oh, ow]. stride is kernel_size by default; ceil_mode lets the
    last window reach outside. The gradient goes to the first maximum of a window. A window that is larger than the
    padded x sees what there is; larger by more than the stride it raises ShapeError. Raises ArgumentError on values out
    of range. Source: paddle.nn.functional.max_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> out, mask = paddle.nn.functional.max_pool2d(paddle.to_tensor([[[[1.0, 2], [4, 3]]]]), 2, return_mask=True)
        >>> out.item(), mask.item()
        (4.0, 2)
    """
    return _max(2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def max_pool3d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False, ceil_mode: bool = False,
    data_format: str = "NCDHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The maximum of each window of x [n, c, d, h, w]; see `max_pool2d`. Source: paddle.nn.functional.max_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).shape
        paddle.Size([1, 1, 1, 1, 1])
    """
    return _max(3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def _avg(
    n: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool, divisor: Any,
    data_format: str,
) -> Any:  # fmt: skip
    op = f"avg_pool{n}d"
    attrs = window_arguments(op, n, kernel_size, stride, padding, ceil_mode, data_format)
    if divisor is not None and (is_tensor(divisor) or divisor == 0):
        raise ArgumentError(f"{op}: divisor_override must be a number other than 0, got {divisor}")
    return avg_pool_op(x, exclusive=bool(exclusive), divisor=None if divisor is None else float(divisor), **attrs)


def avg_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, exclusive: bool = True, ceil_mode: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of x [n, c, l]; see `avg_pool2d`. Source: paddle.nn.functional.avg_pool1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    return _avg(1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


def avg_pool2d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, exclusive: bool = True,
    divisor_override: float | None = None, data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of x, over the elements inside x (exclusive) or the padding too.

    divisor_override takes the place of the number of elements in a whole window; of a window that reaches beyond x it
    means as much more or less, as in Paddle.
    x: [n, c, h, w] (or [n, h, w, c]) floating -> [n, c, oh, ow]; other arguments as in `max_pool2d`.
    Source: paddle.nn.functional.avg_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.avg_pool2d(paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 2).item()
        2.5
    """
    return _avg(2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


def avg_pool3d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, exclusive: bool = True,
    divisor_override: float | None = None, data_format: str = "NCDHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of x [n, c, d, h, w]; see `avg_pool2d`. Source: paddle.nn.functional.avg_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.avg_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).item()
        1.0
    """
    return _avg(3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"]

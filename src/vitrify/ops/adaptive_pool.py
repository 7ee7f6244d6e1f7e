"""Pooling to a given output size: the input is divided into as many bins as the output has elements."""

from __future__ import annotations

from typing import Any

from ..core import philox
from ..core.alias import aliased
from ..core.dtype import int32
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, Meta, Shape, known_dim
from ..core.rng import Generator
from .arguments import as_int, is_tensor
from .bins import Bins, bin_maxima, bin_means, even_bins, fractional_bins, plane_gather, plane_scatter, spread_means
from .pool_kernel import average, average_adjoint, windows_of, windows_of_bins
from .registry import OpDef, define_op
from .sliding_window import is_channel_last, need_rank, per_dim, spatial_of, with_spatial
from .window_forms import adaptive_avg_pool_form, adaptive_avg_pool_grad_form

Sizes = tuple[Any, ...]


def _targets(sizes: Shape, output_size: Sizes) -> Shape:
    """The output sizes: None keeps the input's; -1 for what is unknown."""
    return tuple(s if o is None else known_dim(o) for s, o in zip(sizes, output_size))


def _meta(op: str, x: Meta, output_size: Sizes, channel_last: bool) -> Meta:
    n = len(output_size)
    need_rank(f"{op}{n}d", x, n)
    sizes = spatial_of(x.shape, channel_last)
    targets = _targets(sizes, output_size)
    return x.with_shape(with_spatial(x.shape[0], x.shape[-1 if channel_last else 1], targets, channel_last))


def _bins(sizes: Shape, output_size: Sizes) -> list[Bins]:
    """The ranges of each dimension. Those of a dimension of size 0 are empty: their mean and maximum are NaN."""
    if any(o is not None and int(o) < 0 for o in output_size):  # numbers of the run
        raise ArgumentError(f"adaptive pooling: output_size must not be negative, got {list(output_size)}")
    return [even_bins(s, s if o is None else int(o)) for s, o in zip(sizes, output_size)]


# --- average ---------------------------------------------------------------------------------------------------------


def _avg_kernel(xp: Any, x: Any, *, output_size: Sizes, channel_last: bool) -> Any:
    bins = _bins(spatial_of(x.shape, channel_last), output_size)
    windows = windows_of_bins(x.shape, tuple(map(len, bins)), channel_last)
    if windows is not None:
        return average(xp, x, windows_of(x.shape, **windows), True, None)
    return bin_means(xp, x, bins, 1 if channel_last else 2)


def _avg_grad_kernel(xp: Any, ct: Any, x: Any, *, channel_last: bool) -> Any:
    sizes = spatial_of(x.shape, channel_last)
    windows = windows_of_bins(x.shape, spatial_of(ct.shape, channel_last), channel_last)
    if windows is not None:
        return average_adjoint(xp, ct, windows_of(x.shape, **windows), True, None)
    return spread_means(xp, ct, _bins(sizes, spatial_of(ct.shape, channel_last)), sizes, 1 if channel_last else 2)


adaptive_avg_pool_op: OpDef = define_op(
    "adaptive_avg_pool",
    kernel=_avg_kernel,
    meta=lambda x, *, output_size, channel_last: _meta("adaptive_avg_pool", x, output_size, channel_last),
    vjp={"x": lambda ct, *, x_like, channel_last: adaptive_avg_pool_grad_op(ct, x_like, channel_last=channel_last)},
    dynamic=("output_size",),
    native=adaptive_avg_pool_form,
)


def _avg_like_kernel(xp: Any, x: Any, y: Any, *, channel_last: bool) -> Any:
    return _avg_kernel(xp, x, output_size=spatial_of(y.shape, channel_last), channel_last=channel_last)


adaptive_avg_pool_grad_op: OpDef = define_op(
    "adaptive_avg_pool_grad",
    kernel=_avg_grad_kernel,
    meta=lambda ct, x, *, channel_last: x.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, ct_like, channel_last: adaptive_avg_pool_like_op(g, ct_like, channel_last=channel_last)},
    shape_only=["x"],
    native=adaptive_avg_pool_grad_form,
)
adaptive_avg_pool_like_op: OpDef = define_op(
    "adaptive_avg_pool_like",
    kernel=_avg_like_kernel,
    meta=lambda x, y, *, channel_last: y.with_dtype(x.dtype),
    vjp={"x": lambda ct, *, x_like, channel_last: adaptive_avg_pool_grad_op(ct, x_like, channel_last=channel_last)},
    shape_only=["y"],
)

# --- positions within planes -----------------------------------------------------------------------------------------

plane_scatter_op: OpDef = define_op(
    "plane_scatter",
    kernel=lambda xp, ct, index, x: plane_scatter(xp, ct, index, x.shape, add=True),
    meta=lambda ct, index, x: x.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, index: plane_gather_op(g, index)},
    shape_only=["x"],
)
plane_gather_op: OpDef = define_op(
    "plane_gather",
    kernel=lambda xp, g, index: plane_gather(xp, g, index),
    meta=lambda g, index: g.with_shape(index.shape),
    vjp={"g": lambda ct, *, g_like, index: plane_scatter_op(ct, index, g_like)},
)

# --- maximum ---------------------------------------------------------------------------------------------------------


def _max_meta(x: Meta, *, output_size: Sizes) -> tuple[Meta, Meta]:
    out = _meta("adaptive_max_pool", x, output_size, False)
    return out, out.with_dtype(int32)


adaptive_max_pool_op = define_op(
    "adaptive_max_pool",
    kernel=lambda xp, x, *, output_size: bin_maxima(xp, x, _bins(x.shape[2:], output_size)),
    meta=_max_meta,
    vjp={"x": lambda cts, *, mask, x_like: plane_scatter_op(cts[0], mask, x_like)},
    outputs=("out", "mask"),
    dynamic=("output_size",),
)


def _fractional_kernel(
    xp: Any, x: Any, *, key: Generator, output_size: Sizes, kernel: Shape, random_u: float | None
) -> Any:
    u = random_u
    if u is None:
        u = (float(philox.uniform(xp, key.advance(1), (1,))[0]) + 1e-6) / (1 + 2e-6)  # strictly inside (0, 1)
    sizes = x.shape[2:]
    counts = [s if o is None else int(o) for s, o in zip(sizes, output_size)]
    return bin_maxima(xp, x, [fractional_bins(s, c, k, u) for s, c, k in zip(sizes, counts, kernel)])


def _fractional_meta(x: Meta, *, output_size: Sizes, kernel: Shape, random_u: float | None) -> tuple[Meta, Meta]:
    out = _meta("fractional_max_pool", x, output_size, False)
    for size, target, k in zip(x.shape[2:], out.shape[2:], kernel):
        if UNKNOWN not in (size, target) and target + max(k, 1) - 1 > size:
            raise ArgumentError(
                f"fractional_max_pool{len(kernel)}d: {target} windows of {max(k, 1)} do not fit into "
                f"size {size} of x {x}"
            )
    return out, out.with_dtype(int32)


fractional_max_pool_op = define_op(
    "fractional_max_pool",
    kernel=_fractional_kernel,
    meta=_fractional_meta,
    vjp={"x": lambda cts, *, mask, x_like: plane_scatter_op(cts[0], mask, x_like)},
    outputs=("out", "mask"),
    dynamic=("output_size",),
    random=True,
)

# --- public ----------------------------------------------------------------------------------------------------------


def _output_size(op: str, value: Any, n: int) -> Sizes:
    """n entries, each an int, a tensor or None, from one of them or a list."""
    given = list(value) if isinstance(value, (list, tuple)) or (is_tensor(value) and value.ndim) else [value] * n
    if len(given) == 1:
        given *= n
    if len(given) != n:
        raise ArgumentError(f"{op}: output_size must be an int or {n} ints, got {value}")
    sizes = tuple(None if v is None else as_int(op, v, "output_size") for v in given)
    if any(isinstance(v, int) and v < 0 for v in sizes):
        raise ArgumentError(f"{op}: output_size must not be negative, got {value}")
    return sizes


def _average(n: int, x: Any, output_size: Any, data_format: str) -> Any:
    op = f"adaptive_avg_pool{n}d"
    last = is_channel_last(op, data_format, n)
    return adaptive_avg_pool_op(x, output_size=_output_size(op, output_size, n), channel_last=last)


@aliased(x="input")
def adaptive_avg_pool1d(x: Any, output_size: int, name: str | None = None) -> Any:
    """The means of output_size bins of x [n, c, l]. Source: paddle.nn.functional.adaptive_avg_pool1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    return _average(1, x, output_size, "NCL")


@aliased(x="input")
def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The mean of each of output_size bins that divide the image; None keeps the input's size.

    x: [n, c, h, w] (or [n, h, w, c]) floating -> [n, c, *output_size]. Bin i of a dimension is
    [floor(i * size / out), ceil((i + 1) * size / out)). Source: paddle.nn.functional.adaptive_avg_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_avg_pool2d(paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 1).item()
        2.5
    """
    return _average(2, x, output_size, data_format)


@aliased(x="input")
def adaptive_avg_pool3d(x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """The means of bins of x [n, c, d, h, w]; see `adaptive_avg_pool2d`.

    Source: paddle.nn.functional.adaptive_avg_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_avg_pool3d(paddle.ones([1, 1, 2, 4, 4]), [1, 2, None]).shape
        paddle.Size([1, 1, 1, 2, 4])
    """
    return _average(3, x, output_size, data_format)


def _maximum(n: int, x: Any, output_size: Any, return_mask: bool) -> Any:
    out, mask = adaptive_max_pool_op(x, output_size=_output_size(f"adaptive_max_pool{n}d", output_size, n))
    return (out, mask) if return_mask else out


@aliased(x="input", return_mask="return_indices")
def adaptive_max_pool1d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The maxima of output_size bins of x [n, c, l]; see `adaptive_max_pool2d`.

    Source: paddle.nn.functional.adaptive_max_pool1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    return _maximum(1, x, output_size, return_mask)


@aliased(x="input", return_mask="return_indices")
def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The maximum of each of output_size bins that divide the image, and with return_mask their int32 positions.

    x: [n, c, h, w] floating -> [n, c, *output_size]; bins as in `adaptive_avg_pool2d`.
    Source: paddle.nn.functional.adaptive_max_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_max_pool2d(paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]]), 1).item()
        4.0
    """
    return _maximum(2, x, output_size, return_mask)


@aliased(x="input", return_mask="return_indices")
def adaptive_max_pool3d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The maxima of bins of x [n, c, d, h, w]; see `adaptive_max_pool2d`.

    Source: paddle.nn.functional.adaptive_max_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.adaptive_max_pool3d(paddle.ones([1, 1, 2, 4, 4]), 2).shape
        paddle.Size([1, 1, 2, 2, 2])
    """
    return _maximum(3, x, output_size, return_mask)


def _fractional(n: int, x: Any, output_size: Any, kernel_size: Any, random_u: float | None, return_mask: bool) -> Any:
    op = f"fractional_max_pool{n}d"
    if random_u is not None and not 0 < random_u < 1:
        raise ArgumentError(f"{op}: random_u must lie in (0, 1), got {random_u}")
    kernel = (0,) * n if kernel_size is None else per_dim(op, kernel_size, n, "kernel_size")
    out, mask = fractional_max_pool_op(
        x, output_size=_output_size(op, output_size, n), kernel=kernel, random_u=random_u
    )
    return (out, mask) if return_mask else out


def fractional_max_pool2d(
    x: Any, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The maxima of pseudo-random bins of x [n, c, h, w], disjoint or of kernel_size; random_u in (0, 1) chooses them.

    Source: paddle.nn.functional.fractional_max_pool2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.fractional_max_pool2d(paddle.ones([1, 1, 7, 7]), 3, random_u=0.3).shape
        paddle.Size([1, 1, 3, 3])
    """
    return _fractional(2, x, output_size, kernel_size, random_u, return_mask)


def fractional_max_pool3d(
    x: Any, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The maxima of pseudo-random bins of x [n, c, d, h, w]; see `fractional_max_pool2d`.

    Source: paddle.nn.functional.fractional_max_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.fractional_max_pool3d(paddle.ones([1, 1, 7, 7, 7]), 3, random_u=0.3).shape
        paddle.Size([1, 1, 3, 3, 3])
    """
    return _fractional(3, x, output_size, kernel_size, random_u, return_mask)


__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]

"""Resizing of sequences, images and volumes: each spatial dimension is a weighted sum of a few neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import float64, int64
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Ref, Shape, known_dim
from .adaptive_pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .arguments import as_ints, entries, is_tensor, is_unknown, rank_of
from .like import cast
from .moving_forms import resized
from .open_forms import resized_open
from .registry import OpDef, define_op
from .sizes import size_of

_CUBIC = -0.75  # Keys' coefficient, as in Paddle, PyTorch and OpenCV
_SMOOTH = -0.5  # and in Pillow

Taps = tuple[Any, Any]  # for each output element: which inputs, and their weights; [out, taps] each


@dataclass(frozen=True)
class _Axis:
    """One dimension from `size` to `out` elements. scale: the factor asked for, 0 if sizes were given.

    planar: whether it is one of two dimensions.
    """

    size: int
    out: int
    scale: float
    align_corners: bool
    align_mode: int
    planar: bool = False

    def ratio(self) -> float:
        """Input elements to an output element. One output element of an image stands for the first input element."""
        if self.out <= 1 and (self.planar or self.align_corners):
            return 0.0
        if self.align_corners:
            return (self.size - 1) / (self.out - 1)
        return 1.0 / self.scale if self.scale else self.size / self.out

    def centres(self) -> Any:
        """Where the output elements lie among the input elements: half a pixel apart, or corner to corner."""
        at = np.arange(self.out, dtype=np.float64)
        if self.align_corners or self.align_mode == 1:
            return at * self.ratio()
        return (at + 0.5) * self.ratio() - 0.5


def _nearest(axis: _Axis) -> Taps:
    index = np.floor(np.arange(axis.out) * axis.ratio()).astype(np.int64)
    return np.minimum(index, axis.size - 1)[:, None], np.ones((axis.out, 1))


def _linear(axis: _Axis) -> Taps:
    at = np.maximum(axis.centres(), 0.0)
    first = np.minimum(at.astype(np.int64), axis.size - 1)
    share = at - first
    index = np.stack([first, np.minimum(first + 1, axis.size - 1)], axis=1)
    return index, np.stack([1.0 - share, share], axis=1)


def _cubic(axis: _Axis) -> Taps:
    at = axis.centres() if axis.align_corners else (np.arange(axis.out) + 0.5) * axis.ratio() - 0.5
    first = np.floor(at)
    share = at - first
    near = [share, 1.0 - share]
    far = [share + 1.0, 2.0 - share]
    inner = [((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1 for d in near]
    outer = [((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC for d in far]
    index = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    return np.clip(index, 0, axis.size - 1), np.stack([outer[0], inner[0], inner[1], outer[1]], axis=1)


def _triangle(d: Any) -> Any:
    """The linear filter at the distances d."""
    return np.maximum(1.0 - d, 0.0)


def _smooth(d: Any) -> Any:
    """Keys' cubic filter at the distances d, with the coefficient that Pillow has."""
    near = ((_SMOOTH + 2) * d - (_SMOOTH + 3)) * d * d + 1
    far = (((d - 5) * d + 8) * d - 4) * _SMOOTH
    return np.where(d < 1, near, np.where(d < 2, far, 0.0))


def _antialiased(axis: _Axis, reach: float, weigh: Callable[[Any], Any]) -> Taps:
    """The filter `weigh`, of `reach` elements to each side, stretched over the elements that one output stands for."""
    ratio = axis.ratio()
    stretch = max(ratio, 1.0)
    middle = (np.arange(axis.out) + 0.5) * ratio
    low = np.maximum((middle - reach * stretch + 0.5).astype(np.int64), 0)
    high = np.minimum((middle + reach * stretch + 0.5).astype(np.int64), axis.size)
    index = low[:, None] + np.arange(max(1, int((high - low).max(initial=1))))
    weights = weigh(np.abs(index - middle[:, None] + 0.5) / stretch) * (index < high[:, None])
    return np.minimum(index, axis.size - 1), weights / weights.sum(axis=1, keepdims=True)


_TAPS: dict[str, Callable[[_Axis], Taps]] = {
    "nearest": _nearest,
    "linear": _linear,
    "cubic": _cubic,
    "antialiased linear": lambda axis: _antialiased(axis, 1.0, _triangle),
    "antialiased cubic": lambda axis: _antialiased(axis, 2.0, _smooth),
}


def _taps(axes: Sequence[_Axis], kind: str) -> list[Taps]:
    return [_TAPS[kind](axis) for axis in axes]


def _axes_of(
    shape: Sequence[int], first: int, sizes: Any, scales: Sequence[float], align_corners: bool, align_mode: int
) -> list[_Axis]:
    """How each dimension is resized. As in Paddle a factor that leaves all sizes alone changes nothing."""
    given = tuple(shape[first : first + len(scales)])
    outs = _out_sizes(given, sizes, scales)
    if outs == given:
        scales = [1.0] * len(scales)
    planar = len(scales) == 2
    return [_Axis(size, out, s, align_corners, align_mode, planar) for size, out, s in zip(given, outs, scales)]


def _out_sizes(given: Sequence[int], sizes: Any, scales: Sequence[float]) -> Shape:
    if sizes is not None:
        return tuple(known_dim(s) for s in entries(sizes))
    return tuple(UNKNOWN if size == UNKNOWN or isinstance(s, Ref) else int(size * s) for size, s in zip(given, scales))


def _wide(dtype: Any) -> Any:
    """The dtype in which weighted sums are computed."""
    return dtype if dtype.kind == "f" and dtype.itemsize >= 4 else np.dtype(np.float32)


def _along(ndim: int, axis: int) -> Callable[[Any], Any]:
    """A 1-D array of weights as one that broadcasts along `axis`."""
    return lambda w: w.reshape([-1 if d == axis else 1 for d in range(ndim)])


def _resized(xp: Any, x: Any, axes: Sequence[_Axis], first: int, kind: str) -> Any:
    out = x
    for d, (index, weights) in enumerate(_taps(axes, kind), start=first):
        if kind == "nearest":
            out = xp.take(out, xp.asarray(index[:, 0]), axis=d)
            continue
        out = out.astype(_wide(x.dtype), copy=False)
        spread = _along(out.ndim, d)
        columns = zip(xp.asarray(index).T, xp.asarray(weights, out.dtype).T)
        out = sum(xp.take(out, i, axis=d) * spread(w) for i, w in columns)
    return out.astype(x.dtype, copy=False)


def _resize_kernel(
    xp: Any, x: Any, *, first: int, sizes: Any, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Any:
    if any(out < 1 for out in _out_sizes(x.shape[first : first + len(scales)], sizes, scales)):  # numbers of the run
        raise ShapeError(f"interpolate: the new sizes of x {list(x.shape)} must be at least 1")
    return _resized(xp, x, _axes_of(x.shape, first, sizes, scales, align_corners, align_mode), first, kind)


def _like_kernel(
    xp: Any, x: Any, like: Any, *, first: int, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Any:
    sizes = like.shape[first : first + len(scales)]
    return _resized(xp, x, _axes_of(x.shape, first, sizes, scales, align_corners, align_mode), first, kind)


def _adjoint_kernel(
    xp: Any, x: Any, like: Any, *, first: int, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Any:
    axes = _axes_of(like.shape, first, x.shape[first : first + len(scales)], scales, align_corners, align_mode)
    out = x.astype(_wide(x.dtype), copy=False)
    for d, (axis, (index, weights)) in enumerate(zip(axes, _taps(axes, kind)), start=first):
        matrix = np.zeros((axis.size, axis.out))
        np.add.at(matrix, (index, np.arange(axis.out)[:, None]), weights)
        out = xp.moveaxis(xp.tensordot(xp.asarray(matrix, out.dtype), out, axes=(1, d)), 0, d)
    return xp.ascontiguousarray(out).astype(x.dtype, copy=False)


def _resize_meta(x: Meta, *, first: int, sizes: Any, scales: Any, **attrs: Any) -> Meta:
    outs = _out_sizes(x.shape[first : first + len(scales)], sizes, scales)
    if any(out != UNKNOWN and out < 1 for out in outs):
        raise ShapeError(f"interpolate: x is {x}, its new sizes {list(outs)} must be at least 1")
    return x.with_shape((*x.shape[:first], *outs, *x.shape[first + len(scales) :]))


def _by_adjoint(
    ct: Any, *, x_like: Any, first: int, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Any:
    """The derivative of resizing, to the sizes of its input or to those of another tensor."""
    return resize_adjoint_op(
        ct, x_like, first=first, scales=scales, kind=kind, align_corners=align_corners, align_mode=align_mode
    )


def _resize_form(
    n: Any, x: Any, *, first: int, sizes: Any, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Any:
    axes = _axes_of(x.shape, first, sizes, scales, align_corners, align_mode)
    if n.has_open_places:
        n.note(int(all(axis.size == axis.out for axis in axes)))  # a factor of such sizes says nothing
        return resized_open(n, x, axes, first, kind)
    taps = _taps(axes, kind)
    return resized(n, x, taps, first, kind == "nearest")


resize_op: OpDef = define_op(
    "resize",
    kernel=_resize_kernel,
    meta=_resize_meta,
    vjp={"x": _by_adjoint},
    dynamic=("scales", "sizes"),
    fractions=("scales",),
    maps={"onnx": "Resize"},
    amp="deny",
    native=_resize_form,
)
resize_like_op: OpDef = define_op(
    "resize_like",
    kernel=_like_kernel,
    meta=lambda x, like, **attrs: x.with_shape(like.shape),
    vjp={"x": _by_adjoint},
    dynamic=("scales",),
    fractions=("scales",),
    shape_only=["like"],
)
resize_adjoint_op: OpDef = define_op(
    "resize_adjoint",
    kernel=_adjoint_kernel,
    meta=lambda x, like, **attrs: x.with_shape(like.shape),
    vjp={
        "x": lambda ct, *, x_like, first, scales, kind, align_corners, align_mode: resize_like_op(
            ct, x_like, first=first, scales=scales, kind=kind, align_corners=align_corners, align_mode=align_mode
        )
    },
    dynamic=("scales",),
    fractions=("scales",),
    shape_only=["like"],
)

# mode -> (which numbers of dimensions, how each dimension is resized)
_MODES: dict[str, tuple[tuple[int, ...], str]] = {
    "nearest": ((4, 5), "nearest"),
    "linear": ((3,), "linear"),
    "bilinear": ((4,), "linear"),
    "trilinear": ((5,), "linear"),
    "bicubic": ((4,), "cubic"),
    "area": ((3, 4, 5), "area"),
}
_AREA: dict[int, Callable[..., Any]] = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_FORMATS = {3: ("NCW", "NWC", "NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


@aliased(x="input")
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """x with its spatial dimensions resized to `size`, or by `scale_factor`.

    x: [N, C, *sizes], or [N, *sizes, C] with a data_format such as "NHWC". size: one for each dimension, or an int for
    all. mode: "nearest" or "area" for any number of dimensions, "linear" for one, "bilinear" and "bicubic" for two,
    "trilinear" for three. align_corners: the first and the last elements of input and output coincide; otherwise
    align_mode 0 compares the middles of elements and 1 their edges. recompute_scale_factor: use the factor that the
    rounded sizes have. antialias: let each element of a smaller image take all elements that it stands for, with modes
    "bilinear" and "bicubic". Factors that leave all sizes as they are change nothing. Raises ArgumentError, ShapeError.
    Source: paddle.nn.functional.interpolate.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.interpolate(paddle.ones([2, 3, 6, 10]), scale_factor=2, mode="bilinear").shape
        paddle.Size([2, 3, 12, 20])
    """
    mode = mode.lower()
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError(f"interpolate: antialias=True goes with modes 'bilinear' and 'bicubic', got {mode!r}")
    spatial = rank_of("interpolate", x) - 2
    _check_mode(x, mode, align_corners, align_mode)
    first = 1 if _is_channel_last(data_format, x.ndim) else 2
    sizes, scales = _target(x, size, scale_factor, spatial)
    kind = f"antialiased {_MODES[mode][1]}" if antialias else _MODES[mode][1]
    if kind == "area":
        return _area(x, sizes, scales, first)
    if sizes is None and recompute_scale_factor:
        sizes, scales = _area_sizes(x, scales, first), (0.0,) * spatial
    return resize_op(
        x, first=first, sizes=sizes, scales=scales, kind=kind, align_corners=align_corners, align_mode=align_mode
    )


def _check_mode(x: Any, mode: str, align_corners: bool, align_mode: int) -> None:
    if mode not in _MODES:
        raise ArgumentError(f"interpolate: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    if x.ndim not in _MODES[mode][0]:
        wanted = " or ".join(f"{n}-D" for n in _MODES[mode][0])
        raise ShapeError(f"interpolate: mode {mode!r} needs a {wanted} tensor, x has shape {list(x.shape)}")
    if align_corners and _MODES[mode][1] == "nearest":
        raise ArgumentError(f"interpolate: align_corners means nothing in mode {mode!r}")
    if align_mode not in (0, 1):
        raise ArgumentError(f"interpolate: align_mode must be 0 or 1, got {align_mode!r}")


def _is_channel_last(data_format: str | None, ndim: int) -> bool:
    if data_format is None:
        return False
    if data_format not in _FORMATS[ndim]:
        raise ArgumentError(f"interpolate: data_format must be one of {', '.join(_FORMATS[ndim])}, got {data_format!r}")
    return data_format[-1] == "C"


def _target(x: Any, size: Any, scale_factor: Any, spatial: int) -> tuple[Any, tuple[float, ...]]:
    """The sizes asked for or None, and a scale for each dimension, 0 where sizes are given."""
    if (size is None) == (scale_factor is None):
        raise ArgumentError("interpolate: needs either size or scale_factor, and not both")
    if size is not None:
        sizes = as_ints("interpolate", [size] * spatial if isinstance(size, int) else size, "size")
        count = sizes.shape[0] if is_tensor(sizes) and sizes.ndim else len(entries(sizes))
        if count != spatial:
            raise ArgumentError(f"interpolate: size needs {spatial} values for x of shape {list(x.shape)}, got {size}")
        return sizes, (0.0,) * spatial
    return None, _scales(scale_factor, spatial)


def _scales(scale_factor: Any, spatial: int) -> tuple[float, ...]:
    if is_unknown(scale_factor):
        given = [scale_factor[i] for i in range(scale_factor.shape[0])] if scale_factor.ndim else scale_factor
    else:
        given = scale_factor.tolist() if hasattr(scale_factor, "tolist") else scale_factor
    listed = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    try:
        scales = tuple(s if is_unknown(s) else float(s) for s in listed)
    except TypeError as err:
        raise DTypeError(f"interpolate: scale_factor must be numbers, got {scale_factor!r}") from err
    if len(scales) != spatial:
        raise ArgumentError(f"interpolate: scale_factor needs 1 or {spatial} values, got {listed}")
    if not all(is_unknown(s) or (math.isfinite(s) and s > 0) for s in scales):
        raise ArgumentError(f"interpolate: scale_factor must be positive, got {listed}")
    return scales


def _area_sizes(x: Any, scales: Sequence[Any], first: int) -> tuple[Any, ...]:
    """The sizes times the scales, rounded down: ints, and 0-D tensors where only the run knows them."""
    return tuple(_scaled(size_of(x, first + i), scale) for i, scale in enumerate(scales))


def _scaled(size: Any, scale: Any) -> Any:
    if not is_tensor(size) and not is_unknown(scale):
        return int(size * scale)
    size, scale = (cast(v, float64) if is_tensor(v) else v for v in (size, scale))
    return cast(size * scale, int64)


def _area(x: Any, sizes: Any, scales: Sequence[float], first: int) -> Any:
    """Means over equal areas."""
    if first == 1:
        order = [0, x.ndim - 1, *range(1, x.ndim - 1)]
        out = _area(x.transpose(order), sizes, scales, 2)
        return out.transpose([0, *range(2, x.ndim), 1])
    target = list(sizes if sizes is not None else _area_sizes(x, scales, first))
    return _AREA[x.ndim](x, target[0] if x.ndim == 3 else target)


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """`interpolate` under its older name. Source: paddle.nn.functional.upsample.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.upsample(paddle.ones([1, 1, 2, 2]), scale_factor=3).shape
        paddle.Size([1, 1, 6, 6])
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


__all__ = ["interpolate", "upsample"]

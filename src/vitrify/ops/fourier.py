"""Discrete Fourier transforms as ops: of complex numbers, of real numbers to half a spectrum, and back from that.

Each transform is linear, and its adjoint is the transform in the other direction with the scale on the other side.
"""

from __future__ import annotations

from typing import Any

from ..core.dtype import complex64, complex128, float64
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .complex_ import part_meta, real
from .registry import OpDef, define_op

# The scale of the adjoint, which stands before the sum in the other direction.
ADJOINT_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _complex_meta(x: Meta) -> Meta:
    return x.with_dtype(complex128 if x.dtype in (float64, complex128) else complex64)


# -- sizes -----------------------------------------------------------------------------------------------------------


def _resized(xp: Any, x: Any, axes: Shape, sizes: Shape) -> Any:
    shape = list(x.shape)
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    out = xp.zeros(shape, x.dtype)
    common = tuple(slice(min(a, b)) for a, b in zip(x.shape, shape))
    out[common] = x[common]
    return out


def _resize_meta(x: Meta, *, axes: Shape, sizes: Shape) -> Meta:
    return x.with_shape([sizes[axes.index(i)] if i in axes else size for i, size in enumerate(x.shape)])


resize_axes_op: OpDef = define_op(
    "resize_axes",
    kernel=lambda xp, x, *, axes, sizes: _resized(xp, x, axes, sizes),
    meta=_resize_meta,
    vjp={"x": lambda ct, *, x_like, axes: resize_axes_like_op(ct, x_like, axes=axes)},
)
resize_axes_like_op: OpDef = define_op(
    "resize_axes_like",
    kernel=lambda xp, x, like, *, axes: _resized(xp, x, axes, tuple(like.shape[a] for a in axes)),
    meta=lambda x, like, *, axes: _resize_meta(x, axes=axes, sizes=tuple(like.shape[a] for a in axes)),
    vjp={"x": lambda ct, *, x_like, axes: resize_axes_like_op(ct, x_like, axes=axes)},
    shape_only=["like"],
)

# -- complex to complex ----------------------------------------------------------------------------------------------


def _c2c_kernel(xp: Any, x: Any, *, axes: Shape, norm: str, forward: bool) -> Any:
    kind = "complex128" if x.dtype.itemsize == 8 * (1 + (x.dtype.kind == "c")) else "complex64"
    if x.size == 0:
        return xp.zeros(x.shape, kind)
    transform = xp.fft.fftn if forward else xp.fft.ifftn
    return transform(x, axes=axes, norm=norm).astype(kind, copy=False)


def _c2c_meta(x: Meta, *, axes: Shape, norm: str, forward: bool) -> Meta:
    return _complex_meta(x)


def _c2c_vjp(ct: Any, *, x_like: Any, axes: Shape, norm: str, forward: bool) -> Any:
    found = fft_c2c_op(ct, axes=axes, norm=ADJOINT_NORM[norm], forward=not forward)
    return found if x_like.dtype.is_complex else real(found)


fft_c2c_op: OpDef = define_op(
    "fft_c2c",
    kernel=_c2c_kernel,
    meta=_c2c_meta,
    vjp={"x": _c2c_vjp},
    amp="deny",
    maps={"paddle": "fft_c2c"},
)

# -- real to half a spectrum -----------------------------------------------------------------------------------------


def _r2c_meta(x: Meta, *, axes: Shape, norm: str, forward: bool) -> Meta:
    if x.dtype.is_complex:
        raise DTypeError(f"rfft: x is {x}, expected real numbers")
    last = x.shape[axes[-1]]
    half = UNKNOWN if last == UNKNOWN else last // 2 + 1
    return _complex_meta(_resize_meta(x, axes=axes[-1:], sizes=(half,)))


def _r2c_kernel(xp: Any, x: Any, *, axes: Shape, norm: str, forward: bool) -> Any:
    kind = "complex128" if x.dtype.itemsize == 8 else "complex64"
    if x.size == 0:
        shape = list(x.shape)
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        return xp.zeros(shape, kind)
    found = xp.fft.rfftn(x, axes=axes, norm=norm if forward else ADJOINT_NORM[norm])
    return (found if forward else xp.conj(found)).astype(kind, copy=False)


def _r2c_vjp(ct: Any, *, x_like: Any, axes: Shape, norm: str, forward: bool) -> Any:
    whole = resize_axes_like_op(ct, x_like, axes=axes[-1:])
    return real(fft_c2c_op(whole, axes=axes, norm=ADJOINT_NORM[norm], forward=not forward))


fft_r2c_op: OpDef = define_op(
    "fft_r2c",
    kernel=_r2c_kernel,
    meta=_r2c_meta,
    vjp={"x": _r2c_vjp},
    amp="deny",
    maps={"paddle": "fft_r2c"},
)

# -- half a spectrum to real -----------------------------------------------------------------------------------------


def _weigh_kernel(xp: Any, x: Any, *, axis: int, odd: bool) -> Any:
    """Twice what stands for two frequencies: all but the first and, for an even number of them, the last."""
    out = x * 2
    lead = (slice(None),) * axis
    for at in (slice(1),) if odd else (slice(1), slice(-1, None)):
        out[(*lead, at)] = x[(*lead, at)]
    return out


half_weight_op: OpDef = define_op(
    "half_spectrum_weight",
    kernel=_weigh_kernel,
    meta=lambda x, *, axis, odd: x,
    vjp={"x": lambda ct, *, axis, odd: half_weight_op(ct, axis=axis, odd=odd)},
)


def _c2r_meta(x: Meta, *, axes: Shape, norm: str, forward: bool, odd: bool) -> Meta:
    half = x.shape[axes[-1]]
    size = UNKNOWN if half == UNKNOWN else 2 * (half - 1) + odd
    if size != UNKNOWN and size < 1:
        raise ShapeError(f"irfft: x is {x}, with {half} frequencies in dimension {axes[-1]} no number remains")
    return part_meta(_resize_meta(x, axes=axes[-1:], sizes=(size,)))


def _c2r_kernel(xp: Any, x: Any, *, axes: Shape, norm: str, forward: bool, odd: bool) -> Any:
    kind = "float64" if x.dtype.itemsize == 16 else "float32"
    sizes = [x.shape[a] for a in axes[:-1]] + [2 * (x.shape[axes[-1]] - 1) + odd]
    if x.size == 0:
        return _resized(xp, x.real, axes, tuple(sizes))
    spectrum, scale = (xp.conj(x), ADJOINT_NORM[norm]) if forward else (x, norm)
    return xp.fft.irfftn(spectrum, s=sizes, axes=axes, norm=scale).astype(kind, copy=False)


def _c2r_vjp(ct: Any, *, axes: Shape, norm: str, forward: bool, odd: bool) -> Any:
    half = fft_r2c_op(ct, axes=axes, norm=ADJOINT_NORM[norm], forward=not forward)
    return half_weight_op(half, axis=axes[-1], odd=odd)


fft_c2r_op: OpDef = define_op(
    "fft_c2r",
    kernel=_c2r_kernel,
    meta=_c2r_meta,
    vjp={"x": _c2r_vjp},
    amp="deny",
    maps={"paddle": "fft_c2r"},
)

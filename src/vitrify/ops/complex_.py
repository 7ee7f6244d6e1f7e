"""Absolute value, and complex numbers: their parts, angles and making them."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, complex64, complex128, float32, float64
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import finish, rank_of
from .compare import not_equal
from .define import only, unary
from .elementwise import conj as conj_of
from .elementwise import conj_op
from .like import cast, zeros_like
from .meta_rules import elementwise, numeric, real_floating
from .registry import define_elementwise, define_op
from .scalar import scalars_for
from .select import kept
from .trig import cos, sin
from .unary import sign, square

_PART = {complex64: float32, complex128: float64}
_WHOLE = {float32: complex64, float64: complex128}


def is_complex_dtype(dtype: DType) -> bool:
    """Complex numbers."""
    return dtype.is_complex


def part_meta(x: Meta) -> Meta:
    """x's shape, and the dtype of one part of a complex number; any other dtype as it is."""
    return x.with_dtype(_PART.get(x.dtype, x.dtype))


# -- absolute value and direction ------------------------------------------------------------------------------------

abs = unary(
    "abs",
    scalar="abs",
    vjp={"x": lambda ct, *, x: _abs_vjp(ct, x)},
    doc="The absolute value of x",
    example=("[2.0, -3.0]", "[2.0, 3.0]"),
    accepts=numeric,
    meta=part_meta,
    onnx="Abs",
)
sgn: Any = unary(
    "sgn",
    scalar="sign",
    vjp={"x": lambda ct, *, x, out: _sgn_vjp(ct, x, out)},
    doc="x divided by its absolute value, 0 for 0; for real numbers the sign",
    example=("[2.0, 0.0, -3.0]", "[1.0, 0.0, -1.0]"),
    out=False,
)


def _abs_vjp(ct: Any, x: Any) -> Any:
    """ct in the direction of x: nothing at 0, whatever ct is, as behind it a root has no finite slope there."""
    return ct * sgn(x) if x.dtype.is_complex else kept(not_equal(x, 0), ct * sign(x))


def _sgn_vjp(ct: Any, x: Any, out: Any) -> Any:
    """Only the part of ct across the direction of x turns it; signs of real numbers are constant."""
    if not x.dtype.is_complex:
        return zeros_like(x)
    along = out * cast(real(conj_of(out) * ct), x.dtype)
    return kept(x != 0, (ct - along) / cast(abs(x), x.dtype))


# -- parts -----------------------------------------------------------------------------------------------------------


def _part(name: str, vjp: Any) -> Any:
    return define_elementwise(name, scalar=name, meta=part_meta, vjp={"x": vjp}, maps={"paddle": name})


_real_op = _part("real", lambda ct, *, x_like: cast(ct, x_like.dtype))
_imag_op = _part("imag", lambda ct, *, x_like: cast(ct, x_like.dtype) * 1j)


def real(x: Any, name: str | None = None) -> Any:
    """The real part of complex x; a tensor of real numbers as it is. Source: paddle.real.

    Example:
        >>> import vitrify as paddle
        >>> paddle.real(paddle.to_tensor([1 + 2j])).tolist()
        [1.0]
    """
    rank_of("real", x)
    return _real_op(x) if x.dtype.is_complex else x


def imag(x: Any, name: str | None = None) -> Any:
    """The imaginary part of complex x. Raises DTypeError for real x. Source: paddle.imag.

    Example:
        >>> import vitrify as paddle
        >>> paddle.imag(paddle.to_tensor([1 + 2j])).tolist()
        [2.0]
    """
    return _imag_op(only("imag", is_complex_dtype)(x))


def conj(x: Any, name: str | None = None) -> Any:
    """x with the imaginary part negated; real x is copied. Source: paddle.conj.

    Example:
        >>> import vitrify as paddle
        >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
        [(1-2j)]
    """
    return conj_op(x)


angle = unary(
    "angle",
    scalar="angle",
    vjp={"x": lambda ct, *, x: _angle_vjp(ct, x)},
    doc="The angle of complex x in the plane; 0 or π for real numbers",
    example=("[1.0]", "[0.0]"),
    meta=part_meta,
    out=False,
)


def _angle_vjp(ct: Any, x: Any) -> Any:
    if not x.dtype.is_complex:
        return zeros_like(x)
    length = square(real(x)) + square(imag(x))
    turned = complex(-imag(x), real(x))
    return kept(length != 0, cast(ct, x.dtype) * turned / cast(length, x.dtype))


# -- complex numbers from two reals ----------------------------------------------------------------------------------


def _complex_meta(real: Meta, imag: Meta) -> Meta:
    found = elementwise("complex", ("real", "imag"), real_floating)(real, imag)
    return found.with_dtype(_WHOLE.get(found.dtype, complex64))


_complex_op = define_elementwise(
    "complex",
    scalar=lambda s, real, imag: s.pair(real, imag),
    meta=_complex_meta,
    vjp={"real": lambda ct: real(ct), "imag": lambda ct: imag(ct)},
    maps={"paddle": "complex"},
)


def complex(real: Any, imag: Any, name: str | None = None, *, out: Any = None) -> Any:
    """The complex numbers with these real and imaginary parts, with broadcasting.

    real, imag: float32 or float64 -> complex64 or complex128. Source: paddle.complex.

    Example:
        >>> import vitrify as paddle
        >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [(1+2j)]
    """
    return finish("complex", _complex_op(real, imag), out)


def polar(abs: Any, angle: Any, name: str | None = None, *, out: Any = None) -> Any:
    """The complex numbers with these absolute values and angles. Source: paddle.polar.

    Example:
        >>> import vitrify as paddle
        >>> paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).tolist()
        [(2+0j)]
    """
    return finish("polar", _complex_op(abs * cos(angle), abs * sin(angle)), out)


def _as_complex_meta(x: Meta) -> Meta:
    if x.dtype not in _WHOLE:
        raise DTypeError(f"as_complex: x is {x}, expected float32 or float64")
    if not x.shape or x.shape[-1] not in (2, UNKNOWN):
        raise ShapeError(f"as_complex: the last dimension must have size 2, got x {x}")
    return Meta(x.shape[:-1], _WHOLE[x.dtype])


def _as_real_meta(x: Meta) -> Meta:
    if not x.dtype.is_complex:
        raise DTypeError(f"as_real: x is {x}, expected complex numbers")
    return Meta((*x.shape, 2), _PART[x.dtype])


_as_complex_op = define_op(
    "as_complex",
    kernel=lambda xp, x: scalars_for(xp).pair(x[..., 0], x[..., 1]),
    meta=_as_complex_meta,
    vjp={"x": lambda ct: as_real(ct)},
    maps={"paddle": "as_complex"},
)
_as_real_op = define_op(
    "as_real",
    kernel=lambda xp, x: xp.stack([x.real, x.imag], axis=-1),
    meta=_as_real_meta,
    vjp={"x": lambda ct: as_complex(ct)},
    maps={"paddle": "as_real"},
)


def as_complex(x: Any, name: str | None = None) -> Any:
    """The pairs along x's last dimension as complex numbers: [*s, 2] -> [*s]. Source: paddle.as_complex.

    Example:
        >>> import vitrify as paddle
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    return _as_complex_op(x)


def as_real(x: Any, name: str | None = None) -> Any:
    """Complex x as pairs of real numbers: [*s] -> [*s, 2]. Source: paddle.as_real.

    Example:
        >>> import vitrify as paddle
        >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    return _as_real_op(x)


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (abs, sgn, real, imag, conj, angle, as_complex, as_real, polar)
} | {"__abs__": abs}  # fmt: skip
INPLACE = ("abs",)
__all__ = ["abs", "angle", "as_complex", "as_real", "complex", "conj", "imag", "polar", "real", "sgn"]

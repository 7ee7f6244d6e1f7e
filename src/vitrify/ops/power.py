"""Functions of two tensors beyond arithmetic: powers, angles, lengths, interpolation, integer divisors."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32, float64
from ..core.errors import ArgumentError, DTypeError
from .arguments import finish, is_python_number, is_tensor, rank_of
from .compare import equal, greater_equal, logical_and
from .define import binary, only
from .elementwise import conj
from .like import cast, zeros_like
from .meta_rules import elementwise, numeric, real_floating, real_number, same_as, whole
from .registry import NoGradient, define_elementwise, define_op
from .select import kept, where_op
from .unary import exp, log, sign, square

# -- powers ----------------------------------------------------------------------------------------------------------


def _base_vjp(ct: Any, x: Any, y: Any) -> Any:
    """y * x^(y-1), which is 0 for y = 0 also where x is 0."""
    if not is_tensor(y):
        return ct * conj(x ** (y - 1) * y) if y != 0 else zeros_like(ct)
    none = equal(y, 0)
    lower = where_op(none, 0, y - 1) if y.dtype.is_integer else y - 1  # integers have no negative powers
    return ct * conj(where_op(none, 0, y * x**lower))


def _exponent_vjp(ct: Any, x: Any, y: Any, out: Any) -> Any:
    """x^y * log(x), which is 0 where x is 0 and y is not negative."""
    if not is_tensor(x):
        return ct * conj(cast(out * _log_of_number(x), ct.dtype))
    at_zero = equal(x, 0) if y.dtype.is_complex else logical_and(equal(x, 0), greater_equal(y, 0))
    rate = log(x)  # of integers a float
    return ct * conj(cast(where_op(at_zero, 0, cast(out, rate.dtype) * rate), ct.dtype))


def _log_of_number(x: Any) -> Any:
    if isinstance(x, complex):
        return cmath.log(x)
    return math.log(x) if x > 0 else 0.0 if x == 0 else math.nan


pow_op = define_elementwise(
    "pow",
    amp="wide",
    scalar="pow",
    meta=elementwise("pow", ("x", "y"), numeric),
    vjp={"x": lambda ct, *, x, y: _base_vjp(ct, x, y), "y": lambda ct, *, x, y, out: _exponent_vjp(ct, x, y, out)},
    maps={"onnx": "Pow", "paddle": "elementwise_pow"},
)


@aliased(x="input", y="exponent")
def pow(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """x to the power of y, elementwise with broadcasting; either may be a Python number.

    Raises ArgumentError for integers to a negative integer power. Source: paddle.pow.

    Example:
        >>> import vitrify as paddle
        >>> paddle.pow(paddle.to_tensor([1.0, 2.0, 3.0]), 2).tolist()
        [1.0, 4.0, 9.0]
    """
    return finish("pow", _power(x, y), out)


def _power(x: Any, y: Any) -> Any:
    if isinstance(y, int) and y < 0 and is_tensor(x) and x.dtype.is_integer:
        if is_python_number(x):
            return pow_op(x, float(y))  # as Python does
        raise ArgumentError(
            f"pow: {x.dtype.name} to the power of {y} is no integer", hint=f"use a float exponent: x ** {y}.0"
        )
    if y.__class__ in (int, float) and y == 2 and is_tensor(x) and x.dtype.is_inexact:
        return square(x)
    return pow_op(x, y)


# -- angles and lengths ----------------------------------------------------------------------------------------------


def _by_length(ct: Any, part: Any, x: Any, y: Any) -> Any:
    """ct * part / (x² + y²), and 0 at the origin, where the angle has no derivative."""
    length = square(x) + square(y)
    return kept(length != 0, ct * part / length)


_atan2 = binary(
    "atan2",
    scalar="atan2",
    weak_0d=False,
    vjp={"x": lambda ct, *, x, y: _by_length(ct, y, x, y), "y": lambda ct, *, x, y: -_by_length(ct, x, x, y)},
    doc="The angle of the point (y, x): that in (-π, π] whose tangent is x / y",
    example=("[0.0]", "[1.0]", "[0.0]"),
    accepts=real_floating,
)


def atan2(x: Any, y: Any, name: str | None = None) -> Any:
    """The angle in (-π, π] of the point with height x and width y, elementwise with broadcasting.

    Integers give float64. Source: paddle.atan2.

    Example:
        >>> import vitrify as paddle
        >>> paddle.atan2(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).tolist()
        [0.0]
    """
    return _atan2(*[cast(v, float64) if is_tensor(v) and not v.dtype.is_floating else v for v in (x, y)])


hypot = binary(
    "hypot",
    scalar="hypot",
    vjp={
        "x": lambda ct, *, x, out: kept(out != 0, ct * x / out),
        "y": lambda ct, *, y, out: kept(out != 0, ct * y / out),
    },
    doc="The length of the vector (x, y), without overflow",
    example=("[3.0]", "[4.0]", "[5.0]"),
    accepts=real_floating,
    to_float=True,
)
logaddexp = binary(
    "logaddexp",
    scalar="logaddexp",
    weak_0d=False,
    vjp={"x": lambda ct, *, x, out: ct * _weight(x, out), "y": lambda ct, *, y, out: ct * _weight(y, out)},
    doc="log(exp(x) + exp(y)) without overflow",
    example=("[0.0]", "[-1000.0]", "[0.0]"),
    accepts=real_floating,
    to_float=True,
)


def _weight(x: Any, out: Any) -> Any:
    """exp(x - out), x's share of the sum; 1 where x is all of it, so that infinities give no NaN."""
    return where_op(equal(x, out), 1, exp(x - out))


# -- parts of numbers ------------------------------------------------------------------------------------------------

copysign = binary(
    "copysign",
    scalar=lambda s, x, y: s.where(s.signbit(x) == s.signbit(y), x, -x),
    vjp={
        "x": lambda ct, *, x, out: kept(out != 0, ct * sign(x) * sign(out)),
        "y": lambda ct: zeros_like(ct),
    },
    doc="x with the sign of y",
    example=("[1.0, -2.0]", "[-1.0, 1.0]", "[-1.0, 2.0]"),
    accepts=real_number,
)
nextafter = binary(
    "nextafter",
    scalar="nextafter",
    weak_0d=False,
    vjp=NoGradient("the result is one representable number away"),
    doc="The number after x on the way to y",
    example=("[1.0]", "[1.0]", "[1.0]"),
    accepts=real_floating,
)
heaviside = binary(
    "heaviside",
    scalar=lambda s, x, y: s.where(x > 0, 1, s.where(x < 0, 0, s.where(x == 0, y, x))),
    vjp={"x": lambda ct: zeros_like(ct), "y": lambda ct, *, x: kept(equal(x, 0), ct)},
    doc="0 where x is negative, 1 where it is positive, y where it is zero",
    example=("[-1.0, 0.0, 2.0]", "[0.5, 0.5, 0.5]", "[0.0, 0.5, 1.0]"),
    accepts=numeric,
    paddle="elementwise_heaviside",
)
gcd = binary(
    "gcd",
    scalar="gcd",
    vjp=NoGradient("integers"),
    doc="The greatest common divisor of x and y",
    example=("[12]", "[20]", "[4]"),
    accepts=whole,
)
lcm = binary(
    "lcm",
    scalar="lcm",
    vjp=NoGradient("integers"),
    doc="The least common multiple of x and y",
    example=("[12]", "[20]", "[60]"),
    accepts=whole,
)


def ldexp(x: Any, y: Any, name: str | None = None) -> Any:
    """x * 2 ** y, elementwise with broadcasting; everything but float64 gives float32. Source: paddle.ldexp.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, 3])).tolist()
        [4.0, 24.0]
    """
    if not is_tensor(y):
        raise DTypeError(f"ldexp: y must be a tensor, got {type(y).__name__}")
    rank_of("ldexp", x)
    wanted = float64 if float64 in (x.dtype, y.dtype) else float32
    return cast(x, wanted) * pow_op(2.0, cast(y, wanted))


def _frexp_kernel(xp: Any, x: Any) -> tuple[Any, Any]:
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(x.dtype)


_frexp_op = define_op(
    "frexp",
    kernel=_frexp_kernel,
    meta=lambda x: (same_as("frexp", accepts=real_floating)(x), x),
    vjp={"x": lambda cts, *, exponent: cts[0] * pow_op(2.0, -exponent)},
    outputs=("mantissa", "exponent"),
)


def frexp(x: Any, name: str | None = None) -> tuple[Any, Any]:
    """(mantissa, exponent) with x = mantissa * 2 ** exponent and the mantissa in ±[0.5, 1), both of x's dtype.

    Source: paddle.frexp.

    Example:
        >>> import vitrify as paddle
        >>> [t.tolist() for t in paddle.frexp(paddle.to_tensor([1.0, -3.5]))]
        [[0.5, -0.875], [1.0, 2.0]]
    """
    mantissa, exponent = _frexp_op(x)
    return mantissa, exponent


# -- interpolation ---------------------------------------------------------------------------------------------------

_lerp_op = define_elementwise(
    "lerp",
    scalar=lambda s, x, y, weight: x + weight * (y - x),
    meta=elementwise("lerp", ("x", "y", "weight"), real_floating),
    vjp={
        "x": lambda ct, *, weight: ct * (1 - weight),
        "y": lambda ct, *, weight: ct * weight,
    },
    maps={"paddle": "lerp"},
)


def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> Any:
    """x + weight * (y - x), elementwise with broadcasting; weight: a number or a tensor.

    The weight gets no gradient. Source: paddle.lerp.

    Example:
        >>> import vitrify as paddle
        >>> paddle.lerp(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 6.0]), 0.5).tolist()
        [2.0, 4.0]
    """
    check = only("lerp", real_floating)
    return _lerp_op(check(x), check(y), weight)


METHODS: dict[str, Any] = {
    fn.__name__: fn
    for fn in (pow, frexp, atan2, hypot, logaddexp, copysign, nextafter, heaviside, gcd, lcm, ldexp, lerp)
} | {"__pow__": _power, "__rpow__": lambda x, y: pow_op(y, x)}  # fmt: skip
INPLACE = ("pow", "hypot", "copysign", "gcd", "lcm", "ldexp", "lerp")
__all__ = [
    "atan2",
    "copysign",
    "frexp",
    "gcd",
    "heaviside",
    "hypot",
    "lcm",
    "ldexp",
    "lerp",
    "logaddexp",
    "nextafter",
    "pow",
]

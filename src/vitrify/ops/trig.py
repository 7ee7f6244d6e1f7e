"""Trigonometric and hyperbolic functions, elementwise."""

from __future__ import annotations

import math
from typing import Any

from .define import unary
from .elementwise import conj, scale
from .unary import rsqrt, square

sin = unary(
    "sin",
    scalar="sin",
    vjp={"x": lambda ct, *, x: ct * conj(cos(x))},
    doc="The sine of x (radians)",
    example=("[0.0]", "[0.0]"),
    onnx="Sin",
)
cos: Any = unary(
    "cos",
    scalar="cos",
    vjp={"x": lambda ct, *, x: -(ct * conj(sin(x)))},
    doc="The cosine of x (radians)",
    example=("[0.0]", "[1.0]"),
    onnx="Cos",
)
tan = unary(
    "tan",
    amp="wide",
    scalar="tan",
    vjp={"x": lambda ct, *, out: ct * conj(square(out) + 1)},
    doc="The tangent of x (radians)",
    example=("[0.0]", "[0.0]"),
    onnx="Tan",
)
asin = unary(
    "asin",
    amp="wide",
    scalar="asin",
    vjp={"x": lambda ct, *, x: ct * conj(rsqrt(1 - square(x)))},
    doc="The angle in [-π/2, π/2] whose sine is x",
    example=("[0.0]", "[0.0]"),
    onnx="Asin",
)
acos = unary(
    "acos",
    amp="wide",
    scalar="acos",
    vjp={"x": lambda ct, *, x: -(ct * conj(rsqrt(1 - square(x))))},
    doc="The angle in [0, π] whose cosine is x",
    example=("[1.0]", "[0.0]"),
    onnx="Acos",
)
atan = unary(
    "atan",
    scalar="atan",
    vjp={"x": lambda ct, *, x: ct / conj(square(x) + 1)},
    doc="The angle in (-π/2, π/2) whose tangent is x",
    example=("[0.0]", "[0.0]"),
    out=False,
    onnx="Atan",
)
sinh = unary(
    "sinh",
    amp="wide",
    scalar="sinh",
    vjp={"x": lambda ct, *, x: ct * conj(cosh(x))},
    doc="The hyperbolic sine of x",
    example=("[0.0]", "[0.0]"),
    onnx="Sinh",
)
cosh: Any = unary(
    "cosh",
    amp="wide",
    scalar="cosh",
    vjp={"x": lambda ct, *, x: ct * conj(sinh(x))},
    doc="The hyperbolic cosine of x",
    example=("[0.0]", "[1.0]"),
    onnx="Cosh",
)
tanh = unary(
    "tanh",
    scalar="tanh",
    vjp={"x": lambda ct, *, out: ct * conj(1 - square(out))},
    doc="The hyperbolic tangent of x",
    example=("[0.0]", "[0.0]"),
    onnx="Tanh",
)
asinh = unary(
    "asinh",
    scalar="asinh",
    vjp={"x": lambda ct, *, x: ct * conj(rsqrt(square(x) + 1))},
    doc="The number whose hyperbolic sine is x",
    example=("[0.0]", "[0.0]"),
    onnx="Asinh",
)


def _acosh_vjp(ct: Any, *, x: Any) -> Any:
    """ct / sqrt(x² - 1), whose complex branch is that of the two factors."""
    return ct * (conj(rsqrt(x - 1) * rsqrt(x + 1)) if x.dtype.is_complex else rsqrt((x - 1) * (x + 1)))


acosh = unary(
    "acosh",
    scalar="acosh",
    vjp={"x": _acosh_vjp},
    doc="The number >= 0 whose hyperbolic cosine is x",
    example=("[1.0]", "[0.0]"),
    onnx="Acosh",
)
atanh = unary(
    "atanh",
    amp="wide",
    scalar="atanh",
    vjp={"x": lambda ct, *, x: ct / conj(1 - square(x))},
    doc="The number whose hyperbolic tangent is x",
    example=("[0.0]", "[0.0]"),
    onnx="Atanh",
)
deg2rad = unary(
    "deg2rad",
    scalar=lambda s, x: x * (math.pi / 180),
    vjp={"x": lambda ct: scale(ct, math.pi / 180)},
    doc="The angle x in radians, given in degrees",
    example=("[0.0]", "[0.0]"),
    out=False,
)
rad2deg = unary(
    "rad2deg",
    scalar=lambda s, x: x * (180 / math.pi),
    vjp={"x": lambda ct: scale(ct, 180 / math.pi)},
    doc="The angle x in degrees, given in radians",
    example=("[0.0]", "[0.0]"),
    out=False,
)

METHODS: dict[str, Any] = {
    fn.__name__: fn
    for fn in (
        sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, deg2rad, rad2deg,
    )
} | {
    "arcsin": asin, "arccos": acos, "arctan": atan, "arcsinh": asinh, "arccosh": acosh, "arctanh": atanh,
}  # fmt: skip
INPLACE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "rad2deg",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

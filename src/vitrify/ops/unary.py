"""Functions of one tensor, elementwise: powers, exponentials and logarithms, rounding, signs, special functions."""

from __future__ import annotations

import math
from typing import Any

from ..core.alias import aliased
from .arguments import finish, rank_of
from .creation import clone
from .define import unary
from .elementwise import STEPS, conj
from .meta_rules import floating, numeric, real_number, same_as
from .registry import define_elementwise

# -- exponentials and logarithms -------------------------------------------------------------------------------------

exp = unary(
    "exp",
    amp="wide",
    scalar="exp",
    vjp={"x": lambda ct, *, out: ct * conj(out)},
    doc="e to the power of x",
    example=("[0.0]", "[1.0]"),
    onnx="Exp",
)
expm1 = unary(
    "expm1",
    amp="wide",
    scalar="expm1",
    vjp={"x": lambda ct, *, out: ct * conj(out + 1)},
    doc="e to the power of x, minus 1, exact for small x",
    example=("[0.0]", "[0.0]"),
)
log = unary(
    "log",
    amp="wide",
    scalar="log",
    vjp={"x": lambda ct, *, x: ct / conj(x)},
    doc="The natural logarithm of x",
    example=("[1.0]", "[0.0]"),
    onnx="Log",
)
log2 = unary(
    "log2",
    amp="wide",
    scalar="log2",
    vjp={"x": lambda ct, *, x: ct / (conj(x) * math.log(2))},
    doc="The logarithm of x to base 2",
    example=("[8.0]", "[3.0]"),
)
log10 = unary(
    "log10",
    amp="wide",
    scalar="log10",
    vjp={"x": lambda ct, *, x: ct / (conj(x) * math.log(10))},
    doc="The logarithm of x to base 10",
    example=("[1.0]", "[0.0]"),
)
log1p = unary(
    "log1p",
    amp="wide",
    scalar="log1p",
    vjp={"x": lambda ct, *, x: ct / conj(x + 1)},
    doc="The natural logarithm of 1 + x, exact for small x",
    example=("[0.0]", "[0.0]"),
)

# -- powers ----------------------------------------------------------------------------------------------------------

sqrt = unary(
    "sqrt",
    scalar="sqrt",
    vjp={"x": lambda ct, *, out: ct * 0.5 / conj(out)},
    doc="The square root of x",
    example=("[9.0]", "[3.0]"),
    onnx="Sqrt",
)
rsqrt = unary(
    "rsqrt",
    amp="wide",
    scalar=lambda s, x: s.rsqrt(x),
    vjp={"x": lambda ct, *, out: ct * conj(out * out * out) * -0.5},
    doc="1 divided by the square root of x",
    example=("[4.0]", "[0.5]"),
)
square = unary(
    "square",
    amp="wide",
    scalar="square",
    vjp={"x": lambda ct, *, x: ct * conj(x) * 2},
    doc="x * x",
    example=("[3.0]", "[9.0]"),
    accepts=numeric,
    out=False,
)
reciprocal = unary(
    "reciprocal",
    amp="wide",
    scalar="reciprocal",
    vjp={"x": lambda ct, *, out: -(ct * conj(out * out))},
    doc="1 divided by x",
    example=("[4.0]", "[0.25]"),
    onnx="Reciprocal",
)

# -- rounding --------------------------------------------------------------------------------------------------------


def _rounding(name: str, scalar: Any, doc: str, result: str, out: bool = True, **options: Any) -> Any:
    example = ("[1.5, -1.5]", result)
    return unary(name, scalar=scalar, vjp=STEPS, doc=doc, example=example, accepts=real_number, out=out, **options)


floor = _rounding("floor", "floor", "x rounded down", "[1.0, -2.0]", onnx="Floor")
ceil = _rounding("ceil", "ceil", "x rounded up", "[2.0, -1.0]", onnx="Ceil")
_trunc_op = define_elementwise(
    "trunc", scalar="trunc", meta=same_as("trunc", "input", real_number), vjp=STEPS, maps={"paddle": "trunc"}
)


def trunc(input: Any, name: str | None = None) -> Any:
    """input rounded towards zero, elementwise. Source: paddle.trunc.

    Example:
        >>> import vitrify as paddle
        >>> paddle.trunc(paddle.to_tensor([1.5, -1.5])).tolist()
        [1.0, -1.0]
    """
    return _trunc_op(input)


_round_op = define_elementwise(
    "round", scalar="rint", meta=same_as("round", accepts=numeric), vjp=STEPS, maps={"onnx": "Round"}
)
_round_to_op = define_elementwise(
    "round_to",
    scalar=lambda s, x, *, decimals: s.rint(x * 10.0**decimals) / 10.0**decimals,
    meta=same_as("round", accepts=floating),
    vjp=STEPS,
)


@aliased(x="input")
def round(x: Any, decimals: int = 0, name: str | None = None, *, out: Any = None) -> Any:
    """x rounded to so many digits after the point, halves to the even neighbour; integers stay as they are.

    Source: paddle.round.

    Example:
        >>> import vitrify as paddle
        >>> paddle.round(paddle.to_tensor([0.5, 1.5, -1.7])).tolist()
        [0.0, 2.0, -2.0]
    """
    rank_of("round", x)
    if x.dtype.is_integer:
        result = clone(x)
    else:
        result = _round_op(x) if decimals == 0 else _round_to_op(x, decimals=int(decimals))
    return finish("round", result, out)


frac = unary(
    "frac",
    scalar=lambda s, x: x - s.trunc(x),
    vjp={"x": lambda ct: ct},
    doc="What x has after the point, with x's sign",
    example=("[1.5, -1.25]", "[0.5, -0.25]"),
    accepts=real_number,
)

# -- signs -----------------------------------------------------------------------------------------------------------

sign = unary(
    "sign",
    scalar="sign",
    vjp=STEPS,
    doc="1, 0 or -1 as x is positive, zero or negative",
    example=("[2.0, 0.0, -3.0]", "[1.0, 0.0, -1.0]"),
    accepts=numeric,
    onnx="Sign",
)

METHODS: dict[str, Any] = {
    fn.__name__: fn
    for fn in (
        exp, expm1, log, log2, log10, log1p, sqrt, rsqrt, square, reciprocal, floor, ceil, trunc, round, frac, sign,
    )
}  # fmt: skip
INPLACE = (
    "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "floor", "ceil", "trunc",
    "round", "frac", "sign",
)  # fmt: skip
__all__ = [
    "ceil",
    "exp",
    "expm1",
    "floor",
    "frac",
    "log",
    "log1p",
    "log2",
    "log10",
    "reciprocal",
    "round",
    "rsqrt",
    "sign",
    "sqrt",
    "square",
    "trunc",
]

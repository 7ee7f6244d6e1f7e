"""The scalar primitives (D2) as ONNX nodes: an elementwise op's own expression, given these, writes its graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from ..core.dtype import bool_, float32, float64, int32, int64
from ..core.errors import UnsupportedError
from ..ir.composed_scalars import ComposedScalars
from .graph import Graph, Value
from .special import FUNCTIONS

# Primitives that are one ONNX operator.
_SAME = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "pow": "Pow", "neg": "Neg", "abs": "Abs", "sign": "Sign",
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "sigmoid": "Sigmoid", "eq": "Equal", "lt": "Less",
    "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual", "and_": "And", "or_": "Or", "not_": "Not",
    "xor": "Xor",
}  # fmt: skip
# Operators that compare numbers alone.
_ORDERS = frozenset(("Less", "LessOrEqual", "Greater", "GreaterOrEqual"))
# Primitives that round, or tell infinities: nothing to do, or known, for integers.
_ROUNDING = {"floor": "Floor", "ceil": "Ceil", "rint": "Round"}
_BITS = {"bitand": ("BitwiseAnd", "And"), "bitor": ("BitwiseOr", "Or"), "bitxor": ("BitwiseXor", "Xor")}
# Primitives that no combination of ONNX operators gives to the last digits.
MISSING = {
    "gammainc": "incomplete gamma functions",
    "gammaincc": "incomplete gamma functions",
    "zeta": "the zeta function",
    "nextafter": "neighbours of a floating-point number",
    "ldexp": "the exponent of a floating-point number",
    "gcd": "greatest common divisors",
    "lcm": "least common multiples",
    "lshr": "logical shifts of signed integers",
    "pair": "complex numbers",
}


class OnnxScalars(ComposedScalars):
    """The scalar primitives as nodes of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A primitive: an operator, or a function of others; raises UnsupportedError for those that ONNX has not."""
        if name in _SAME:
            return lambda x, *other: self._same(_SAME[name], x, *other)
        if name in _ROUNDING:
            return lambda x: self.graph.node(_ROUNDING[name], x) if x.dtype.is_floating else x
        if name in _BITS:
            return lambda x, y: self._bits(name, x, y)
        if name in FUNCTIONS:
            return lambda x: FUNCTIONS[name](self, x.cast(float64)).cast(x.dtype)
        if name in MISSING:
            raise UnsupportedError(f"ONNX has no operator for {MISSING[name]}")
        raise AttributeError(f"no scalar primitive is named {name!r}")

    def _same(self, op: str, x: Any, *rest: Any) -> Value:
        other = list(rest)
        if op in ("And", "Or", "Not", "Xor"):
            x, *other = (v.cast(bool_) if isinstance(v, Value) else bool(v) for v in (x, *other))
        if op in _ORDERS and next(v for v in (x, *other) if isinstance(v, Value)).dtype is bool_:
            x, *other = (v.cast(int32) if isinstance(v, Value) else int(v) for v in (x, *other))
        return self.graph.both(op, x, *other) if other else self.graph.node(op, x)

    def _bits(self, name: str, x: Value, y: Value) -> Value:
        op, logical = _BITS[name]
        if x.dtype is bool_:
            return self.graph.both(logical, x, y)
        self.graph.needs_opset(18, name)
        return self.graph.both(op, x, y)

    def number(self, value: float, like: Value) -> Value:
        """A number in the dtype of a value."""
        return self.graph.constant(value, like.dtype)

    # -- arithmetic ----------------------------------------------------------------------------------------------

    def div(self, x: Any, y: Any) -> Value:
        """x / y; of integers as floating point numbers."""
        given = x if isinstance(x, Value) else y
        if given.dtype.is_floating:
            return self.graph.both("Div", x, y)
        return self.graph.both("Div", *[v.cast("float64") if isinstance(v, Value) else v for v in (x, y)])

    def square(self, x: Value) -> Value:
        """x * x."""
        return x * x

    def fmod(self, x: Any, y: Any) -> Value:
        """What is left of x, with the sign of x."""
        given = x if isinstance(x, Value) else y
        a, b = self.graph.like(x, given), self.graph.like(y, given)
        return self.graph.node("Mod", a, b, fmod=1)

    def mod(self, x: Any, y: Any) -> Value:
        """What is left of x, with the sign of y, as Python's %."""
        given = x if isinstance(x, Value) else y
        a, b = self.graph.like(x, given), self.graph.like(y, given)
        if not given.dtype.is_floating:
            return self.graph.node("Mod", a, b)
        rest = self.fmod(a, b)
        turned = (rest != 0) & self.graph.node("Xor", rest < 0, b < 0)
        return self.where(turned, rest + b, rest)

    def floordiv(self, x: Any, y: Any) -> Value:
        """x / y rounded down, without the error of a rounded quotient."""
        given = x if isinstance(x, Value) else y
        a, b = self.graph.like(x, given), self.graph.like(y, given)
        exact: Value = (a - self.mod(a, b)) / b
        if not given.dtype.is_floating:
            return exact
        return self.where(b == 0, a / b, self.graph.node("Round", exact))

    def trunc(self, x: Value) -> Value:
        """x rounded towards zero."""
        if not x.dtype.is_floating:
            return x
        return self.graph.node("Sign", x) * self.graph.node("Floor", self.graph.node("Abs", x))

    def maximum(self, x: Any, y: Any) -> Value:
        """The larger; NaN where one is."""
        return self._extreme("Max", "Or", x, y)

    def minimum(self, x: Any, y: Any) -> Value:
        """The smaller; NaN where one is."""
        return self._extreme("Min", "And", x, y)

    def _extreme(self, op: str, logical: str, x: Any, y: Any) -> Value:
        given = x if isinstance(x, Value) else y
        return self.graph.both(logical if given.dtype is bool_ else op, x, y)

    def fmax(self, x: Value, y: Value) -> Value:
        """The larger; the other one where one is NaN."""
        return self._but_nan(self.maximum, x, y)

    def fmin(self, x: Value, y: Value) -> Value:
        """The smaller; the other one where one is NaN."""
        return self._but_nan(self.minimum, x, y)

    def _but_nan(self, extreme: Callable[[Any, Any], Value], x: Value, y: Value) -> Value:
        if not x.dtype.is_floating:
            return extreme(x, y)
        return self.where(self.isnan(x), y, self.where(self.isnan(y), x, extreme(x, y)))

    def atan2(self, x: Value, y: Value) -> Value:
        """The angle of the point (y, x)."""
        safe = self.where(y == 0, 1, y)
        half = self.where(self.signbit(x), -math.pi, self.where(x == x, math.pi, x))
        inside = self.atan(x / safe)
        side = self.where(y < 0, inside + half, inside)
        axis = self.where(x == 0, self.where(self.signbit(y), half, x), half * 0.5)
        both = self.where(self.isinf(x) & self.isinf(y), self.where(y > 0, half * 0.25, half * 0.75), side)
        return self.where(y == 0, axis, both)

    # -- exponentials and logarithms ------------------------------------------------------------------------------

    def log1p(self, x: Value) -> Value:
        """log(1 + x), exact for small x: log's error in the rounded 1 + x is divided out (Kahan)."""
        shifted = x + 1
        rounded = self.where((shifted == 1) | self.isinf(shifted), 1, shifted - 1)
        exact = self.log(shifted) * (x / rounded)
        plain = self.where(self.isinf(shifted) | (shifted == 0), self.log(shifted), exact)
        return self.where(shifted == 1, x, plain)

    def expm1(self, x: Value) -> Value:
        """exp(x) - 1, exact for small x (Kahan)."""
        power = self.exp(x)
        below = power - 1
        plain = self.isinf(power) | (power == 0)
        exact = below * (x / self.where((power == 1) | plain, 1, self.log(power)))
        return self.where(power == 1, x, self.where(plain, below, exact))

    def log2(self, x: Value) -> Value:
        """The logarithm to base 2."""
        natural: Value = self.log(x)
        return natural * (1 / math.log(2))

    def log10(self, x: Value) -> Value:
        """The logarithm to base 10."""
        natural: Value = self.log(x)
        return natural * (1 / math.log(10))

    # -- choices and tests ---------------------------------------------------------------------------------------

    def where(self, condition: Value, x: Any, y: Any) -> Value:
        """x where the condition holds, else y."""
        if not isinstance(x, Value) and not isinstance(y, Value):
            x = self.graph.constant(x, float32)
        return self.graph.where(condition.cast(bool_), x, y)

    def ne(self, x: Any, y: Any) -> Value:
        """Whether they differ."""
        return self.graph.node("Not", self.graph.both("Equal", x, y))

    def isnan(self, x: Value) -> Value:
        """Whether x is no number."""
        return self.graph.node("IsNaN", x) if x.dtype.is_floating else ~self._always(x)

    def isinf(self, x: Value) -> Value:
        """Whether x is an infinity."""
        if not x.dtype.is_floating:
            return ~self._always(x)
        return self.graph.node("IsInf", x.cast(float32) if x.dtype.itemsize < 4 else x)

    def isfinite(self, x: Value) -> Value:
        """Whether x is neither infinite nor NaN."""
        return ~(self.isinf(x) | self.isnan(x)) if x.dtype.is_floating else self._always(x)

    def _always(self, x: Value) -> Value:
        return self.graph.both("Equal", x, x)

    # -- integers ------------------------------------------------------------------------------------------------

    def bitnot(self, x: Value) -> Value:
        """All bits turned."""
        if x.dtype is bool_:
            return ~x
        self.graph.needs_opset(18, "bitwise_not")
        return self.graph.node("BitwiseNot", x)

    def _power_of_two(self, x: Value, bits: Value) -> Value:
        table = self.graph.constant([1 << i for i in range(63)], int64)
        return self.graph.node("Gather", table, bits.cast(int64), axis=0).cast(x.dtype)

    def shl(self, x: Value, y: Value) -> Value:
        """x shifted left by y bits."""
        return x * self._power_of_two(x, y)

    def shr(self, x: Value, y: Value) -> Value:
        """x shifted right by y bits, its sign kept."""
        if y.dtype.itemsize < 8:
            return self.floordiv(x.cast(int64), self._power_of_two(x.cast(int64), y)).cast(x.dtype)
        return self.floordiv(x, self._power_of_two(x, y))


def write_expression(graph: Graph, scalar: Any, inputs: list[Any], attrs: dict[str, Any]) -> Value:
    """The nodes of a scalar expression; one of several primitives is computed in float32 for 16-bit types."""
    scalars = OnnxScalars(graph)
    write: Callable[..., Value]
    if isinstance(scalar, str):
        write = getattr(scalars, scalar)
        return write(*inputs)
    write = cast("Callable[..., Value]", partial(scalar, scalars))
    narrow = [v.dtype for v in inputs if isinstance(v, Value) and v.dtype.is_floating and v.dtype.itemsize == 2]
    if not narrow:
        return write(*inputs, **attrs)
    wide = [v.cast(float32) if isinstance(v, Value) and v.dtype is narrow[0] else v for v in inputs]
    out = write(*wide, **attrs)
    return out.cast(narrow[0]) if out.dtype is float32 else out

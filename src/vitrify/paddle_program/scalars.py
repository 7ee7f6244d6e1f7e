"""Elementwise ops without an operator in Paddle's programs: their own scalar expressions (D2) write them as several.

A primitive is the form of the op that has it for its whole expression, with what that op's meta rule says of the
result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, float32, from_np
from ..core.errors import UnsupportedError
from ..ir.composed_scalars import ComposedScalars
from ..ops.expression_size import primitives_of
from ..ops.registry import OpDef, get_op
from .emitter import FORMS, Emitter, Value

# The op of each primitive whose name differs from it.
_OPS = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "floordiv": "floor_divide", "rint": "round", "eq": "equal",
    "ne": "not_equal", "lt": "less_than", "le": "less_equal", "gt": "greater_than", "ge": "greater_equal",
    "and_": "logical_and", "or_": "logical_or", "not_": "logical_not", "xor": "logical_xor", "bitand": "bitwise_and",
    "bitor": "bitwise_or", "bitxor": "bitwise_xor", "bitnot": "bitwise_not",
}  # fmt: skip
_SAME = frozenset(
    (
        "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh",
        "digamma", "erf", "erfinv", "exp", "expm1", "floor", "fmax", "fmin", "isfinite", "isinf", "isnan",
        "lgamma", "log", "log10", "log1p", "log2", "maximum", "minimum", "mod", "neg", "pow", "reciprocal",
        "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "where",
    )
)  # fmt: skip
_ROUNDING = frozenset(("floor", "ceil", "rint", "trunc"))


@dataclass(frozen=True, eq=False)
class Operand:
    """A value of the program with Python's operators."""

    scalars: PaddleScalars
    value: Value

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        return self.value.dtype

    __hash__ = None  # type: ignore[assignment]


def _operator(primitive: str, reflected: bool = False) -> Callable[..., Any]:
    def apply(self: Operand, *others: Any) -> Any:
        operands = (*others, self) if reflected else (self, *others)
        name = f"logical_{primitive}" if self.dtype is bool_ and primitive in ("and", "or", "xor", "not") else primitive
        return self.scalars.apply(_OPS.get(name, name), *operands)

    return apply


for _name, _primitive in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "and": "and", "or": "or", "xor": "xor",
}.items():  # fmt: skip
    setattr(Operand, f"__{_name}__", _operator(_primitive))
    setattr(Operand, f"__r{_name}__", _operator(_primitive, reflected=True))
for _name, _primitive in {"neg": "neg", "abs": "abs", "invert": "not"}.items():
    setattr(Operand, f"__{_name}__", _operator(_primitive))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Operand, f"__{_name}__", _operator(_name))


class PaddleScalars(ComposedScalars):
    """The scalar primitives as operators of one program."""

    def __init__(self, g: Emitter) -> None:
        self._g = g

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A primitive that an op is; raises UnsupportedError for those that Paddle's programs have not."""
        if name not in _SAME and name not in _OPS:
            raise UnsupportedError(f"Paddle's programs have no operator for {name!r}")
        if name in _ROUNDING:
            return lambda x: self.apply(_OPS.get(name, name), x) if x.dtype.is_floating else x
        return lambda *operands: self.apply(_OPS.get(name, name), *operands)

    def number(self, value: float, like: Operand) -> Operand:
        """A number in the dtype of an operand."""
        return Operand(self, self._g.full(value, like.dtype))

    def apply(self, name: str, *operands: Any) -> Operand:
        """The result of an op; numbers take the dtype of the other operands."""
        op, g = get_op(name), self._g
        form = FORMS.get(op)
        if form is None:
            raise UnsupportedError(f"Paddle's programs have no operator for {name!r}")
        values = self._values(operands if name != "where" else operands[1:])
        if name == "where":
            values = [operands[0].value, *values]
        meta: Any = op.meta(*[v.meta for v in values])
        around, g.metas = g.metas, (meta,)
        try:
            found = form(g, *values)
        finally:
            g.metas = around
        return Operand(self, Value(g.cast(found, meta.dtype).id, meta.dtype, tuple(meta.shape)))

    def _values(self, operands: Sequence[Any]) -> list[Value]:
        dtypes = [o.dtype for o in operands if isinstance(o, Operand)] or [float32]
        if any(isinstance(o, float) for o in operands) and not any(d.is_floating for d in dtypes):
            dtypes = [*dtypes, float32]
        common = from_np(np.result_type(*[d.np for d in dtypes])) if len(set(dtypes)) > 1 else dtypes[0]
        g = self._g
        return [g.cast(o.value, common) if isinstance(o, Operand) else g.full(o, common) for o in operands]

    def fmod(self, x: Any, y: Any) -> Any:
        """What is left of x, with the sign of x."""
        return x - self.trunc(x / y) * y

    def shl(self, x: Any, y: Any) -> Any:
        """x shifted left by y bits."""
        return x * self._power_of_two(y)

    def shr(self, x: Any, y: Any) -> Any:
        """x shifted right by y bits, its sign kept."""
        return self.apply("floor_divide", x, self._power_of_two(y))

    def _power_of_two(self, bits: Any) -> Any:
        return self.apply("pow", self.number(2, bits), bits)


def is_written(op: OpDef) -> bool:
    """Whether the expression of an op can be written: it has one, of primitives that Paddle's programs have."""
    if op.scalar is None:
        return False
    try:
        names = primitives_of(op.scalar, len(op.inputs), dict.fromkeys(op.attrs, 1))
    except (TypeError, ValueError):
        return False
    return all(name in _SAME or name in _OPS or hasattr(PaddleScalars, name) for name in names)


def write_expression(g: Emitter, op: OpDef, inputs: Sequence[Any], attrs: dict[str, Any]) -> Value:
    """The operators of an op's scalar expression. Raises UnsupportedError for primitives that Paddle has not."""
    scalars = PaddleScalars(g)
    out = g.metas[0]
    operands = [_promoted(scalars, value, inputs) for value in inputs]
    if isinstance(op.scalar, str):
        found = getattr(scalars, op.scalar)(*operands)
    else:
        found = op.scalar(scalars, *operands, **attrs)
    value: Value = found.value
    return g.cast(value, out.dtype)


def _promoted(scalars: PaddleScalars, value: Value, inputs: Sequence[Value]) -> Operand:
    """An input in the dtype that all inputs are promoted to."""
    g = scalars._g
    dtypes = {v.dtype for v in inputs}
    if len(dtypes) > 1:
        value = g.cast(value, from_np(np.result_type(*[d.np for d in dtypes])))
    if not value.dtype.is_floating and g.metas[0].dtype.is_floating:
        value = g.cast(value, g.metas[0].dtype)
    return Operand(scalars, value)

"""Arithmetic among Python numbers, whose errors a Gather raises: it looks behind the end of its only element."""

from __future__ import annotations

from ..core.dtype import float64, int64
from ..core.errors import UnsupportedError
from .graph import Value
from .scalars import OnnxScalars
from .table import FORMS, Context


def _unless(g: Context, is_wrong: Value, value: Value) -> Value:
    """The value; an error of the runtime where Python raises one."""
    one = g.node("Gather", g.constant([1]), is_wrong.cast(int64), axis=0)
    return value * Value(g, one.name, int64, ()).cast(value.dtype)


@FORMS("number_divide", "number_floor_divide", "number_mod")
def divide(g: Context, x: Value, y: Value) -> Value:
    """The division of tensors."""
    kind = g.metas[0].dtype
    a, b = x.cast(kind), y.cast(kind)
    b = _unless(g, b == 0, b)
    if g.op_name == "number_divide":
        return a / b
    scalars = OnnxScalars(g)
    return scalars.mod(a, b) if g.op_name == "number_mod" else scalars.floordiv(a, b)


@FORMS("number_pow")
def power(g: Context, x: Value, y: Value) -> Value:
    """Pow of floats: an error for a negative power of 0, a fraction of a negative number, and what is too large."""
    kind = g.metas[0].dtype
    if not kind.is_floating:
        raise UnsupportedError("onnx: powers of ints are as long as they need to be in Python, 64 bits in ONNX",
                               hint="write the power with floats")  # fmt: skip
    a, b = x.cast(float64), y.cast(float64)
    is_fraction = g.node("Floor", b) != b
    a = _unless(g, ((a == 0) & (b < 0)) | ((a < 0) & is_fraction), a)
    found = g.node("Pow", a, b)
    is_finite = OnnxScalars(g).isfinite
    return _unless(g, is_finite(a) & is_finite(b) & OnnxScalars(g).isinf(found), found).cast(kind)

"""Python numbers of eager code that are 0-D tensors in a program: what `float(x)`, `x.item()` or a loop counter give.

They mix with tensors as Python numbers do, compute among themselves in 64 bits, and are shown as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import DType, as_dtype, complex128, float64, int64
from ..ops.elementwise import add_op, multiply_op, neg_op, subtract_op
from ..ops.like import assign_op, cast, cast_op
from ..ops.number import NUMBER_OPS
from ..ops.promote import SCALARS, common_dtype
from ..ops.registry import OpDef, get_op
from .graph_tensor import as_number, is_number, sample

_ARITHMETIC = frozenset(
    {*NUMBER_OPS, add_op, subtract_op, multiply_op, neg_op}
    | {get_op(name) for name in ("abs", "square", "bitwise_left_shift", "bitwise_right_shift")}
)
"""Ops by which Python computes with bools as with ints; `&`, `|` and `^` of bools are bools."""


def number_dtype(dtype: DType) -> DType:
    """The dtype that holds a Python number of that kind in full: bool, int64, float64 or complex128."""
    if dtype.is_bool:
        return dtype
    return as_dtype("int64" if dtype.is_integer else "complex128" if dtype.is_complex else "float64")


def weaken(op: OpDef, inputs: Sequence[Any], values: Sequence[Any]) -> tuple[OpDef, list[Any], bool]:
    """The op, `values` with numbers cast as Python numbers would be, and whether the result is a number itself.

    Where Python may find something wrong with numbers (a division by zero), another op does it as Python does.

    inputs: what the op was given; values: what that stands for in the block being built.
    """
    marks = [is_number(v) for v in inputs]
    if op is cast_op and marks[0]:
        return op, list(values), True
    if not any(marks) or not op.elementwise or op is assign_op:
        return op, list(values), False
    others = [sample(v) if marked else v for v, marked in zip(values, marks)]
    if all(v is None or isinstance(v, SCALARS) for v in others):
        found = [v if v is None or isinstance(v, SCALARS) else _as(v, number_dtype(v.dtype)) for v in values]
        found = [*map(_counted, found)] if op in _ARITHMETIC else found
        return op if _is_safe(values) else NUMBER_OPS.get(op, op), _in_64_bits(op, found), True
    dtype = common_dtype(op, others)
    if dtype is None:
        return op, list(values), False
    named = [op.input_name(i) in op.promote for i in range(len(values))]
    return op, [_as(v, dtype) if marked and known else v for v, marked, known in zip(values, marks, named)], False


def _counted(value: Any) -> Any:
    """The int that Python computes with where it has a bool."""
    if isinstance(value, bool):
        return int(value)
    return _as(value, int64) if hasattr(value, "dtype") and value.dtype.is_bool else value


def _in_64_bits(op: OpDef, values: Sequence[Any]) -> list[Any]:
    """Numbers that meet a Python float, or a complex one, as such: a tensor of integers would become a float32."""
    for kind, dtype in ((complex, complex128), (float, float64)):
        if any(isinstance(v, kind) for v in values):
            named = [op.input_name(i) in op.promote for i in range(len(values))]
            return [_widened(v, dtype) if known else v for v, known in zip(values, named)]
    return list(values)


def _widened(value: Any, dtype: DType) -> Any:
    if value is None or isinstance(value, SCALARS) or value.dtype.is_complex:
        return value
    return _as(value, dtype)


def _is_safe(values: Sequence[Any]) -> bool:
    """Whether the last number, which divides or is the power, is known and as it mostly is."""
    last = values[-1]
    return isinstance(last, (int, float)) and last > 0 and last % 1 == 0


def _as(value: Any, dtype: DType) -> Any:
    return value if value.dtype is dtype else cast(value, dtype)


__all__ = ["as_number", "is_number", "number_dtype", "sample", "weaken"]

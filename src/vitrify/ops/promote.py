"""Dtype promotion of op inputs, done once for eager and static (STYLE 11)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..core.dtype import STORED, DType, fitted, float64, int64, promote, promote_scalar
from ..core.errors import DTypeError
from .arguments import is_tensor
from .registry import OpDef, get_op

SCALARS = (bool, int, float, complex)
# Ops that give truth values: numbers that the tensor's dtype does not hold are compared as they are.
_EXACT = frozenset(
    ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal",
     "logical_and", "logical_or", "logical_xor")
)  # fmt: skip


def with_numpy_numbers(op: OpDef, inputs: Sequence[Any]) -> Sequence[Any]:
    """`inputs`, in which a NumPy number beside a tensor is what the tensor's dtype holds of it, as in Paddle.

    NumPy's float64 and complex128 are Python's numbers; other complex ones, of which a float would hold half, stay,
    and so do those beside truth values.
    """
    if not op.promote or not any(map(_is_numpy_number, inputs)):
        return inputs
    tensor = next((value for value in inputs if is_tensor(value)), None)
    if tensor is None or tensor.dtype.is_bool:
        return inputs
    return [value.astype(tensor.dtype.np) if _is_numpy_number(value) else value for value in inputs]


def _is_numpy_number(value: Any) -> bool:
    return isinstance(value, np.generic) and not isinstance(value, SCALARS) and value.dtype.kind in "biufV"


def common_dtype(op: OpDef, inputs: Sequence[Any]) -> DType | None:
    """The dtype that `op.promote` inputs are brought to; None when no tensor is among them."""
    tensors: list[tuple[DType, bool]] = []
    scalars: list[bool | int | float | complex] = []
    for index, value in enumerate(inputs):
        if value is None or op.input_name(index) not in op.promote:
            continue
        if isinstance(value, SCALARS):
            scalars.append(value)
        else:
            tensors.append((value.dtype, value.ndim == 0 and (op.weak_0d is not False or not value.dtype.is_floating)))
    if not tensors:
        return None
    if op.weak_0d is None and any(is_weak for _, is_weak in tensors):
        tensors = [(dtype, True) for dtype, _ in tensors]
    if any(dtype.kind == STORED for dtype, _ in tensors) and (scalars or len({dtype for dtype, _ in tensors}) > 1):
        listed = ", ".join(dtype.name for dtype, _ in tensors)
        raise DTypeError(f"{op.name}: 8-bit floats meet no others: {listed}", hint="cast with .astype() before")
    try:
        found = reduce(promote_scalar, scalars, reduce(_meet, tensors)[0])
        return _holding(scalars, found) if op.name in _EXACT else found
    except TypeError as err:
        listed = ", ".join(f"{op.input_name(i)} is {_kind(v)}" for i, v in enumerate(inputs) if v is not None)
        raise DTypeError(f"{op.name}: cannot combine dtypes: {listed}", hint="cast one of them with .astype()") from err


def _holding(scalars: Sequence[Any], dtype: DType) -> DType:
    """`dtype`, or one that holds all of the scalars, too."""
    return next(d for d in (dtype, int64, float64) if d is float64 or all(fitted(v, d) == v for v in scalars))


def fitted_numbers(op: OpDef, inputs: Sequence[Any], error: Exception) -> list[Any] | None:
    """`inputs` with the ints that were too large for the tensors' dtype, as NumPy's `error` says, as that holds them.

    None where the error is about something else.
    """
    if not isinstance(error, OverflowError):
        return None
    dtype = common_dtype(op, inputs)
    changed = list(inputs) if dtype is None else [fitted(v, dtype) for v in inputs]
    return changed if any(new is not old for new, old in zip(changed, inputs)) else None


def _meet(a: tuple[DType, bool], b: tuple[DType, bool]) -> tuple[DType, bool]:
    """The common dtype of two tensors, each given as its dtype and whether it has no dimensions."""
    return promote(a[0], b[0], a[1], b[1]), a[1] and b[1]


def _kind(value: Any) -> str:
    return f"Python {type(value).__name__}" if isinstance(value, SCALARS) else str(value.dtype.name)


def promote_inputs(op: OpDef, inputs: Sequence[Any]) -> list[Any]:
    """`inputs` with the tensors among `op.promote` cast to their common dtype; scalars stay as they are."""
    dtype = common_dtype(op, inputs)
    if dtype is None:
        return list(inputs)
    cast = get_op("cast")
    return [
        cast(value, dtype=dtype)
        if value is not None
        and not isinstance(value, SCALARS)
        and op.input_name(index) in op.promote
        and value.dtype is not dtype
        else value
        for index, value in enumerate(inputs)
    ]

"""`paddle.base.data_feeder`: checks of arguments as custom Layers write them, made only while a program is built."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..core.dispatch import in_dynamic_mode
from ..core.dtype import DTypeLike, as_dtype
from ..core.errors import ArgumentError
from ..eager.tensor import Tensor
from ..ir.program import Variable

__all__ = ["check_dtype", "check_shape", "check_type", "check_variable_and_dtype", "convert_dtype"]

TENSORS = (Tensor, Variable)


def convert_dtype(dtype: DTypeLike) -> str:
    """Return the name of a dtype, given as one of ours, of NumPy's, or as text; TypeError for anything else.

    >>> import vitrify as paddle
    >>> paddle.base.data_feeder.convert_dtype(paddle.float32)
    'float32'
    """
    try:
        return as_dtype(dtype).name
    except ArgumentError as err:
        raise TypeError(str(err)) from None


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Collection[str], op_name: str, extra_message: str = ""
) -> None:
    """Raise TypeError unless `input` is a tensor of one of these dtypes. Eagerly only operators look."""
    if not in_dynamic_mode():
        check_type(input, input_name, TENSORS, op_name, extra_message)
        check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)


def check_type(
    input: Any, input_name: str, expected_type: type | tuple[type, ...], op_name: str, extra_message: str = ""
) -> None:
    """Raise TypeError unless `input` is of one of these classes. Eagerly nothing is checked."""
    if not in_dynamic_mode() and not isinstance(input, expected_type):
        raise TypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, "
            f"but received {type(input)}. {extra_message}"
        )


def check_dtype(
    input_dtype: DTypeLike,
    input_name: str,
    expected_dtype: str | Collection[str],
    op_name: str,
    extra_message: str = "",
) -> None:
    """Raise TypeError unless the dtype is one of these. Eagerly nothing is checked."""
    if in_dynamic_mode():
        return
    given = convert_dtype(input_dtype)
    if given not in ([expected_dtype] if isinstance(expected_dtype, str) else expected_dtype):
        raise TypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, "
            f"but received {given}. {extra_message}"
        )


def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: tuple[type, ...] = (list, tuple, *TENSORS),
    expected_element_type: tuple[type, ...] = (int, *TENSORS),
    expected_tensor_dtype: tuple[str, ...] = ("int32", "int64"),
) -> None:
    """Raise TypeError unless `shape` is a list, tuple or tensor of whole numbers. Eagerly nothing is checked."""
    if in_dynamic_mode():
        return
    check_type(shape, "shape", expected_shape_type, op_name)
    if isinstance(shape, TENSORS):
        check_dtype(shape.dtype, "shape", expected_tensor_dtype, op_name)
        return
    for item in shape:
        check_type(item, "element of shape", expected_element_type, op_name)
        if isinstance(item, TENSORS):
            check_dtype(item.dtype, "element of shape", expected_tensor_dtype, op_name)

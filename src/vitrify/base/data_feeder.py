"""`paddle.base.data_feeder`: checks of arguments as custom Layers write them, made only while a program is built; and
`DataFeeder`, which makes feeds of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.dispatch import in_dynamic_mode
from ..core.dtype import DTypeLike, as_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import UNKNOWN
from ..eager.tensor import Tensor
from ..ir.guard import default_main_program
from ..ir.program import Program, Variable

__all__ = ["DataFeeder", "check_dtype", "check_shape", "check_type", "check_variable_and_dtype", "convert_dtype"]

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


class DataFeeder:
    """Makes the feeds of a run from rows, each with a value for every one of `feed_list`.

    feed_list: Variables, or names of variables of `program`. place: kept. Source: paddle.base.DataFeeder.

    >>> import vitrify as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     x, y = paddle.static.data("x", [None, 2]), paddle.static.data("y", [None, 1], "int64")
    >>> feeds = paddle.base.DataFeeder([x, y]).feed([([1, 2], 0), ([3, 4], 1)])
    >>> feeds["x"].tolist(), feeds["y"].tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [[0], [1]])
    """

    def __init__(self, feed_list: Sequence[Variable | str], place: Any = None, program: Program | None = None) -> None:
        block = (program or default_main_program()).global_block()
        self.place = place
        self._vars = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        for var in self._vars:
            if not isinstance(var, Variable):
                raise DTypeError(f"DataFeeder: feed_list holds Variables or names, but received {type(var).__name__}")

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """The arrays by name. Raises ArgumentError for rows of another length, or of values that do not fit."""
        rows = [tuple(row) for row in iterable]
        if any(len(row) != len(self._vars) for row in rows):
            raise ArgumentError(f"DataFeeder.feed: each row needs {len(self._vars)} values")
        return {var.name: self._stacked(var, [row[i] for row in rows]) for i, var in enumerate(self._vars)}

    def _stacked(self, var: Variable, values: list[Any]) -> Any:
        """The values one below the other, each in the shape that the variable has for one."""
        sizes = list(var.shape[1:])
        arrays = [np.asarray(value, var.dtype.np) for value in values]
        try:
            if sizes.count(UNKNOWN) == 0:
                arrays = [array.reshape(sizes) for array in arrays]
            return np.stack(arrays) if arrays else np.empty([0, *[max(s, 0) for s in sizes]], var.dtype.np)
        except ValueError as err:
            raise ArgumentError(f"DataFeeder.feed: {var.name!r} takes rows of shape {sizes}: {err}") from None


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

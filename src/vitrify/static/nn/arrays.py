"""Arrays of tensors: lists that programs write and read at places that only the run knows.

In dynamic mode an array is a Python list. Source: paddle.tensor.array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dispatch import in_dynamic_mode
from ...core.dtype import DTypeLike, int32
from ...core.errors import ArgumentError, DTypeError
from ...core.lazy import lazy_module
from ...ops.arguments import is_tensor
from ...ops.creation import assign, full
from ...ops.join import stack
from ...ops.like import cast
from ...ops.shape import reshape
from ...ops.sizes import shape as sizes_of
from .recorded import logged

# Few programs have arrays; what converts Python, which knows lists of any length, is a third of all modules.
_builtins = lazy_module("vitrify.convert.calls.list_builtins")
_lists = lazy_module("vitrify.convert.containers.lists")


@logged
def create_array(dtype: DTypeLike, initialized_list: Sequence[Any] | None = None) -> Any:
    """A new array of the tensors in `initialized_list`, or an empty one. dtype: of the tensors to come; not checked.

    Raises DTypeError for other things than tensors. Source: paddle.tensor.create_array.

    Example:
        >>> import vitrify as paddle
        >>> array = paddle.tensor.create_array("float32")
        >>> array = paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor(0), array)
        >>> paddle.tensor.array_length(array)
        1
    """
    values = list(initialized_list or ())
    for value in values:
        if not is_tensor(value):
            raise DTypeError(f"create_array: an array holds tensors, but received {type(value).__name__}")
    return values if in_dynamic_mode() else _lists.GraphList(values)


@logged
def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """The array with `x` at place `i`, which is at most its length; a new one where none is given.

    The array is changed in place. i: an integer tensor of one element. Raises DTypeError for other kinds of
    arguments, IndexRangeError for a place beyond the end. Source: paddle.tensor.array_write.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     array = paddle.tensor.array_write(x * 2, paddle.zeros([1], "int64"))
        ...     y = paddle.tensor.array_read(array, paddle.zeros([1], "int64"))
        >>> paddle.static.Executor().run(main, feed={"x": [1.0, 2.0]}, fetch_list=[y])[0].tolist()
        [2.0, 4.0]
    """
    if not is_tensor(x):
        raise DTypeError(f"array_write: x must be a tensor, but received {type(x).__name__}")
    at = _place("array_write", i)
    if in_dynamic_mode():
        held = [] if array is None else _array("array_write", array)
        place = int(at)
        if not 0 <= place <= len(held):
            raise ArgumentError(f"array_write: place {place} is beyond the end of an array of {len(held)} tensors")
        held[place : place + 1] = [x]
        return held
    held = _lists.GraphList() if array is None else _array("array_write", array)
    if not isinstance(held, _lists.GraphList):
        held = _lists.GraphList(held)
    held.put(at, assign(x))  # the array keeps what x is now
    return held


@logged
def array_read(array: Any, i: Any) -> Any:
    """The tensor at place `i` of the array.

    Raises DTypeError for other kinds of arguments, IndexRangeError (an IndexError) for a place that it has not.
    Source: paddle.tensor.array_read.

    Example:
        >>> import vitrify as paddle
        >>> array = paddle.tensor.create_array("float32", [paddle.ones([2]), paddle.zeros([2])])
        >>> paddle.tensor.array_read(array, paddle.to_tensor(1)).tolist()
        [0.0, 0.0]
    """
    at = _place("array_read", i)
    return _array("array_read", array)[int(at) if in_dynamic_mode() else at]


@logged
def array_length(array: Any) -> Any:
    """How many tensors the array holds: an int in dynamic mode, in a program an int64 tensor of shape [1].

    Source: paddle.tensor.array_length.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tensor.array_length([paddle.ones([2])])
        1
    """
    held = _array("array_length", array)
    if in_dynamic_mode():
        return len(held)
    length = held.length() if isinstance(held, _lists.GraphList) else len(held)
    return reshape(length, [1]) if is_tensor(length) else full([1], length, "int64")


@logged
def tensor_array_to_tensor(input: Any, axis: int = 1, use_stack: bool = False, name: str | None = None) -> Any:
    """The tensors of an array joined along `axis` (stacked: use_stack), and the sizes that each has there.

    Source: paddle.tensor.manipulation.tensor_array_to_tensor.

    Example:
        >>> import vitrify as paddle
        >>> array = [paddle.ones([2, 3]), paddle.zeros([2, 1])]
        >>> joined, sizes = paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=1)
        >>> joined.shape, sizes.tolist()
        (paddle.Size([2, 4]), [3, 1])
    """
    held = _array("tensor_array_to_tensor", input)
    joined = _builtins.convert_stack(held, axis) if use_stack else _builtins.convert_concat(held, axis)
    if in_dynamic_mode():
        return joined, stack([full([], item.shape[axis], int32) for item in held])
    sizes = _builtins.mapped(lambda item: full([], 1, int32) * sizes_of(item)[axis], held)
    return joined, cast(_builtins.convert_stack(sizes, 0), int32)


def _place(what: str, i: Any) -> Any:
    if not is_tensor(i) or not i.dtype.is_integer:
        raise DTypeError(f"{what}: i must be an integer tensor, but received {getattr(i, 'dtype', type(i).__name__)}")
    return reshape(i, [])


def _array(what: str, array: Any) -> Any:
    if not isinstance(array, list):
        raise DTypeError(f"{what}: array must be an array of tensors, but received {type(array).__name__}")
    return array


__all__ = ["array_length", "array_read", "array_write", "create_array", "tensor_array_to_tensor"]

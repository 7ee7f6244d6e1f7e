"""What a tensor must be where Python asks it for one number: said alike of eager tensors and of a program's."""

from __future__ import annotations

from collections.abc import Sequence

from .dtype import DType
from .errors import ArgumentError, DTypeError
from .meta import numel


def not_single(what: str, shape: Sequence[int]) -> ArgumentError:
    """The error of `what`, such as `float()`, on a tensor of another size than one element."""
    if what == "item":
        return ArgumentError(f"item: a tensor of shape {list(shape)} has {numel(shape)} elements, expected one")
    return ArgumentError(
        f"{what} needs a tensor with one element, this one has shape {list(shape)}",
        hint="reduce it first, for example with x.any() or x.all()" if what == "bool()" else None,
    )


def assert_single(what: str, shape: Sequence[int]) -> None:
    """Raise ArgumentError where a shape is known to have another number of elements than one."""
    if numel(shape) not in (1, -1):
        raise not_single(what, shape)


def assert_index(dtype: DType) -> None:
    """Raise DTypeError, a TypeError, where a dtype is not of integers or bools: such tensors index and count."""
    if dtype.is_inexact:
        raise DTypeError(f"only integer tensors can be used as an index, got {dtype.name}")

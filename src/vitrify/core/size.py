"""Size: what `x.shape` is, a list that also understands tuples."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

_item = list.__getitem__


class Size(list[Any]):
    """The sizes of a tensor's dimensions: a list, equal to tuples as well, that stays one when it is cut or joined.

    Raises TypeError for items that are no ints. Source: paddle.Size.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2, 3])
        >>> x.shape == (2, 3), x.shape[:1] + (4,), x.shape.numel()
        (True, paddle.Size([2, 4]), 6)
    """

    __slots__ = ()
    __hash__ = None

    def __init__(self, iterable: Iterable[Any] = (), /) -> None:
        super().__init__([_checked(position, item) for position, item in enumerate(iterable)])

    def __getitem__(self, key: Any) -> Any:
        found = _item(self, key)
        return size_of_items(found) if key.__class__ is slice else found

    def __eq__(self, other: object) -> bool:
        return super().__eq__(list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return super().__ne__(list(other) if isinstance(other, tuple) else other)

    def __add__(self, other: Any) -> Any:
        return size_of_items([*self, *other]) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return size_of_items([*other, *self]) if isinstance(other, (list, tuple)) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return size_of_items(list(self) * operator.index(times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def numel(self) -> Any:
        """The number of elements: the product of all sizes, 1 of none."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"paddle.Size({super().__repr__()})"


class _Items(list[Any]):
    """A list laid out as Size that asks nothing of its items."""

    __slots__ = ()


def size_of_items(items: Iterable[Any]) -> Size:
    """Size of items known to be sizes, unchecked: three times as fast, for the attribute that everybody asks for."""
    made: Any = _Items(items)
    made.__class__ = Size
    return made  # type: ignore[no-any-return]  # its class was exchanged, and a cast is a call


def _checked(position: int, item: Any) -> Any:
    """An item as it is kept; whatever is an index (NumPy's ints, 0-D tensors of ints) is an int."""
    if item.__class__ is bool or item.__class__ is int:
        return item
    try:
        return operator.index(item)
    except TypeError:
        raise TypeError(
            f"paddle.Size() takes an iterable of 'int' (item {position} is {type(item).__name__!r})"
        ) from None


__all__ = ["Size", "size_of_items"]

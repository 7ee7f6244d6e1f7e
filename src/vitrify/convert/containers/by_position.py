"""Items of Python's own sequences at a position that a tensor says: one of those that there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ...core.dtype import int64
from ...core.pytree import is_open
from ...eager.layer import Layer
from ...ir.graph_tensor import as_number
from ...ir.program import Variable
from ...ops.compare import equal
from ...ops.like import cast
from ...ops.promote import SCALARS
from ..values.base import builder, is_graph, is_tensor
from ..values.user_errors import note_user_error
from .keys import MAX_KEYS
from .lists import GraphList
from .positions import must_have
from .tuples import GraphTuple

_SEQUENCES = (list, tuple, range, str, bytes, deque)


def is_at_position(owner: Any, key: Any) -> bool:
    """Whether `owner[key]` is one item of a Python sequence of known length, and only the run knows which."""
    if not isinstance(key, Variable) or is_tensor(owner) or is_open(owner):
        return False
    is_sequence = isinstance(owner, _SEQUENCES) or (isinstance(owner, Layer) and hasattr(type(owner), "__len__"))
    is_index = (key.dtype.is_integer or key.dtype.is_bool) and all(size == 1 for size in key.shape)
    return is_sequence and is_index


def at_position(owner: Any, key: Any) -> Any:
    """`owner[key]`."""
    if isinstance(owner, (list, tuple, range)) and (len(owner) > MAX_KEYS or _are_alike(owner)):
        number = _number(key)
        if isinstance(owner, tuple):
            return GraphTuple.of(owner)[number]
        if isinstance(owner, range):
            must_have(len(owner), number, "range object index out of range")
        return (owner if isinstance(owner, GraphList) else GraphList(owner))[number]
    return _chosen(owner, key, lambda position: owner[position])


def item_inside(owner: list[Any] | tuple[Any, ...], position: Any) -> Any:
    """`owner[position]` for a position, counted from the start, that is inside for sure: nothing raises."""
    return _inside(owner, position, 0)


def _inside(owner: list[Any] | tuple[Any, ...], position: Any, number: int) -> Any:
    """The item at the position, which is `number` or one behind it."""
    if number + 1 == len(owner):
        return owner[number]
    is_it = as_number(equal(position, number))
    label = f"{type(owner).__name__}[{number}]"
    return builder().choose(is_it, lambda: owner[number], lambda: _inside(owner, position, number + 1), label)


def put_at_position(owner: Any, key: Any, put: Callable[[int], None]) -> None:
    """`put(position)` for the one that `key` is."""
    _chosen(owner, key, put)


def is_put_at_position(owner: Any, key: Any) -> bool:
    """Whether `owner[key] = value` takes the place of an item that only the run knows, and no operator does that."""
    is_list = isinstance(owner, (list, deque)) and is_at_position(owner, key)
    return is_list and not (isinstance(owner, GraphList) and (len(owner) > MAX_KEYS or _are_alike(owner)))


def sliced(owner: Any, key: slice) -> Any:
    """`owner[key]` for a list or tuple of Python's and bounds that only the run knows."""
    return GraphTuple.of(owner)[key] if isinstance(owner, tuple) else GraphList(owner)[key]


def is_sliced(owner: Any, key: Any) -> bool:
    """Whether `owner[key]` is such a slice."""
    if not isinstance(key, slice) or not isinstance(owner, (list, tuple)) or isinstance(owner, GraphList):
        return False
    return not is_open(owner) and any(map(is_graph, (key.start, key.stop, key.step)))


def _are_alike(owner: Any) -> bool:
    """Whether the items are tensors of one rank and dtype, or numbers: a list of the program holds them by value."""
    kinds = {(len(item.shape), item.dtype) if is_tensor(item) else type(item) for item in owner}
    return len(kinds) == 1 and (is_tensor(owner[0]) or isinstance(owner[0], SCALARS))


def _chosen(owner: Any, key: Any, use: Callable[[int], Any]) -> Any:
    at = _number(key)
    return _found(owner, at + cast(at < 0, int64) * len(owner), use, 0)


def _found(owner: Any, position: Any, use: Callable[[int], Any], number: int) -> Any:
    """What `use` gives for the position, which is `number` or one behind it."""
    if number == len(owner):
        raise note_user_error(_outside(owner, use))
    is_it = as_number(equal(position, number))
    label = f"{type(owner).__name__}[{number}]"
    return builder().choose(is_it, lambda: use(number), lambda: _found(owner, position, use, number + 1), label)


def _number(key: Any) -> Any:
    return cast(key.reshape([]) if key.shape else key, int64)


def _outside(owner: Any, use: Callable[[int], Any]) -> Exception:
    """What Python raises for a position behind the last item."""
    try:
        use(len(owner))
    except Exception as err:  # noqa: BLE001 - whatever the sequence raises
        return err
    return IndexError(f"{type(owner).__name__} index out of range")

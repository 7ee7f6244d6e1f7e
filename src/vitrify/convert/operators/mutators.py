"""Which library functions change a container, so that a traced region can undo and merge the change."""

from __future__ import annotations

import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
from typing import Any

from ...core.pytree import OpenDict, OpenList, OverList
from ...transformers import BLIND_METHODS
from ..guards.observe import current_observer
from ..guards.written import note_stored
from ..state.journal import is_nested, note_write
from ..state.places import ContentPlace, ItemPlace

MUTATORS: dict[Any, frozenset[str]] = {
    list: frozenset({"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}),
    dict: frozenset({"update", "pop", "popitem", "setdefault", "clear"}),
    set: frozenset(
        {"add", "update", "discard", "remove", "pop", "clear", "difference_update", "intersection_update"}
        | {"symmetric_difference_update"}
    ),
}
MUTATORS[defaultdict] = MUTATORS[dict]
MUTATORS[OrderedDict] = MUTATORS[dict] | {"move_to_end"}
MUTATORS[Counter] = MUTATORS[dict] | {"subtract"}
MUTATORS[deque] = MUTATORS[list] | {"appendleft", "extendleft", "popleft", "rotate"}

_SPECIAL = frozenset({"__setitem__", "__delitem__", "__iadd__", "__ior__", "__iand__", "__isub__", "__ixor__"})
_ATTRIBUTES = frozenset({"__setattr__", "__delattr__"})
_READING = "__getattribute__"
_FIRST_ARGUMENT = frozenset(
    {heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop}
    | {bisect.insort_left, bisect.insort_right}
)
"""Library functions that change the list given first."""


def mutators_of(cls: type) -> frozenset[str]:
    """The names of the class's methods that change its content; none for other classes."""
    return next((MUTATORS[base] for base in cls.__mro__ if base in MUTATORS), frozenset())


def mutator(method: Any) -> Callable[..., Any] | None:
    """A bound method that changes its container, noting that, so that it is undone, merged and done again.

    None for other methods. It is noted by each call: where a tensor decides about an argument, each path has its own.
    """
    owner, name = method.__self__, method.__name__
    known = mutators_of(type(owner))
    if name not in known and not (known and name in _SPECIAL):
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        observer = current_observer()
        blind = name in BLIND_METHODS and not is_nested()
        if observer is not None and not blind:
            observer.content_matters(owner)
        note_write(ContentPlace(owner))
        if observer is not None and blind and not _is_made_inside(owner):
            observer.call(owner, name, args, kwargs)
        return method(*args, **kwargs)

    return call


def _is_made_inside(owner: Any) -> bool:
    """Whether a container was made by the trace: no run calls its methods again, and who watches need not hold it."""
    return isinstance(owner, (OpenDict, OpenList)) and owner.block is not None


def writing(function: Any) -> Callable[..., Any] | None:
    """A library function that writes to its first argument, or reads of it, noting that; None for other functions.

    Such are `list.append(xs, v)`, `heapq.heappush(heap, v)`, `object.__setattr__(self, 'x', v)`.
    """
    if isinstance(function, MethodWrapperType):
        if function.__name__ == _READING:
            return partial(_read_past, function, function.__self__)
        return _attribute_method(function) if function.__name__ in _ATTRIBUTES else None
    if isinstance(function, (MethodDescriptorType, WrapperDescriptorType)):
        if function.__name__ == _READING:
            return lambda owner, name: _read_past(partial(function, owner), owner, name)
        if function.__name__ in _ATTRIBUTES:
            return _noting(function, _note_attribute)
        known = mutators_of(function.__objclass__)
        is_writer = function.__name__ in known or (known and function.__name__ in _SPECIAL)
        return _noting(function, _note_content) if is_writer else None
    if isinstance(function, BuiltinFunctionType) and function in _FIRST_ARGUMENT:
        return _noting(function, _note_content)
    return None


def _noting(function: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (OpenDict, OpenList, OverList)) and hasattr(function, "__objclass__"):
            return getattr(args[0], function.__name__)(*args[1:], **kwargs)
        note(*args)
        return function(*args, **kwargs)

    return call


def _read_past(read: Callable[[str], Any], owner: Any, name: str) -> Any:
    """`read(name)`, an attribute as Python's own `__getattribute__` finds it, noted by who watches."""
    value, observer = read(name), current_observer()
    return value if observer is None else observer.attribute(owner, name, value)


def _attribute_method(function: MethodWrapperType) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        _note_attribute(function.__self__, *args)
        return function(*args)

    return call


def note_content(owner: Any) -> None:
    """Tell who watches that all that `owner` holds is about to change, in a way that depends on what it holds."""
    observer = current_observer()
    if observer is not None:
        observer.content_matters(owner)
    note_write(ContentPlace(owner))


def note_item(place: ItemPlace) -> None:
    """Tell who watches that an item is about to be written: where a tensor decides, what it holds now matters."""
    observer = current_observer()
    if observer is not None and is_nested():
        observer.content_matters(place.owner)
    note_write(place)


def _note_content(*args: Any) -> None:
    if args:
        note_content(args[0])


def _note_attribute(*args: Any) -> None:
    if len(args) > 1:
        note_stored(args[0], args[1])

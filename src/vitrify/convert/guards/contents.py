"""What a program read inside of objects that are no plain containers: arrays, buffers, containers of other classes."""

from __future__ import annotations

import array
import functools
from collections import ChainMap, UserDict, UserList, UserString, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from types import MappingProxyType
from typing import Any

import numpy as np

from ...core.made import own_names
from ...ir.content_hash import hash_of_bytes
from ..values.base import Undefined
from .kinds import Expected, Found, Guard, SomeContainer, Source

BUFFERS = (np.ndarray, bytearray, memoryview, array.array)


@dataclass
class SameBytes(Expected):
    """An array or buffer of the same type, dtype and shape that holds the same."""

    value: Any
    looks_inside = True
    bytes: Any = field(init=False)

    def __post_init__(self) -> None:
        self.bytes = _content(self.value)

    def fits(self, value: Any, found: Found) -> bool:
        return value.__class__ is self.value.__class__ and bool(_content(value) == self.bytes)


def has_objects(value: Any) -> bool:
    """Whether it is an array of Python objects, which is a container of them."""
    return isinstance(value, np.ndarray) and value.dtype.hasobject


def _content(value: Any) -> tuple[Any, ...]:
    held = np.asarray(value)
    return held.dtype, held.shape, hash_of_bytes(np.ascontiguousarray(held).view(np.uint8).data)


@dataclass
class SameItems(SomeContainer):
    """A container of the same type with the very items that it had; what they hold is not looked into."""

    items: Sequence[Any]
    looks_inside = True

    def fits(self, value: Any, found: Found) -> bool:
        if not super().fits(value, found):
            return False
        items = list(members(value)[1])
        return len(items) == len(self.items) and all(map(is_, items, self.items))


@dataclass
class Members(SomeContainer):
    """A container of the same type with the same keys, each member as expected; asked past methods of the user's."""

    keys: list[Any]
    expected: Sequence[Expected]
    looks_inside = True

    def fits(self, value: Any, found: Found) -> bool:
        if not super().fits(value, found):
            return False
        keys, items = members(value)
        held = list(items)
        if len(held) != len(self.expected) or list(keys) != self.keys:
            return False
        return all(expected.fits(item, found) for expected, item in zip(self.expected, held))

    def parts(self) -> Sequence[Expected]:
        return self.expected


@dataclass
class SameNames(Expected):
    """Attributes of these names, in this order."""

    names: list[str]
    looks_inside = True

    def fits(self, value: Any, found: Found) -> bool:
        return bool(value == self.names)


def same_names(owner: Any, before: Mapping[Any, tuple[Any, Any]]) -> Guard:
    """The guard that an object has attributes of the names that it had. before: what the trace found in places."""
    places = [(name, before.get((id(owner), name))) for name in own_names(owner)]
    names = [name for name, held in places if held is None or not isinstance(held[1], Undefined)]
    source = Source(f"the names of a {type(owner).__name__}'s attributes", lambda: list(own_names(owner)))
    return Guard(source, names, SameNames(names), (id(owner), "names of attributes"))


Held = tuple[Iterable[Any], Iterable[Any]]


def _of_mapping(value: Any) -> Held:
    return dict.keys(value), dict.values(value)


def _of_sequence(iterate: Callable[[Any], Iterable[Any]]) -> Callable[[Any], Held]:
    return lambda value: ((), iterate(value))


def _of_partial(value: Any) -> Held:
    positional = (value.func, *value.args)
    return (*range(len(positional)), *value.keywords), (*positional, *value.keywords.values())


def _of_array(value: Any) -> Held:
    return (value.dtype, *np.ndindex(value.shape)), (value.shape, *value.ravel().tolist())


_KINDS: Mapping[type, Callable[[Any], Held]] = {
    dict: _of_mapping,
    list: _of_sequence(list.__iter__),
    tuple: _of_sequence(tuple.__iter__),
    deque: _of_sequence(deque.__iter__),
    UserDict: lambda value: _of_mapping(value.data),
    UserList: lambda value: ((), value.data),
    UserString: lambda value: ((), [value.data]),
    ChainMap: lambda value: ((), value.maps),
    MappingProxyType: lambda value: (value.keys(), value.values()),
    functools.partial: _of_partial,
    np.ndarray: _of_array,  # of objects
}


def members(value: Any) -> Held:
    """The keys (none where there are only positions) and the items of what has members."""
    return next(read(value) for kind, read in _KINDS.items() if isinstance(value, kind))


WITH_MEMBERS = tuple(_KINDS)

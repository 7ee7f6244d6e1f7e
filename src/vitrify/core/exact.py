"""Values told apart where `==` does not: 1, True and 1.0, and 0.0 and -0.0. Programs read such values as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def exact(value: Any) -> Any:
    """What equals another value's only if both are the same to a program."""
    cls = value.__class__
    if cls is float:
        return cls, value.hex()
    if cls is complex:
        return cls, value.real.hex(), value.imag.hex()
    if cls is tuple:
        return cls, *map(exact, value)
    return cls, value


class ExactKeys(tuple[Any, ...]):
    """Keys of a dict, as part of a structure."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or not tuple.__eq__(self, other):
            return False
        return [*map(exact, self)] == [*map(exact, other)]

    def __ne__(self, other: object) -> bool:
        return not ExactKeys.__eq__(self, other)

    __hash__ = tuple.__hash__


def keys_of(items: Iterable[Any]) -> tuple[Any, ...]:
    """The keys of a dict in their order: a plain tuple where all are texts."""
    keys = tuple(items)
    return keys if all(key.__class__ is str for key in keys) else ExactKeys(keys)

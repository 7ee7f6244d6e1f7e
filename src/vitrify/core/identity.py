"""Keys compared by identity: of objects without a hash, and of code, which Python compares by content."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ById:
    """A key that is an object itself, not what it holds; the key keeps the object alive.

    Code objects need one: those of two files may be equal, and comparing equal ones takes Python twice as long with
    each function that is nested in another.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"<{type(self.value).__name__} object>"


class WeakIdentityMap(Generic[K, V]):
    """What is known of objects, by identity, for as long as they live.

    >>> def f(): ...
    >>> names = WeakIdentityMap()
    >>> names.put(f, "f")
    >>> names.get(f)
    'f'
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[K], V]] = {}

    def put(self, key: K, value: V) -> None:
        """Know `value` of `key` from here on."""
        self._held[id(key)] = weakref.ref(key, self._forgetting(id(key))), value

    def get(self, key: K) -> V | None:
        """What is known of `key`; None if nothing is."""
        found = self._held.get(id(key))
        return None if found is None or found[0]() is not key else found[1]

    def _forgetting(self, number: int) -> Callable[[weakref.ref[K]], None]:
        def forget(gone: weakref.ref[K]) -> None:
            found = self._held.get(number)
            if found is not None and found[0] is gone:  # else the number is another object's by now
                del self._held[number]

        return forget

"""Bounded caches that can be listed, measured and cleared: `vitrify.caches()`."""

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import itemgetter
from threading import RLock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from .errors import ArgumentError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class CacheStats:
    """How a cache has been used: look-ups that found a value, that did not, and entries dropped for room."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0


class _Entry(Generic[V]):
    """A value and when it was last asked for."""

    __slots__ = ("used", "value")

    def __init__(self, value: V, used: int) -> None:
        self.value = value
        self.used = used


class BoundedCache(Generic[K, V]):
    """A mapping that keeps the `limit` most recently used entries. Safe under threads.

    Finding an entry takes no lock: it reads one dict and stores when that was, so that threads which share a cache do
    not wait for each other. (The count of hits may miss some when they do it at once.) Keys are compared by equality,
    so a key must hold everything that its value was built from.

    >>> squares = BoundedCache("squares", limit=2)
    >>> [squares.get_or_build(n, lambda: n * n) for n in (1, 2, 1, 3)]
    [1, 4, 1, 9]
    >>> squares
    <cache squares: 2 of 2 entries, 1 hits, 3 misses, 1 evictions>
    """

    def __init__(self, name: str, limit: int) -> None:
        if limit < 1:
            raise ArgumentError(f"cache {name!r}: the limit is 1 entry or more, but received {limit}")
        self.name = name
        self.limit = limit
        self._entries: dict[K, _Entry[V]] = {}
        self._clock = itertools.count()
        self._oldest: list[tuple[int, K]] = []  # when entries were last used as it was seen once, the oldest last
        # Reentrant, because a value's builder, or a destructor run on eviction, may use this cache again.
        self._lock = RLock()
        self._hits = self._misses = self._evictions = 0
        with _REGISTRY_LOCK:
            _REGISTRY.add(self)

    def get(self, key: K) -> V | None:
        """Return the value for `key`, or None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            self._misses += 1
            return None
        self._hits += 1
        entry.used = next(self._clock)
        return entry.value

    def put(self, key: K, value: V) -> V:
        """Keep `value` for `key`, dropping the least recently used entry if there is no room; return `value`."""
        with self._lock:
            self._entries[key] = _Entry(value, next(self._clock))
            while len(self._entries) > self.limit:
                del self._entries[self._least_recent()]
                self._evictions += 1
        return value

    def _least_recent(self) -> K:
        """Return the key that was used the longest ago.

        Sorting once serves many evictions: what was used since then is younger than all that is left of the list.
        """
        while True:
            while self._oldest:
                used, key = self._oldest.pop()
                entry = self._entries.get(key)
                if entry is not None and entry.used == used:
                    return key
            # A key has no order of its own; no two entries were last used at the same time.
            times = [(entry.used, key) for key, entry in self._entries.items()]
            self._oldest = sorted(times, key=itemgetter(0), reverse=True)

    def get_or_build(self, key: K, build: Callable[[], V]) -> V:
        """Return the value for `key`, building it if there is none. `build` must not return None.

        Two threads that miss at once may both build: holding the lock while building would let a slow build, or one
        that waits for another thread, stop every user of the cache. The first value kept is the one both get.
        """
        value = self.get(key)
        if value is not None:
            return value
        built = build()
        with self._lock:
            kept = self._entries.get(key)
            return self.put(key, built) if kept is None else kept.value

    def discard(self, matches: Callable[[K], bool]) -> None:
        """Drop the entries whose keys match."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                del self._entries[key]
            self._oldest.clear()

    def clear(self) -> None:
        """Drop every entry; the counts of hits and misses stay."""
        with self._lock:
            self._entries.clear()
            self._oldest.clear()

    @property
    def stats(self) -> CacheStats:
        """The counts so far."""
        return CacheStats(self._hits, self._misses, self._evictions)

    def keys(self) -> list[K]:
        """Return the keys, the least recently used first."""
        with self._lock:
            return sorted(self._entries, key=lambda key: self._entries[key].used)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __repr__(self) -> str:
        return (
            f"<cache {self.name}: {len(self)} of {self.limit} entries, "
            f"{self._hits} hits, {self._misses} misses, {self._evictions} evictions>"
        )


_REGISTRY: WeakSet[BoundedCache[Any, Any]] = WeakSet()
_REGISTRY_LOCK = RLock()


def caches() -> list[BoundedCache[Any, Any]]:
    """Return every living cache, by name. Several may share a name: each static function has its own programs."""
    with _REGISTRY_LOCK:
        return sorted(_REGISTRY, key=lambda cache: cache.name)

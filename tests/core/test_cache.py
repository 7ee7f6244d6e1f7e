"""Bounded caches and their list."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core.cache import BoundedCache, CacheStats, caches
from vitrify.core.errors import ArgumentError


def test_a_value_is_built_once():
    built = []
    cache = BoundedCache("squares", limit=4)
    for _ in range(3):
        assert cache.get_or_build(3, lambda: built.append(3) or 9) == 9
    assert built == [3] and cache.stats == CacheStats(hits=2, misses=1)


def test_the_least_recently_used_entry_makes_room():
    cache = BoundedCache("letters", limit=2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert cache.keys() == ["a", "c"] and cache.get("b") is None and cache.stats.evictions == 1


def test_clear_drops_entries_and_keeps_counts():
    cache = BoundedCache("letters", limit=2)
    cache.put("a", 1)
    cache.get("a")
    cache.clear()
    assert len(cache) == 0 and "a" not in cache and cache.stats.hits == 1


def test_caches_lists_the_living():
    cache = BoundedCache("a test's own", limit=2)
    assert cache in caches() and [c.name for c in caches()] == sorted(c.name for c in caches())
    del cache
    gc.collect()
    assert "a test's own" not in [c.name for c in caches()]


def test_a_cache_prints_its_use():
    assert repr(BoundedCache("empty", 8)) == "<cache empty: 0 of 8 entries, 0 hits, 0 misses, 0 evictions>"


def test_a_limit_below_one_is_refused():
    with pytest.raises(ArgumentError, match="'none': the limit is 1 entry or more, but received 0"):
        BoundedCache("none", 0)


def test_a_builder_that_fails_leaves_no_entry():
    cache = BoundedCache("fails", limit=2)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_build(1, lambda: 1 // 0)
    assert 1 not in cache


def test_a_builder_may_use_the_cache():
    cache = BoundedCache("fibonacci", limit=50)

    def fibonacci(n):
        return n if n < 2 else cache.get_or_build(n, lambda: fibonacci(n - 1) + fibonacci(n - 2))

    assert fibonacci(30) == 832040


def test_threads_get_one_and_the_same_value():
    cache = BoundedCache("objects", limit=4)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.get_or_build("k", object), range(200)))
    assert len(set(map(id, found))) == 1


def test_making_room_does_not_look_at_every_entry_each_time():
    class Key:
        looked_up = 0

        def __hash__(self):
            Key.looked_up += 1
            return object.__hash__(self)

    cache = BoundedCache("full", limit=1000)
    for _ in range(3000):
        cache.put(Key(), 1)
    assert cache.stats.evictions == 2000 and Key.looked_up < 20_000


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans())), st.integers(1, 4))
def test_it_acts_as_a_list_of_recent_keys(steps, limit):
    cache, recent = BoundedCache("model", limit), []
    for key, is_put in steps:
        if is_put:
            cache.put(key, key + 1)
        else:
            assert cache.get(key) == (key + 1 if key in recent else None)
        if is_put or key in recent:
            recent = ([k for k in recent if k != key] + [key])[-limit:]
        assert cache.keys() == recent

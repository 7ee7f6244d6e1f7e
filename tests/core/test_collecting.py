"""Pauses of Python's search for cycles."""

import gc
import weakref

from vitrify.core import collecting
from vitrify.core.collecting import collection_paused


class Cycle:
    """An object that only the search finds."""

    def __init__(self):
        self.itself = self
        self.more = [[] for _ in range(100)]


def test_nothing_is_looked_for_inside():
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_unreachable_goes_in_the_end(monkeypatch):
    monkeypatch.setattr(collecting, "LEAST", 1000)
    gc.collect()
    first = weakref.ref(Cycle())
    for _ in range(len(gc.get_objects()) // 50):  # as many objects twice
        with collection_paused():
            Cycle()
        if first() is None:
            break
    assert first() is None

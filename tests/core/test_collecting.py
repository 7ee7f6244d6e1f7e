"""Pauses of Python's search for cycles."""

import gc
import weakref

import pytest

from vitrify.core import collecting
from vitrify.core.collecting import collection_paused


@pytest.fixture(autouse=True)
def thawed():
    """Undo for a test that all which was there when tests began is frozen."""
    gc.unfreeze()
    collecting._PAUSES._frozen_at = -1
    yield
    gc.freeze()


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


def test_what_others_froze_is_counted_once(monkeypatch):
    gc.freeze()
    counted = []
    count = gc.get_freeze_count
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(count()) or counted[-1])
    for _ in range(3):
        with collection_paused():
            pass
    assert len(counted) == 1 and counted[0] > 1000 and count() >= counted[0] > 0


def test_thawed_objects_are_noticed_after_the_next_look(monkeypatch):
    monkeypatch.setattr(collecting._PAUSES, "_known", 0)
    gc.freeze()
    with collection_paused():
        pass
    gc.unfreeze()
    gc.collect()
    with collection_paused():
        pass
    assert collecting._PAUSES._known > 1000

"""Liveness over slots, on paper."""

from vitrify.runtime.liveness import last_uses


def test_a_chain():
    assert last_uses([[0], [1], [2]], [[1], [2], [3]], keep=[3]) == [(0,), (1,), (2,)]


def test_kept_slots_and_later_readers():
    assert last_uses([[0], [0, 1]], [[1], [2]], keep=[0, 2]) == [(), (1,)]


def test_what_nobody_reads_dies_at_once():
    assert last_uses([[0], [0]], [[1, 2], [3]], keep=[3]) == [(1, 2), (0,)]

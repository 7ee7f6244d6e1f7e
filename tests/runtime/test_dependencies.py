"""Hazards, their smallest set of edges, last users and events, against definitions written down naively."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitrify.runtime.access import RANDOM, Access, memory_of
from vitrify.runtime.dependencies import find_dependencies, members
from vitrify.runtime.liveness import last_users
from vitrify.runtime.streams import COMPUTE, D2H, H2D, assign_streams, launch_order, place_events


@st.composite
def programs(draw: st.DrawFn) -> list[Access]:
    """Instructions over a few slots: fresh results, views, changes in place, slots written again, effects."""
    accesses: list[Access] = []
    defined = [0, 1]
    for _ in range(draw(st.integers(1, 14))):
        reads = tuple(draw(st.lists(st.sampled_from(defined), min_size=1, max_size=3)))
        kind = draw(st.sampled_from(["fresh", "fresh", "view", "overwrite", "again", "random", "shape", "host"]))
        out = draw(st.sampled_from(defined[2:])) if kind == "again" and defined[2:] else len(defined)
        accesses.append(
            Access(
                reads,
                (out,),
                views=reads[:1] if kind in ("view", "overwrite") else (),
                overwrites=reads[:1] if kind == "overwrite" else (),
                shapes=frozenset(reads[:1]) if kind == "shape" else frozenset(),
                effects=frozenset({RANDOM} if kind == "random" else ()),
                on_host=reads[:1] if kind == "host" else (),
            )
        )
        if out == len(defined):
            defined.append(out)
    return accesses


def conflict(accesses, memory, a, b):
    """Whether b must not overtake a, by the definition."""
    first, second = accesses[a], accesses[b]

    def touched(access):
        return set().union(*(memory[s] for s in access.reads if s not in access.shapes), set())

    def changed(access):
        return set().union(*(memory[s] for s in access.overwrites), set())

    names = set(first.writes) & {*second.reads, *second.writes} or set(first.reads) & set(second.writes)
    bytes_ = changed(first) & (touched(second) | changed(second)) or touched(first) & changed(second)
    return bool(names or bytes_ or first.effects & second.effects)


def closure(count, pairs):
    reach = [set() for _ in range(count)]
    for b in range(count):
        for a in (a for a, c in pairs if c == b):
            reach[b] |= {a} | reach[a]
    return reach


@settings(max_examples=100, deadline=None)
@given(programs())
def test_the_closure_is_that_of_all_conflicts_and_no_edge_can_go(accesses):
    found = find_dependencies(accesses)
    memory = memory_of(accesses)
    n = len(accesses)
    pairs = [(a, b) for a, b in itertools.combinations(range(n), 2) if conflict(accesses, memory, a, b)]
    wanted = closure(n, pairs)
    assert [set(members(mask)) for mask in found.before] == wanted
    for edge in found.edges:
        assert closure(n, [e for e in found.edges if e != edge]) != wanted


@settings(max_examples=80, deadline=None)
@given(programs())
def test_last_users_are_the_latest_in_every_schedule(accesses):
    order = find_dependencies(accesses)
    for slot, last in last_users(accesses, order, keep=[0]).items():
        users = {i for i, a in enumerate(accesses) if slot in (*a.reads, *a.writes)}
        assert slot != 0
        assert set(last) == {u for u in users if not any(order.happens_before(u, v) for v in users)}


@st.composite
def schedules(draw: st.DrawFn):
    accesses = draw(programs())
    order = find_dependencies(accesses)
    kinds = [draw(st.sampled_from([COMPUTE, COMPUTE, COMPUTE, H2D, D2H])) for _ in accesses]
    costs = [draw(st.floats(0.1, 5.0)) for _ in accesses]
    launches = launch_order(order, costs, kinds)
    streams = assign_streams(order, launches, kinds, costs, draw(st.integers(1, 3)))
    return accesses, order, place_events(accesses, order, launches, streams)


def knowledge(schedule, waits, stops):
    """For each instruction all that are surely done when it starts: stream order, events, and what the host saw."""
    done, last, host = {}, {}, set()
    for index in schedule.order:
        for a in stops[index]:
            host |= {a} | done[a]
        stream = schedule.stream[index]
        before = set(last.get(stream, ())) | host
        for a in waits[index]:
            before |= {a} | done[a]
        done[index] = before
        last[stream] = before | {index}
    return done


@settings(max_examples=100, deadline=None)
@given(schedules())
def test_streams_and_events_keep_every_dependency(drawn):
    accesses, order, schedule = drawn
    assert sorted(schedule.order) == list(range(len(accesses)))
    done = knowledge(schedule, schedule.waits, schedule.stops)
    for b, known in done.items():
        assert set(members(order.before[b])) <= known
    for index in range(len(accesses)):
        waited = (*schedule.waits[index], *schedule.stops[index])
        assert len(set(waited)) == len(waited)


@settings(max_examples=80, deadline=None)
@given(schedules())
def test_no_wait_can_go(drawn):
    _, order, schedule = drawn
    for index, waited in enumerate(schedule.waits):
        for a in waited:
            fewer = list(schedule.waits)
            fewer[index] = tuple(w for w in waited if w != a)
            done = knowledge(schedule, fewer, schedule.stops)
            assert any(not set(members(order.before[b])) <= done[b] for b in done), (index, a)


def test_a_diamond_runs_on_two_streams_with_two_events():
    accesses = [Access((0,), (1,)), Access((1,), (2,)), Access((1,), (3,)), Access((2, 3), (4,))]
    order = find_dependencies(accesses)
    assert order.edges == [(0, 1), (0, 2), (1, 3), (2, 3)]
    launches = launch_order(order, [1.0] * 4, [COMPUTE] * 4)
    streams = assign_streams(order, launches, [COMPUTE] * 4, [1.0] * 4, width=2)
    schedule = place_events(accesses, order, launches, streams)
    assert [str(s) for s in schedule.stream] == ["compute0", "compute0", "compute1", "compute0"]
    assert sum(map(len, schedule.waits)) == 2
    assert schedule.records == {0, 2}


@pytest.mark.parametrize("sequential", [False, True])
def test_independent_instructions(sequential):
    accesses = [Access((0,), (i + 1,)) for i in range(3)]
    assert find_dependencies(accesses, sequential=sequential).edges == ([(0, 1), (1, 2)] if sequential else [])

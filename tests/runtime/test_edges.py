"""Mutation test of the dependency analysis: without any one of its edges, some schedule goes wrong.

Streams keep the order of what they are given, which hides an edge that is missing. So here every instruction has a
stream of its own: what holds two of them in order is their edges alone.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import vitrify as paddle
from tests.runtime import graphs
from tests.runtime.test_simulated import is_missed, plan_of, run, streams_core
from vitrify.device.simulated import SimulatedDevice
from vitrify.runtime.dependencies import Dependencies, members
from vitrify.runtime.streams import COMPUTE, Stream, place_events

QUICK, SLOW, LEAST = 20, 150, 10


@pytest.fixture(autouse=True)
def _small_arrays_in_place_too(monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)


def without_edge(order, a, b):
    """The dependencies without the edge from a to b, and without what followed from it."""
    direct = [mask & ~(1 << a) if index == b else mask for index, mask in enumerate(order.direct)]
    before = []
    for mask in direct:
        reached = mask
        for index in members(mask):
            reached |= before[index]
        before.append(reached)
    return Dependencies(tuple(before), tuple(direct), order.found)


def spread(plan, order):
    """The plan with a stream for each instruction, in step as these dependencies say."""
    streams = [Stream(COMPUTE, index) for index in range(len(plan.accesses))]
    return replace(plan, order=order, schedule=place_events(plan.accesses, order, plan.schedule.order, streams))


def bits(core, plan, seed, delays):
    paddle.seed(seed)
    return [a.tobytes() for a in run(core, plan, graphs.arrays(seed), SimulatedDevice(delays), "none")]


def unnoticed_edges(seeds):
    """How many edges were taken away, one at a time, and those of them that nobody missed."""
    tried, unnoticed = 0, []
    for seed in seeds:
        core = streams_core(seed)
        plan = plan_of(core, 3)
        wanted = bits(core, plan, seed, 0)
        whole = spread(plan, plan.order)
        assert all(bits(core, whole, seed, delays) == wanted for delays in range(3))
        for a, b in plan.order.edges:
            tried += 1
            mutant = spread(plan, without_edge(plan.order, a, b))
            if not is_missed(core, mutant, graphs.arrays(seed), seed, wanted):
                unnoticed.append((seed, a, b))
    return tried, unnoticed


def test_every_edge_that_is_taken_away_is_missed():
    tried, unnoticed = unnoticed_edges(range(QUICK))
    assert tried > LEAST * QUICK
    assert not unnoticed


@pytest.mark.slow
def test_every_edge_of_more_programs_is_missed():
    tried, unnoticed = unnoticed_edges(range(QUICK, QUICK + SLOW))
    assert tried > LEAST * SLOW
    assert not unnoticed

"""Programs on the simulated device: no violation, the same bits as serial, and every event is needed."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.device.simulated import SimulatedDevice, Violation
from vitrify.runtime.stream_run import StreamPlan, StreamRun

PROGRAMS = 2000
CHUNK = 250


def plan_of(core, width):
    constants = [len(core.block.inputs) + i for i, v in enumerate(core._rest) if v is not None]
    return StreamPlan.of(core.instructions, 3, core._outputs, [s for s in constants if s >= 3], width)


def run(core, plan, given, device, gc="fast"):
    frame = [*given, *core._rest]
    outputs = StreamRun(plan, device, core.explained, gc).run(frame)
    device.finish()
    return [outputs[slot] for slot in core._outputs]


def streams_core(seed, count=16):
    return graphs.core(graphs.program(seed, count), mode="streams")


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, PROGRAMS, CHUNK))
def test_random_programs_have_no_violation_and_give_the_same_bits(start, monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)
    for seed in range(start, start + CHUNK):
        given = graphs.arrays(seed)
        made = graphs.program(seed, 16)
        paddle.seed(seed)
        wanted = graphs.core(made, serial=True, inplace=False)(*given)
        core = graphs.core(made, mode="streams")
        rng = random.Random(seed)
        paddle.seed(seed)
        device = SimulatedDevice(seed)
        got = run(core, plan_of(core, rng.randint(1, 3)), given, device, rng.choice(["fast", "event", "none"]))
        for a, b in zip(got, wanted):
            assert a.tobytes() == b.tobytes(), seed


def test_every_event_that_is_taken_away_is_missed(monkeypatch):
    """Mutation test of the analysis: without any one of the events it placed, some schedule goes wrong."""
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)
    tried, unnoticed = 0, []
    for seed in range(60):
        core = streams_core(seed)
        plan = plan_of(core, 3)
        given = graphs.arrays(seed)
        paddle.seed(seed)
        wanted = [a.tobytes() for a in run(core, plan, given, SimulatedDevice(0))]
        for index, waited in enumerate(plan.schedule.waits):
            for awaited in waited:
                tried += 1
                if not is_missed(core, without_wait(plan, index, awaited), given, seed, wanted):
                    unnoticed.append((seed, index, awaited))
    assert tried > 200
    assert not unnoticed


def without_wait(plan, index, awaited):
    waits = list(plan.schedule.waits)
    waits[index] = tuple(a for a in waits[index] if a != awaited)
    return replace(plan, schedule=replace(plan.schedule, waits=tuple(waits)))


def is_missed(core, plan, given, seed, wanted):
    for delays in range(40):
        paddle.seed(seed)
        try:
            got = run(core, plan, given, SimulatedDevice(delays), gc="none")
        except Violation:
            return True
        if [a.tobytes() for a in got] != wanted:
            return True  # random numbers drawn in another order
    return False


def test_memory_is_reused():
    core = streams_core(3, 40)
    peaks = {}
    for gc in ("none", "event", "fast"):
        device = SimulatedDevice(0)
        run(core, plan_of(core, 2), graphs.arrays(3), device, gc)
        peaks[gc] = device.peak
    assert peaks["fast"] < peaks["none"]
    assert peaks["fast"] <= peaks["event"] <= peaks["none"]


def test_what_the_device_reports():
    device = SimulatedDevice(0)
    x = device.put("a", np.ones(2))
    (y,) = device.launch("a", lambda v: (v + 1,), [x], 1, False, None)
    device.read(y)
    device.free(x)
    device.launch("a", lambda v: (v + 1,), [x], 1, False, None)
    device.free(x)
    with pytest.raises(Violation, match="the host reads memory 1 before it waited for a"):
        device.finish()
    assert device.violations[1:] == [
        "a kernel on a uses memory 0 after it was freed",
        "memory 0 is freed twice",
    ]


def test_the_events_of_a_stream_order_another():
    device = SimulatedDevice(1)
    x = device.put("a", np.ones(2))
    device.wait("b", device.record("a"))
    (y,) = device.launch("b", lambda v: (v + 1,), [x], 1, False, None)
    device.synchronize(device.record("b"))
    assert device.read(y).tolist() == [2, 2]
    device.finish()


def test_a_kernel_that_raises_does_so_where_the_host_waits():
    device = SimulatedDevice(2)
    device.launch("a", lambda: 1 / 0, [], 1, False, None)
    with pytest.raises(ZeroDivisionError):
        device.finish()
    device.finish()

"""Programs on the simulated device: no violation, the same bits as serial, and every event is needed."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.device.simulated import SimulatedDevice, Violation
from vitrify.runtime.stream_plan import StreamPlan
from vitrify.runtime.stream_run import StreamRun

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
        peaks[gc] = device.memory.usage.allocated.peak
    assert peaks["fast"] < peaks["none"]
    assert peaks["fast"] <= peaks["event"] <= peaks["none"]


def chain(count=12, size=64):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        inputs = [paddle.static.data(f"x{i}", [size, size]) for i in range(3)]
        y = inputs[0]
        for _ in range(count):
            y = paddle.matmul(y, inputs[1])
    return main, inputs, [y]


def test_what_each_collection_strategy_keeps():
    """fast: what a chain needs at once; event: what the device has not passed yet; none: everything."""
    core = graphs.core(chain(), mode="streams", inplace=False)
    buffer = 64 * 64 * 4
    totals = dict.fromkeys(("fast", "event", "none"), 0)
    for seed in range(8):
        peaks = {}
        for gc in totals:
            device = SimulatedDevice(seed)
            run(core, plan_of(core, 1), graphs.arrays(3, 64), device, gc)
            peaks[gc] = device.memory.usage.allocated.peak
            totals[gc] += peaks[gc]
            if gc != "none":
                assert device.memory.usage.allocated.now == 0
        assert peaks["fast"] <= peaks["event"] <= peaks["none"]
        assert peaks["fast"] <= 6 * buffer  # three fed, two of the chain, the copy that is fetched
        assert peaks["none"] >= (3 + 12) * buffer
    assert totals["fast"] < totals["event"] < totals["none"]


def test_what_another_stream_reads_is_not_reused_too_early(monkeypatch):
    """The pool's own safety: without it, giving memory back at once is a race that the device reports."""

    def race(seed):
        device = SimulatedDevice(seed)
        x = device.put("a", np.ones(1024))
        device.wait("b", device.record("a"))
        (y,) = device.launch("b", lambda v: (v + 1,), [x], 1, False, None, sizes=[8192])
        device.free(x)
        device.put("a", np.zeros(1024))
        device.finish()
        return device.read(y)[0]

    assert [race(seed) for seed in range(20)] == [2] * 20
    monkeypatch.setattr("vitrify.device.pool.StreamPool.use", lambda *_: None)
    with pytest.raises(Violation, match="a kernel on a writes memory 0, which a kernel on b reads"):
        race(0)


def test_pieces_of_memory_are_told_apart():
    """Two small values in the place of a large one: both wait for who read that."""
    device = SimulatedDevice(0)
    x = device.put("a", np.ones(512))
    device.free(x)
    first, second = (device.put("a", np.full(128, value)) for value in (1.0, 2.0))
    assert second.memory[0].address == first.memory[0].address + 1024 == x.memory[0].address + 1024
    device.synchronize(device.record("a"))
    assert device.read(first)[0] == 1 and device.read(second)[0] == 2
    device.finish()


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
    assert device.abandon()
    device.finish()

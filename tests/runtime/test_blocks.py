"""Control flow on streams: blocks run on the device, the host reads what decides, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import branching
from vitrify.device import places
from vitrify.device.simulated import SimulatedDevice, Violation
from vitrify.runtime import blocks, on_streams, stream_run

QUICK, SLOW, CHUNK = 12, 120, 40


def check(seed, **options):
    fn = branching.function(seed)
    wanted = branching.run(fn, seed)
    branching.move(fn, branching.simulated(seed), **options)
    got = branching.run(fn, seed)
    for a, b in zip((*got[0], *got[1]), (*wanted[0], *wanted[1])):
        assert (a is None) == (b is None) and (a is None or a.tobytes() == b.tobytes()), seed


def test_random_branches_and_loops_give_the_same_bits_with_their_gradients():
    for seed in range(QUICK):
        check(seed, gc=("fast", "event", "none")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("start", range(QUICK, QUICK + SLOW, CHUNK))
def test_more_random_branches_and_loops(start):
    for seed in range(start, start + CHUNK):
        check(seed, gc=("fast", "event", "none")[seed % 3])


def test_blocks_run_on_threads_as_well():
    for seed in range(6):
        fn = branching.function(seed)
        wanted = branching.run(fn, seed)
        branching.move(fn, "cpu", mode="streams")
        got = branching.run(fn, seed)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(got[0], wanted[0]))


def newton(x, y):
    while (x * x - y).abs().max() > 1e-5:
        x = (x + y / x) * 0.5
    return x


def test_only_the_condition_of_a_loop_is_read_back(monkeypatch):
    seen = []
    device = SimulatedDevice(3)
    monkeypatch.setattr(on_streams, "device_at", lambda place: device)
    read = device.read
    device.read = lambda value: seen.append(read(value)) or seen[-1]
    fn = paddle.jit.to_static(newton, full_graph=True)
    x, y = paddle.ones([4]), paddle.full([4], 2.0)
    wanted = fn(x, y).numpy()
    branching.move_forward(fn, branching.simulated(3))
    assert fn(x, y).numpy().tobytes() == wanted.tobytes()
    conditions, (result, is_argument) = seen[:-2], seen[-2:]  # whether the loop ran says whether `x` itself is returned
    assert is_argument.tolist() is False
    assert [c.tolist() for c in conditions] == [True] * (len(conditions) - 1) + [False] and len(conditions) > 3
    assert result.shape == (4,)


@pytest.mark.parametrize("left_out", ["start", "end", "streams know"])
def test_what_ties_a_block_to_its_surroundings_is_missed_when_it_is_left_out(monkeypatch, left_out):
    if left_out == "start":
        monkeypatch.setattr(stream_run.StreamRun, "_start", lambda run: None)
    elif left_out == "end":
        monkeypatch.setattr(stream_run.StreamRun, "_left", lambda run, frame: {s: frame[s] for s in run.plan.fetched})
    else:
        monkeypatch.setattr(blocks.Blocks, "_settled", lambda self, outputs: [self._value(v) for v in outputs])
        monkeypatch.setattr(SimulatedDevice, "wait", _forgetful(SimulatedDevice.wait))
    found = 0
    for seed in range(QUICK):
        try:
            check(seed)
        except (Violation, AssertionError, ValueError, TypeError):
            found += 1
    assert found


def _forgetful(wait):
    return lambda self, stream, event: None if stream.kind == "compute" and stream.number else wait(self, stream, event)


def test_prints_inside_a_loop_come_in_order(capsys):
    def count(x):
        i = paddle.zeros([], "int32")
        while i < 3:
            print("at", i)
            x = x + 1
            i = i + 1
        print("end", x.sum())
        return x

    fn = paddle.jit.to_static(count, full_graph=True)
    x = paddle.zeros([2])
    fn(x)
    wanted = capsys.readouterr().out
    branching.move_forward(fn, branching.simulated(5))
    assert fn(x).tolist() == [3, 3]
    assert capsys.readouterr().out == wanted != ""


def test_an_error_inside_a_loop_ends_the_run_and_the_next_one_works():
    def pick(x, n):
        i = paddle.zeros([], "int32")
        while i < n:
            x = paddle.gather(x, paddle.reshape(i, [1]) + 1) + x
            i = i + 1
        return x

    fn = paddle.jit.to_static(pick, full_graph=True)
    x = paddle.ones([4])
    wanted = fn(x, paddle.full([], 3, "int32"))
    branching.move_forward(fn, branching.simulated(1))
    with pytest.raises(Exception) as raised:
        fn(x, paddle.full([], 5, "int32"))
    assert "paddle.gather(x" in str(raised.value) or "gather" in str(raised.value)
    assert fn(x, paddle.full([], 3, "int32")).tolist() == wanted.tolist()


def test_devices_belong_to_places():
    assert isinstance(places.device_at(branching.simulated(2)), SimulatedDevice)
    assert places.is_on_host([np.ones(2)]) and not places.is_on_host([None, "text"])

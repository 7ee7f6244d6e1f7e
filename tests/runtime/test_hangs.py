"""What does not end is reported: who computes what, who waits for whom, with the user's lines."""

from __future__ import annotations

import re
import threading
import weakref

import numpy as np
import pytest

from tests.runtime import blocking
from tests.runtime.blocking import GATE, until
from vitrify.core.config import flags_guard
from vitrify.core.errors import HangError
from vitrify.device.cpu_streams import CpuStreams
from vitrify.device.simulated import SimulatedDevice

X = np.ones(4, "float32")
WANTED = ((1 + 0 + 1 + 2 + 3) * (1 + 4 + 5 + 6 + 7) * X).tolist()
LINE = r"blocking_for_tests\(s\d+\), at .*blocking\.py:\d+"


def report_of(core, *tags):
    """What a run says when operators do not end on other threads than the caller's."""
    GATE.close(*tags, spared=threading.current_thread())
    try:
        with flags_guard({"hang_seconds": 0.05}), pytest.raises(HangError) as caught:
            core(X)
        return str(caught.value)
    finally:
        GATE.release()


def test_streams_say_what_each_waits_for():
    core = blocking.core(mode="streams")
    report = report_of(core, 1)
    assert report.startswith("nothing has ended for 0.05 s\n  the caller waits for stream ")
    assert re.search(rf"  stream compute\d computes s\d+ = {LINE}, \d+ more queued\n", report)
    assert re.search(r"  stream (compute\d|d2h) waits for stream compute\d", report)
    assert "hint: the flag hang_seconds" in report
    assert core(X)[0].tolist() == WANTED


def test_threads_say_what_each_computes_and_what_waits():
    core = blocking.core(mode="threads", threads=2)
    report = report_of(core, 0, 4)  # the first of each chain
    assert re.search(r"  \d of 9 instructions are left; the caller waits for the others\n", report)
    assert re.search(rf"  vitrify-\d+ computes s\d+ = {LINE}\n", report)
    assert re.search(rf"  s\d+ = {LINE} waits for s\d+ = blocking_for_tests\(s0\)\n", report)
    assert core(X)[0].tolist() == WANTED


@pytest.mark.parametrize("mode", ["threads", "streams"])
def test_what_hung_goes_away_once_it_ends(mode):
    core = blocking.core(mode=mode, threads=2)
    array = X.copy()
    alive = weakref.ref(array)
    GATE.close(0, 4, spared=threading.current_thread())
    before = threading.active_count()
    for _ in range(3):  # each leaves its threads behind and starts others
        with flags_guard({"hang_seconds": 0.05}), pytest.raises(HangError):
            core(array)
    del array
    assert blocking.threads_of_runs()
    GATE.release()
    assert until(lambda: threading.active_count() <= before + 4)
    assert until(lambda: alive() is None)
    assert core(X)[0].tolist() == WANTED


def test_work_that_goes_on_is_no_hang(monkeypatch):
    """The time counts from the last thing that ended, not from the start of the wait."""
    device = CpuStreams()
    turns = threading.Semaphore(0)
    for _ in range(8):
        device.launch("a", lambda: (turns.acquire(),), [], 1, False, None)
    end = device.record("a")
    waits = []

    def wait_while_one_more_ends(seconds):
        waits.append(seconds)
        before = device._progress()
        turns.release()
        assert until(lambda: device._progress() > before)
        return len(waits) == 8 and until(end.is_set)

    monkeypatch.setattr(end, "wait", wait_while_one_more_ends)
    with flags_guard({"hang_seconds": 0.1}):
        device.synchronize(end)
    assert waits == [0.1] * 8


def test_zero_waits_for_ever():
    device = CpuStreams()
    pause = threading.Event()
    device.launch("a", lambda: (pause.wait(0.1),), [], 1, False, None)
    with flags_guard({"hang_seconds": 0}):
        device.finish()


def test_a_deadlock_of_the_simulated_device_is_reported():
    device = SimulatedDevice(0)
    device.put("b", X)
    ahead = device.record("b")
    ahead.position += 1  # behind what b has yet to do
    device.wait("a", ahead)
    device.wait("b", device.record("a"))
    with pytest.raises(HangError, match=r"stream a waits for the first 2 items of stream b\n  stream b waits for"):
        device.finish()
    assert device.abandon()
    device.finish()

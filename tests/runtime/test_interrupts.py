"""Ctrl-C: wherever a run is, the caller gets it at once, the other threads end, and the next call is right."""

from __future__ import annotations

import _thread
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import blocking, graphs
from tests.runtime.blocking import GATE, until
from vitrify.device.patience import GRACE

X = np.ones(4, "float32")
WANTED = ((1 + 0 + 1 + 2 + 3) * (1 + 4 + 5 + 6 + 7) * X).tolist()
ROUNDS = 60
MAIN = threading.main_thread()

pytestmark = pytest.mark.usefixtures("interruptible")


def press(times=1, *, releases=False):
    """Press Ctrl-C as soon as a kernel has got to the gate, and as often as this; then open the gate if asked to.

    The thread that does so must have ended before the next test closes the gate.
    """

    def presses():
        GATE.reached.wait(blocking.PATIENCE)
        for _ in range(times):
            time.sleep(0.05)  # for the caller to begin to wait
            signal.pthread_kill(MAIN.ident, signal.SIGINT)
        if releases:
            time.sleep(0.15)  # for the caller to wait for what computes
            GATE.release()

    thread = threading.Thread(target=presses, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
@pytest.mark.parametrize("ends", [True, False], ids=["the kernel ends", "the kernel goes on"])
def test_an_interrupt_while_a_kernel_computes(mode, ends):
    core = blocking.core(mode=mode, threads=2)
    before = threading.active_count()
    GATE.close(0, 4, spared=None if mode == "trace" else MAIN)
    presses = press(releases=ends)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        core(X)
    presses.join()
    assert time.monotonic() - start < GRACE + 2
    GATE.release()
    assert core(X)[0].tolist() == WANTED
    assert until(lambda: threading.active_count() <= before + 4)


@pytest.mark.parametrize("mode", ["threads", "streams"])
def test_a_second_interrupt_does_not_wait_for_what_computes(mode):
    core = blocking.core(mode=mode, threads=2)
    GATE.close(0, 4, spared=MAIN)
    press(2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        core(X)
    assert time.monotonic() - start < GRACE
    GATE.release()
    assert core(X)[0].tolist() == WANTED


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
def test_interrupts_at_any_moment_leave_all_in_order(mode):
    """Many interrupts, at moments that differ: each comes out, and the run after it gives the same bits.

    Slow tests run without coverage, which keeps a lock of its own for ever where an interrupt comes in between.
    """
    core = graphs.core(graphs.program(0, 50), mode=mode, threads=2)
    given = graphs.arrays(0)
    paddle.seed(0)
    wanted = [a.tobytes() for a in core(*given)]
    before = threading.active_count()
    came = 0
    for number in range(ROUNDS):
        timer = threading.Timer(0.0002 * (number % 12), _thread.interrupt_main)
        try:
            timer.start()
            for _ in range(10**6):
                core(*given)
        except KeyboardInterrupt:
            came += 1
        paddle.seed(0)
        assert [a.tobytes() for a in core(*given)] == wanted
    assert came == ROUNDS
    assert until(lambda: threading.active_count() <= before + 4)


SCRIPT = """
import vitrify as paddle

def f(x):
    for _ in range(10):
        x = paddle.tanh(x) @ x
    return x

static = paddle.jit.to_static(f, full_graph=True)
x = paddle.ones([256, 256]) * 0.001
wanted = static(x).numpy().tobytes()
print("ready", flush=True)
try:
    while True:
        static(x)
except KeyboardInterrupt:
    assert static(x).numpy().tobytes() == wanted
    print("right", flush=True)
"""


def test_a_script_that_is_interrupted_ends(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "right\n"
        assert process.wait(30) == 0


INSIDE_OF_AN_IMPORT = """
import vitrify as paddle
from vitrify.jit.segment import CompiledSegment

def interrupted(segment):
    exec("raise KeyboardInterrupt")  # as dataclasses runs a text for each class when a module is imported

CompiledSegment.optimize = interrupted
static = paddle.jit.to_static(lambda x: paddle.tanh(x) + x, full_graph=True)
try:
    for _ in range(10_000):
        static(paddle.ones([256, 256]))
except KeyboardInterrupt:
    print("caught")
"""


def test_an_interrupt_that_was_caught_does_not_end_the_process_after_all(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(INSIDE_OF_AN_IMPORT, encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("caught\n", 0)

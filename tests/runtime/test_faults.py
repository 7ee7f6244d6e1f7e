"""A thousand faults in every mode: each comes out with its line, nothing stays behind, the next run is right."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import vitrify as paddle
from tests.runtime import graphs
from tests.runtime.blocking import until
from tests.runtime.faults import ERRORS, FAULTS, KINDS, TRAPS, FaultyDevice, Made, program
from tests.runtime.test_simulated import plan_of
from vitrify.core.config import flags_guard
from vitrify.device.cpu_streams import CpuStreams
from vitrify.device.simulated import SimulatedDevice
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.stream_run import StreamRun

MODES = ("trace", "threads", "streams", "simulated")
SLOW, FAST = 56, 3
PLACES = [(kind, mode) for kind in KINDS for mode in MODES if kind != "copy" or mode in MODES[2:]]
assert len(PLACES) * SLOW >= 1000

Run = Callable[[], list[bytes]]


def runner(made: Made, mode: str, seed: int, number: int | None = None) -> Run:
    """A run of a program in a mode, as a function that gives the bits of the outputs; the `number`-th copy fails."""
    options = ExecutionOptions(mode="streams" if mode == "simulated" else mode, threads=3)
    core = lower(made.block, outputs=made.outputs, options=options)
    given = graphs.arrays(seed)
    collector = random.Random(seed).choice(["fast", "event", "none"])

    def on_device() -> list[bytes]:
        device: Any = SimulatedDevice(seed) if mode == "simulated" else CpuStreams()
        device = device if number is None else FaultyDevice(device, number)
        try:
            outputs = StreamRun(plan_of(core, 2), device, core.explained, collector).run([*given, *core._rest])
            device.finish()
        except BaseException:
            assert device.abandon(10.0)
            raise
        return [outputs[slot].tobytes() for slot in core._outputs]

    def run() -> list[bytes]:
        paddle.seed(seed)
        if mode == "simulated" or number is not None:
            return on_device()
        return [a.tobytes() for a in core(*given)]

    return run


def failure_of(run: Run, expected: type[BaseException]) -> tuple[str, int]:
    """The text of what a run raises, and how many kernels had begun by then; nothing of it is kept."""
    try:
        run()
    except expected as err:
        return "\n".join([str(err), *getattr(err, "__notes__", ())]), len(TRAPS.started)
    raise AssertionError(f"no {expected.__name__}, after {TRAPS.fired}")


def inject(kind: str, mode: str, seed: int) -> None:
    """One fault, and all that must hold after it."""
    made = program(seed)
    clean = runner(made, mode, seed)
    wanted = runner(made, "trace", seed)()
    TRAPS.started.clear()
    assert clean() == wanted
    rng = random.Random(seed)
    run, tags = clean, []
    if kind == "copy":
        run = runner(made, mode, seed, rng.randrange(5))
    else:
        there = sorted(tag for tag in set(TRAPS.started) if (100 <= tag < 200) == (kind == "callback"))
        tags = rng.sample(there, 1 if kind == "interrupt" else min(len(there), rng.choice([1, 1, 2, 3])))
    TRAPS.faults = dict.fromkeys(tags, FAULTS.get(kind))
    TRAPS.fired.clear()
    try:
        text, started = failure_of(run, ERRORS[kind])
    finally:
        TRAPS.faults = {}
    assert TRAPS.computing == 0 and len(TRAPS.started) == started, "nothing computes any more"
    assert TRAPS.fired or kind == "copy"
    if kind == "copy":
        assert made.file in text
    elif kind != "interrupt":
        places = [f"{made.file}:{made.lines[tag]} " for tag in (TRAPS.fired[:1] if mode == "trace" else TRAPS.fired)]
        assert any(place in text for place in places) and "_for_tests" in text, text
    del run
    if mode == "simulated":
        gc.collect(0)  # its values and memory refer to each other
    assert until(lambda: not TRAPS.alive(), 5), "no array is kept, without the garbage collector"
    assert clean() == wanted


@pytest.fixture(autouse=True)
def _interruptible(request):
    if request.node.callspec.params["kind"] == "interrupt":
        request.getfixturevalue("interruptible")


@pytest.fixture
def _no_collector():
    """Cycles would be found by the garbage collector some time; there must be none that hold arrays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collector")
@pytest.mark.parametrize(("kind", "mode"), PLACES)
def test_a_few_faults(kind, mode):
    several(kind, mode, range(FAST))


@pytest.mark.slow
@pytest.mark.usefixtures("_no_collector")
@pytest.mark.parametrize(("kind", "mode"), PLACES)
def test_a_thousand_faults(kind, mode):
    several(kind, mode, range(FAST, FAST + SLOW))


def several(kind, mode, seeds):
    inject(kind, mode, 0)  # starts the threads that are kept between runs
    before = threading.active_count()
    with flags_guard({"hang_seconds": 20.0}):
        for seed in seeds:
            inject(kind, mode, seed)
    assert until(lambda: threading.active_count() <= before)

"""Several threads in one program: the same numbers as one after the other, errors, and nothing left behind."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.core.config import flags_guard
from vitrify.ops.registry import NoGradient, define_op
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.pool import pool

FAULTS: dict[int, BaseException] = {}


def _faulty_kernel(xp, x, *, tag):
    if tag in FAULTS:
        raise FAULTS[tag]
    return x + tag


faulty = define_op("faulty_for_tests", kernel=_faulty_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("inplace", [True, False])
def test_random_programs_give_the_same_bits(seed, inplace, monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)
    made = graphs.program(seed)
    given = graphs.arrays(seed)
    before = [a.copy() for a in given]
    paddle.seed(seed)
    wanted = graphs.core(made, serial=True, inplace=False)(*given)
    for mode in ("trace", "threads", "streams"):
        core = graphs.core(made, mode=mode, threads=3, inplace=inplace)
        for _ in range(2):
            paddle.seed(seed)
            for a, b in zip(core(*given), wanted):
                assert a.tobytes() == b.tobytes()
    assert all((a == b).all() for a, b in zip(given, before)), "what was fed is never written to"


def wide(tags):
    """A program of independent chains, one a tag."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        outputs = [faulty(paddle.tanh(x), tag=tag) * 2 for tag in tags]
    return main, [x], outputs


@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
@pytest.mark.parametrize("tag", range(6))
def test_a_fault_comes_out_with_its_line_and_the_next_run_is_right(mode, tag):
    core = graphs.core(wide(range(6)), mode=mode, threads=3)
    x = np.ones(4, "float32")
    wanted = [out.tolist() for out in core(x)]
    FAULTS[tag] = OSError("no such disk")
    try:
        with pytest.raises(OSError, match="no such disk") as caught:
            core(x)
        assert any("faulty(paddle.tanh(x)" in note for note in caught.value.__notes__)
    finally:
        FAULTS.clear()
    assert [out.tolist() for out in core(x)] == wanted


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_pass_through(error):
    core = graphs.core(wide(range(4)), mode="threads", threads=2)
    FAULTS[2] = error()
    try:
        with pytest.raises(error):
            core(np.ones(4, "float32"))
    finally:
        FAULTS.clear()
    assert len(core(np.ones(4, "float32"))) == 4


def test_two_faults_at_once_give_one():
    core = graphs.core(wide(range(4)), mode="threads", threads=3)
    FAULTS.update({0: OSError("first"), 1: OSError("second")})
    try:
        with pytest.raises(OSError, match=r"first|second"):
            core(np.ones(4, "float32"))
    finally:
        FAULTS.clear()


def test_a_hung_thread_is_reported():
    started, release = threading.Event(), threading.Event()
    caller = threading.current_thread()

    def hang(xp, x, *, tag):
        if threading.current_thread() is caller:
            assert started.wait(30)  # until another thread has the other operator
        else:
            started.set()
            release.wait(30)
        return x

    hanging = define_op("hanging_for_tests", kernel=hang, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        outputs = [hanging(x, tag=0), hanging(x, tag=1)]
    core = graphs.core((main, [x], outputs), mode="threads", threads=2)
    hung = pytest.raises(RuntimeError, match=r"nothing has ended for 0.05 s(\n.*)*hanging_for_tests")
    with flags_guard({"hang_seconds": 0.05}), hung:
        core(np.ones(4, "float32"))
    release.set()


def test_a_helper_that_comes_late_keeps_no_arrays():
    core = graphs.core(wide(range(4)), mode="threads", threads=2)
    release = threading.Event()
    pool(1).submit(lambda: release.wait(30))  # the only helper there is
    try:
        held = [weakref.ref(out) for out in core(np.ones(4, "float32"))]
        assert not any(ref() is not None for ref in held)
    finally:
        release.set()


def test_a_helper_that_comes_late_keeps_no_arrays_of_a_failed_run(monkeypatch):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        outputs = [faulty(x, tag=0) + x, faulty(x, tag=1) + x]
    core = graphs.core((main, [x], outputs), mode="threads", threads=2)
    monkeypatch.setitem(FAULTS, 0, ValueError("no"))
    release = threading.Event()
    pool(1).submit(lambda: release.wait(30))
    given = np.ones(4, "float32")
    held = weakref.ref(given)
    try:
        with pytest.raises(ValueError, match="no"):
            core(given)
        del given
        FAULTS[0].__traceback__ = None  # it has the frames of the run
        assert held() is None
    finally:
        release.set()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_first_result_that_is_not_finite_is_named(value):
    def f(x):
        y = x + 1
        return (y * 2).sum()

    bad = paddle.to_tensor([1.0, value])
    with flags_guard({"FLAGS_check_nan_inf": True}):
        for fn in (f, paddle.jit.to_static(f, full_graph=True)):
            with pytest.raises(RuntimeError, match=r"add: output 0 \(float32\[2\]\) has"):
                fn(bad)
            assert fn(paddle.to_tensor([1.0, 2.0])).item() == 10


def test_recursive_functions_are_checked_too():
    def countdown(x):
        return x if x.sum() < 0 else countdown(x - 1) / (x - x)

    fn = paddle.jit.to_static(countdown, full_graph=True)
    x = paddle.to_tensor([2.0])
    assert np.isinf(fn(x).numpy()).all() or np.isnan(fn(x).numpy()).all()
    with flags_guard({"FLAGS_check_nan_inf": True}), pytest.raises(RuntimeError, match="divide: output 0"):
        fn(x)


@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
def test_what_a_check_guards_does_not_fail_before_it(mode):
    def take(x):
        if x.shape[0] == 0:
            raise KeyError("nothing to take")
        return x[0] * 2

    static = paddle.jit.to_static(take, input_spec=[paddle.static.InputSpec([None])], full_graph=True)
    block = static.concrete_program.block
    core = lower(block, options=ExecutionOptions(mode=mode))
    for _ in range(20):
        with pytest.raises(KeyError, match="nothing to take"):
            core(np.zeros(0, "float32"))
    assert core(np.ones(2, "float32"))[0].tolist() == 2

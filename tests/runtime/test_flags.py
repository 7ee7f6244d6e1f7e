"""Flags that change how programs run: what each changes in each mode, also after a program was lowered and has run."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.core.config import flags_guard
from vitrify.core.setting import WATCH
from vitrify.ops.registry import NoGradient, define_op
from vitrify.runtime.dependencies import find_dependencies
from vitrify.runtime.on_streams import stream_plan

MODES = ["trace", "threads", "streams"]
SEEN: list[tuple[int, str]] = []
HOOKS = {}


def _traced_kernel(xp, x, *, tag):
    SEEN.append((tag, threading.current_thread().name))
    HOOKS.get(tag, lambda: None)()
    return x + tag


traced = define_op("traced_for_tests", kernel=_traced_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))
shown = define_op(
    "shown_for_tests", kernel=_traced_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"), effect=True
)
X = np.ones((4, 4), "float32")


@pytest.fixture(autouse=True)
def _nothing_seen():
    SEEN.clear()
    yield
    HOOKS.clear()


def two_chains(mode, op=traced):
    """A small chain, then a large independent one: the large one is the more urgent."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4, 4])
        small = op(x, tag=1)
        large = traced(x, tag=2)
        for tag in (3, 4, 5):
            large = traced(large, tag=tag)
    return graphs.core((main, [x], [small, large]), mode=mode, threads=2)


def ran(core):
    """The tags and the threads of one run, in order."""
    SEEN.clear()
    small, large = core(X)
    assert small[0, 0] == 2 and large[0, 0] == 15
    return [tag for tag, _ in SEEN], {thread for _, thread in SEEN}


@pytest.mark.parametrize("mode", MODES)
def test_check_nan_inf(mode):
    core = two_chains(mode)
    core(X)
    bad = np.full((4, 4), np.inf, "float32")
    core(bad)
    with flags_guard({"FLAGS_check_nan_inf": True}), pytest.raises(RuntimeError) as caught:
        core(bad)
    assert "traced_for_tests: output 0 (float32[4, 4]) has 0 NaN and 16 Inf" in str(caught.value)
    assert "in the program it is %traced_for_tests_" in str(caught.value)
    assert "= op(x, tag=1)" in str(caught.value) or "= traced(x, tag=2)" in str(caught.value)
    core(bad)


@pytest.mark.parametrize("mode", MODES)
def test_serial_run_is_one_thread_in_the_order_of_the_program(mode):
    core = two_chains(mode)
    ran(core)
    mine = threading.current_thread().name
    with flags_guard({"FLAGS_new_executor_serial_run": True}):
        assert ran(core) == ([1, 2, 3, 4, 5], {mine})
    _, threads = ran(core)
    assert mode != "streams" or mine not in threads


@pytest.mark.parametrize("mode", MODES)
def test_sequential_run_keeps_the_order_on_threads_and_streams(mode):
    core = two_chains(mode)
    ran(core)
    mine = threading.current_thread().name
    with flags_guard({"FLAGS_new_executor_sequential_run": True}):
        for _ in range(5):
            order, threads = ran(core)
            assert order == [1, 2, 3, 4, 5]
            assert mine not in threads or mode != "streams"
    if mode == "streams":  # else the long chain begins
        assert stream_plan(core).schedule.order[1] == 2
    if mode == "threads":
        assert len(core.choice.order.edges) == 3


def test_sequential_run_beside_threads_that_would_meet():
    """Two operators that wait for each other can only end when they run at once."""
    both = threading.Barrier(2)
    HOOKS[1] = HOOKS[2] = lambda: both.wait(30)
    core = two_chains("threads")
    ran(core)
    HOOKS[1] = HOOKS[2] = lambda: both.wait(0.05)
    for flag in ("new_executor_sequential_run", "new_executor_serial_run", "benchmark"):
        both.reset()
        with flags_guard({flag: True}), pytest.raises(threading.BrokenBarrierError):
            core(X)


@pytest.mark.parametrize("mode", MODES)
def test_benchmark_times_each_instruction(mode):
    core = two_chains(mode)
    ran(core)
    assert " us" not in str(core).split("\n", 1)[1]
    with flags_guard({"FLAGS_benchmark": True}):
        order, threads = ran(core)
        assert order == [1, 2, 3, 4, 5] or mode == "streams"
        ran(core)
    ran(core)
    timed = [line for line in str(core).splitlines() if "2 x " in line and " us" in line]
    assert len(timed) == 5
    assert mode != "streams" or threading.current_thread().name not in threads


def test_benchmark_waits_for_each_stream():
    core = two_chains("streams")
    started, waited = threading.Event(), []
    HOOKS[2] = started.set
    HOOKS[1] = lambda: waited.append(started.wait(30))
    core(X)  # the large chain is started first, or while the small one waits for it
    assert waited == [True]
    assert stream_plan(core).schedule.order.index(stream_plan(core).fed) > stream_plan(core).schedule.order.index(
        stream_plan(core).fed + 1
    )
    running, most = set(), []

    def note(tag):
        running.add(tag)
        most.append(len(running))
        running.discard(tag)

    HOOKS.update({tag: lambda tag=tag: note(tag) for tag in range(1, 6)})
    with flags_guard({"FLAGS_benchmark": True}):
        core(X)
    assert set(most) == {1}


def fail(text):
    raise OSError(text)


@pytest.mark.parametrize("mode", MODES)
def test_deterministic_runs_raise_what_comes_first_in_the_program(mode):
    later = threading.Event()
    HOOKS[1] = lambda: (later.wait(30 if mode != "trace" else 0), fail("earlier"))
    HOOKS[2] = lambda: (later.set(), fail("later"))
    core = two_chains(mode)
    if mode == "threads":
        with pytest.raises(OSError, match="later"):
            core(X)
    later.set()
    for _ in range(3):
        with flags_guard({"FLAGS_cudnn_deterministic": True}), pytest.raises(OSError, match="earlier"):
            core(X)
        if mode == "threads":
            later.clear()  # the later one fails first, on another thread


@pytest.mark.parametrize("mode", MODES)
def test_deterministic_runs_show_what_the_program_would_have_shown(mode):
    """An effect behind an operator that fails is not to be seen, one before it is."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4, 4])
        first = shown(traced(x, tag=1), tag=2)
        broken = traced(x, tag=3)
        second = shown(x, tag=4)
    core = graphs.core((main, [x], [first, broken, second]), mode=mode, threads=2)
    HOOKS[3] = lambda: fail("broken")
    with flags_guard({"FLAGS_cudnn_deterministic": True}):
        for _ in range(5):
            SEEN.clear()
            with pytest.raises(OSError, match="broken"):
                core(X)
            assert {tag for tag, _ in SEEN} == {1, 2, 3}
    HOOKS.clear()
    assert len(core(X)) == 3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("flag", ["new_executor_serial_run", "new_executor_sequential_run", "cudnn_deterministic"])
def test_no_flag_changes_a_bit(seed, flag):
    made, given = graphs.program(seed), graphs.arrays(seed)
    for mode in MODES:
        core = graphs.core(made, mode=mode, threads=3)
        paddle.seed(seed)
        wanted = core(*given)
        paddle.seed(seed)
        with flags_guard({flag: True}):
            assert all((a == b).all() for a, b in zip(core(*given), wanted))


def test_flags_reach_branches_loops_and_gradients():
    def f(x):
        while x.sum() < 100:
            if x.max() > 3:
                x = x * 2
            else:
                x = x + 1
        return x.sum()

    compiled = paddle.jit.to_static(f, full_graph=True)
    for flags in ({}, {"benchmark": True}, {"new_executor_serial_run": True}, {"cudnn_deterministic": True}):
        with flags_guard(flags):
            grads = []
            for fn in (f, compiled):
                x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
                fn(x).backward()
                grads.append(x.grad.tolist())
            assert grads[0] == grads[1]


def test_a_variant_is_lowered_once_and_nothing_is_on_afterwards():
    core = two_chains("threads")
    with flags_guard({"FLAGS_new_executor_serial_run": True}):
        assert WATCH.on
        core(X)
        (made,) = core.variants.values()
        core(X)
        assert list(core.variants.values()) == [made] and made.choice.mode == "trace"
    assert not WATCH.on


def test_flags_hold_in_the_thread_that_set_them():
    core, names = two_chains("streams"), []

    def elsewhere():
        names.append(ran(core)[1])

    with flags_guard({"FLAGS_new_executor_serial_run": True}):
        thread = threading.Thread(target=elsewhere, name="elsewhere")
        thread.start()
        thread.join()
    assert "elsewhere" not in names[0]


def test_set_flags_counts_once():
    for _ in range(2):
        paddle.set_flags({"FLAGS_benchmark": True})
    assert WATCH.on
    paddle.set_flags({"FLAGS_benchmark": False})
    assert not WATCH.on


def test_every_effect_waits_for_all_before_it():
    core = two_chains("threads", op=shown)
    accesses = [instruction.access for instruction in core.instructions]
    assert find_dependencies(accesses, deterministic=True).direct[0] == 0
    assert find_dependencies(accesses[::-1], deterministic=True).before[4] == 0b1111

"""Functions that native programs call: what they give, how deep they go, and when they are left to the interpreter."""

import gc
import re
import resource
import sys
import threading
from _thread import interrupt_main
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import numbers
from tests.end_to_end import recursion as r
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.whole import whole_program, why_not
from vitrify.core.config import flags_guard
from vitrify.core.errors import DepthError
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.whole import Whole
from vitrify.static import InputSpec


def traced(fn, *args, specs=None):
    """The program of a function, its variables and what it gives."""
    static = paddle.jit.to_static(fn, full_graph=True, input_spec=specs)
    with paddle.no_grad():
        if specs is None:
            static(*[paddle.to_tensor(a) if isinstance(a, np.ndarray) else a for a in args])
        return static.concrete_program


def native(concrete):
    """The program as a native one."""
    found = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    assert found is not None, why_not(concrete.block.ops)
    return found


def arrays_of(concrete, args):
    """What the program takes: the arguments that are arrays, and the parameters."""
    given = [np.asarray(a) for a in args if isinstance(a, np.ndarray)]
    missing = len(concrete.block.inputs) - len(given)
    return given + ([p.numpy() for p in concrete.parameters] if missing else [])


# Recursive functions of the table that are none in a native program, and why.
LEFT = {
    "quicksort": "dim_size has no native form",
    "mean_halves": "dim_size has no native form",
    "matrix_power": "eye has no native form",
    "collected": "functions take and give no lists",
    "collected_anew": "functions take and give no lists",
    "prints": "print does more than compute its outputs",
}
GROWS = {"shape_grows", "result_size_varies", "pascal"}
OWN = {"tree_sum", "changed_argument", "reduce_pairs"}  # what they give may be what they are given
CALLS = [(fn, args) for fn, cases in r.CASES for args in cases if fn.__name__ not in OWN]


@pytest.mark.parametrize("fn, args", CALLS, ids=[fn.__name__ for fn, _ in CALLS])
def test_recursive_functions_are_native(fn, args):
    concrete = traced(fn, *args)
    arrays = arrays_of(concrete, args)
    reason = why_not(concrete.block.ops)
    if reason:
        assert LEFT[fn.__name__] == reason
        return
    program = native(concrete)
    if fn.__name__ in GROWS:
        with pytest.raises(NoNativeForm):
            program.plan(arrays)
        return
    options = ExecutionOptions(passes=False, native="never")
    wanted = lower(concrete.block, outputs=concrete.outputs, options=options)(*arrays)
    for out, expected in zip(program(arrays), wanted, strict=True):
        if expected is None:
            assert out is None
        else:
            np.testing.assert_allclose(out, expected, rtol=1e-5)
            assert out.dtype == expected.dtype and out.shape == expected.shape


def polynomial(x, n):
    if n == 0:
        return x
    return polynomial(x, n - 1) * x + x


def evaluated(x, n):
    found = x
    for _ in range(int(n)):
        found = found * x + x
    return found


class _Known:
    """Programs made once, for sizes that are open."""

    def __init__(self):
        self.found = {}

    def __call__(self, fn, dtype):
        if (fn, dtype) not in self.found:
            specs = [InputSpec([None], dtype), InputSpec([], "int64")]
            self.found[fn, dtype] = native(traced(fn, specs=specs))
        return self.found[fn, dtype]


KNOWN = _Known()


@settings(max_examples=60, deadline=None)
@given(size=st.sampled_from([0, 1, 2, 7, 8, 33]), n=st.integers(0, 40), dtype=st.sampled_from(["float32", "float64"]))
@example(size=0, n=0, dtype="float32")
def test_sizes_may_be_open(size, n, dtype):
    x = (numbers(size) / 4).astype(dtype)
    (found,) = KNOWN(polynomial, dtype)([x, np.asarray(n)])
    np.testing.assert_allclose(found, evaluated(x, n), rtol=1e-4, atol=1e-6)
    assert found.dtype == x.dtype and not np.may_share_memory(found, x)


def turns(x, n):
    """Calls in a loop, in a branch and in each other's arguments."""
    total = x * 0
    while n > 0:
        if n % 2 == 1:
            total = total + turns(x + n, n - 2)
        else:
            total = turns(total * 0.5, n - 3) - x
        n = n - 1
    return total + x


@settings(max_examples=20, deadline=None)
@given(size=st.sampled_from([1, 3, 16]), n=st.integers(-1, 7))
def test_calls_in_loops_and_branches(size, n):
    x = numbers(size).astype("float64")
    (found,) = KNOWN(turns, "float64")([x, np.asarray(n)])
    np.testing.assert_allclose(found, turns(paddle.to_tensor(x), paddle.to_tensor(n)).numpy(), rtol=1e-10)


def down(x, n):
    if n == 0:
        return x
    return down(x, n - 1) + x


def test_depth_needs_no_stack():
    program = native(traced(down, np.ones(3), np.asarray(2)))
    found = []

    def deep():
        found.append(program([np.ones(3), np.asarray(9000)]))

    size = threading.stack_size(1 << 16)
    try:
        thread = threading.Thread(target=deep)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert np.array_equal(found[0][0], np.full(3, 9001.0))


def test_depth_is_bounded_as_in_the_interpreter():
    program = native(traced(down, np.ones(3), np.asarray(2)))
    limit = sys.getrecursionlimit()
    deepest = 10 * limit - 1  # the first call is one of a function, too
    assert program([np.ones(3), np.asarray(deepest)]) is not None
    assert program([np.ones(3), np.asarray(deepest + 1)]) is None
    sys.setrecursionlimit(2 * limit)
    try:
        assert program([np.ones(3), np.asarray(deepest + 1)]) is not None
    finally:
        sys.setrecursionlimit(limit)


def test_endless_recursion_says_so_and_frees_its_frames():
    with flags_guard({"native_after_ms": 0}):
        static = paddle.jit.to_static(r.hanoi, full_graph=True)
        for _ in range(3):
            assert static(paddle.to_tensor(3)).item() == 7
        with pytest.raises(DepthError, match=f"calls itself more than {10 * sys.getrecursionlimit()} times") as caught:
            static(paddle.to_tensor(-1))
        assert caught.value.loc.text == "return hanoi(n - 1) * 2 + 1"
        assert static(paddle.to_tensor(3)).item() == 7
    program = native(traced(down, np.ones(100), np.asarray(2)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):  # 10,000 frames of 2 KiB each time
        assert program([np.ones(100), np.asarray(-1)]) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def divided(n, by):
    if n == 0:
        return 100 // by
    return divided(n - 1, by - 1) + 1


def test_what_a_step_refuses_deep_inside_is_raised_by_the_interpreter():
    program = native(traced(divided, np.asarray(3), np.asarray(5)))
    assert program([np.asarray(3), np.asarray(5)])[0] == 53
    assert program([np.asarray(40), np.asarray(40)]) is None
    with flags_guard({"native_after_ms": 0}):
        static = paddle.jit.to_static(divided, full_graph=True)
        for _ in range(3):
            assert static(paddle.to_tensor(3), paddle.to_tensor(5)).item() == 53
        with pytest.raises(Exception) as eager:
            divided(paddle.to_tensor(3), paddle.to_tensor(3))
        with pytest.raises(type(eager.value)):
            static(paddle.to_tensor(3), paddle.to_tensor(3))


def test_many_calls_can_be_interrupted():
    program = native(traced(r.fibonacci, np.asarray(5)))
    timer = threading.Timer(0.05, interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program([np.asarray(70)])
    timer.join()
    assert program([np.asarray(10)])[0] == 55


def test_threads_call_one_function():
    program = native(traced(r.fibonacci, np.asarray(5)))
    known = [0, 1]
    while len(known) < 20:
        known.append(sum(known[-2:]))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda i: int(program([np.asarray(i % 20)])[0]), range(200)))
    assert found == [known[i % 20] for i in range(200)]


@pytest.mark.parametrize("count", [1, 7, 9, 257])
def test_nothing_beside_the_arrays_is_touched(count):
    program = KNOWN(polynomial, "float32")
    x, kept = guarded(count, "float32")
    x[:] = numbers(count) / 4
    np.testing.assert_allclose(program([x, np.asarray(5)])[0], evaluated(x, 5), rtol=1e-4)
    np.testing.assert_allclose(program([x[::-1], np.asarray(5)])[0], evaluated(x[::-1], 5), rtol=1e-4)
    del kept


def test_reference_counts_stay():
    program = KNOWN(polynomial, "float64")
    arrays = [numbers(5).astype("float64"), np.asarray(4)]
    program(arrays)
    before = [sys.getrefcount(a) for a in arrays]
    for _ in range(50):
        program(arrays)
    assert [sys.getrefcount(a) for a in arrays] == before


def shrinks(x):
    if x.sum() < 1:
        return x.sum()
    return shrinks(x[1:]) + 1


def test_arguments_of_ever_other_sizes_are_left_to_the_interpreter():
    with pytest.raises(NoNativeForm):
        native(traced(shrinks, specs=[InputSpec([None], "float32")])).plan([np.ones(50, "float32")])
    with flags_guard({"native_after_ms": 0}):
        static = paddle.jit.to_static(shrinks, full_graph=True, input_spec=[InputSpec([None], "float32")])
        assert [static(paddle.ones([n])).item() for n in (3, 5, 50)] == [3, 5, 50]


def test_frames_of_much_memory_are_left_to_the_interpreter():
    with pytest.raises(NoNativeForm, match="much memory"):
        native(traced(down, np.ones(20000), np.asarray(1))).plan([np.ones(20000), np.asarray(1)])


def of_the_page(x, n):
    if n == 0:
        return x
    return of_the_page(x, n - 1) * x + 1


def test_the_page_shows_the_steps(tmp_path):
    static = paddle.jit.to_static(of_the_page, full_graph=True)
    with flags_guard({"native_after_ms": 0, "dump": "steps", "dump_dir": str(tmp_path)}):
        for _ in range(3):
            assert static(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor(3)).tolist() == [4, 23]
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    assert f"at {Path(__file__).name}:" in text
    shown = re.sub(r" at \S+:\d+", "", text).replace("of_the_page", "polynomial")
    assert f"```\n{shown}\n```" in PAGE.read_text()


PAGE = Path(__file__).parents[2] / "docs" / "compiler.md"


# --- gradients -------------------------------------------------------------------------------------------------------


def tensors(args):
    found = [paddle.to_tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    for x in found:
        if isinstance(x, paddle.Tensor):
            x.stop_gradient = x.dtype.name[:5] != "float"
    return found


def gradients(fn, args):
    """The gradients of all floating results together, for each tensor given."""
    given = tensors(args)
    out = fn(*given)
    outs = [*out.values()] if isinstance(out, dict) else [*out] if isinstance(out, (list, tuple)) else [out]
    wanted = [y.sum() for y in outs if isinstance(y, paddle.Tensor) and not y.stop_gradient]
    if wanted:
        sum(wanted).backward()
    return [x.grad if x.grad is None else x.grad.numpy() for x in given if isinstance(x, paddle.Tensor)]


@pytest.mark.parametrize("fn, args", CALLS, ids=[fn.__name__ for fn, _ in CALLS])
def test_gradients_are_those_of_the_interpreter(fn, args, runs):
    wanted = gradients(fn, args)
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(4):  # as recorded, and native
        for found, expected in zip(gradients(static, args), wanted, strict=True):
            assert (found is None) == (expected is None)
            if found is not None:
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def mixed(x, n):
    if n == 0:
        return x.tanh()
    if n % 3 == 1:
        return mixed(x * 0.75, n - 1) * x
    left = mixed(x.sin(), n - 2) if n > 1 else x
    return left + mixed(left * 0.5, n - 1)


@settings(max_examples=15, deadline=None)
@given(size=st.sampled_from([0, 1, 2, 5]), n=st.integers(0, 7))
def test_gradients_against_differences(size, n):
    x, step = numbers(size).astype("float64"), 1e-6
    with flags_guard({"native_after_ms": 0}):
        static = _MIXED.setdefault(size, paddle.jit.to_static(mixed, full_graph=True))
        for _ in range(3):
            found, _ = gradients(static, [x, np.asarray(n)])

        def value(v):
            return mixed(paddle.to_tensor(v), paddle.to_tensor(n)).sum().item()

        for i in range(size):
            up, down = x.copy(), x.copy()
            up[i] += step
            down[i] -= step
            np.testing.assert_allclose(found[i], (value(up) - value(down)) / (2 * step), rtol=1e-5, atol=1e-8)


_MIXED = {}


def test_forward_and_backward_are_native_calls(runs):
    static = paddle.jit.to_static(polynomial, full_graph=True)
    for _ in range(4):
        gradients(static, [np.ones(3, "float32"), np.asarray(4)])
    before = runs.count
    gradients(static, [np.ones(3, "float32"), np.asarray(7)])
    assert runs.count == before + 2


def test_functions_are_native_where_the_program_around_them_is_not(runs):
    def fn(x, n):
        total = polynomial(paddle.digamma(x), n)
        while n > 0:
            total = total + mixed(paddle.digamma(total + 9), n)
            n = n - 1
        return total

    args = [numbers(3).astype("float64") + 4, np.asarray(3)]
    wanted = gradients(fn, args)
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(4):
        gradients(static, args)
    before = runs.count
    found = gradients(static, args)
    assert runs.count - before >= 8  # four calls, and as many of gradients
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-8)


def test_either_goes_on_with_what_the_other_kept(runs, monkeypatch):
    """Frames made by the interpreter are read by native code, and the other way round."""
    args = numbers(3).astype("float64") / 4, np.asarray(6)
    (wanted, _) = gradients(mixed, args)
    static = paddle.jit.to_static(mixed, full_graph=True)
    for _ in range(4):
        gradients(static, args)
    run, used = Whole.run, list[Whole]()

    def noted(whole, arrays):
        found = run(whole, arrays)
        if found is not None:
            used.append(whole)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Whole, "run", noted)
        gradients(static, args)
    forward, backward = used
    for only in (forward, backward):
        used.clear()
        with monkeypatch.context() as patched:
            patched.setattr(Whole, "run", lambda w, arrays, only=only: noted(w, arrays) if w is only else None)
            (found, _) = gradients(static, args)
        assert used == [only]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_gradients_of_gradients(runs):
    def second(fn, n):
        x = paddle.to_tensor(numbers(3).astype("float64") / 4, stop_gradient=False)
        (first,) = paddle.grad(fn(x, paddle.to_tensor(n)).sum(), x, create_graph=True)
        (first * first).sum().backward()
        return first.numpy(), x.grad.numpy()

    static = paddle.jit.to_static(mixed, full_graph=True)
    for n in (4, 4, 4, 6):
        for found, expected in zip(second(static, n), second(mixed, n), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_deep_gradients(runs):
    static = paddle.jit.to_static(down, full_graph=True)
    for n in (3, 3, 3, 5000):
        (found, _) = gradients(static, [np.ones(2), np.asarray(n)])
        assert np.array_equal(found, np.full(2, n + 1.0))


def test_frames_are_freed(runs):
    static = paddle.jit.to_static(down, full_graph=True)
    for _ in range(4):
        gradients(static, [np.ones(100), np.asarray(3)])
    x = paddle.to_tensor(np.ones(100), stop_gradient=False)

    def kept():
        gc.collect()
        return len(gc.get_objects())

    for n in (500, -1):  # with a result, and deeper than calls may go
        before, memory = kept(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            if n > 0:
                static(x, paddle.to_tensor(n)).sum().backward()
                x.clear_gradient()
            else:
                with pytest.raises(DepthError):
                    static(x, paddle.to_tensor(n))
        assert kept() - before < 200
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100 << 10


def test_threads_differentiate_one_function(runs):
    static = paddle.jit.to_static(down, full_graph=True)
    for _ in range(4):
        gradients(static, [np.ones(2), np.asarray(3)])
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda n: gradients(static, [np.ones(2), np.asarray(n % 50)])[0], range(100)))
    assert all(np.array_equal(found[n], np.full(2, n % 50 + 1.0)) for n in range(100))


def chosen_part(x, y):
    if x.sum() > 0:
        return x * 2
    return y * 3


def test_gradients_that_may_be_missing_are_native_results(runs):
    static = paddle.jit.to_static(chosen_part, full_graph=True)
    for sign in (1, -1) * 10:
        found = gradients(static, [np.full(3, 1.0 * sign), np.ones(3)])
        wanted = gradients(chosen_part, [np.full(3, 1.0 * sign), np.ones(3)])
        for a, b in zip(found, wanted, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b)
    assert runs.count > 4


def test_functions_that_keep_much_share_it_in_the_interpreter():
    with flags_guard({"native_after_ms": 0}):
        static = paddle.jit.to_static(polynomial, full_graph=True)
        for _ in range(4):
            (found, _) = gradients(static, [np.full(1 << 12, 0.5), np.asarray(2)])
    (wanted, _) = gradients(polynomial, [np.full(1 << 12, 0.5), np.asarray(2)])
    np.testing.assert_allclose(found, wanted)

"""Programs with some operators that have no native form: the others run as native calls between them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.test_pointwise import UNKNOWN, block_of
from vitrify.codegen.own_products import any_gemm
from vitrify.codegen.whole import WholeProgram
from vitrify.core.config import flags_guard
from vitrify.core.errors import IndexRangeError
from vitrify.ops.cumulative import logcumsumexp_op
from vitrify.runtime.lowering import lower
from vitrify.runtime.native_runs import NativeRun, _beside_large
from vitrify.runtime.options import ExecutionOptions

pytestmark = pytest.mark.native

F = paddle.nn.functional
NATIVE, PLAIN = ExecutionOptions(passes=True, native="always"), ExecutionOptions(passes=False, native="never")


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype("float32")


def checked(fn, *arrays, metas=None, runs=3, rtol=1e-5):
    """Run by the interpreter alone and with native runs; the core of the latter."""
    block = block_of(fn, *(metas or [(a.shape, a.dtype.name) for a in arrays]))
    core, plain = lower(block, options=NATIVE), lower(block, options=PLAIN)
    for _ in range(runs):
        for out, wanted in zip(core(*arrays), plain(*arrays), strict=True):
            assert out.dtype == wanted.dtype and out.shape == wanted.shape
            np.testing.assert_allclose(out, wanted, rtol=rtol, atol=1e-6)
    return core


def native_runs(core):
    return [part for part in core._parts or [] if isinstance(part, NativeRun)]


FORMLESS = replace(logcumsumexp_op, native=None)


def formless(x, axis=-1):
    """What an operator makes of x that has no native form here."""
    return FORMLESS(x, axis=axis % x.ndim, reverse=False)


def layers(x, w):
    """Two runs of several operators with one that has no native form between them."""
    y = F.softmax(F.relu(paddle.matmul(x, w)) + x.sum(-1, keepdim=True))
    z = formless(y, -1)
    return paddle.matmul(z * 2, w).max(0), z.mean(-1) * y.sum(-1)


def test_operators_between_those_without_a_form_are_native_calls():
    core = checked(layers, numbers(4, 5), numbers(5, 5))
    runs = native_runs(core)
    assert len(runs) == 2 and not any(run._whole.is_none for run in runs)
    assert all(run._whole._program._latest.__name__ == "whole_program" for run in runs)


def test_other_sizes_need_no_other_program():
    metas = [(UNKNOWN, "float32")] * 2
    block = block_of(layers, *metas)
    core, plain = lower(block, options=NATIVE), lower(block, options=PLAIN)
    for rows in (3, 4, 3, 1):
        arrays = numbers(rows, 5), numbers(5, 5)
        for _ in range(3):
            for out, wanted in zip(core(*arrays), plain(*arrays), strict=True):
                np.testing.assert_allclose(out, wanted, rtol=1e-5)
    assert len(native_runs(core)) == 2


def test_runs_end_where_much_is_written():
    """What large operators write is freed between calls; small ones beside them are in the same call."""

    def fn(x, w):
        for _ in range(6):
            x = paddle.tanh(paddle.matmul(x, w))
        return formless(x)

    core = checked(fn, numbers(2048, 256), numbers(256, 256) / 16, rtol=1e-3)
    runs = [[op.op.name for op in run._whole._operators] for run in native_runs(core)]
    assert [op for run in runs for op in run] == ["matmul", "fused"] * 6 and 1 < len(runs) <= 4


def test_views_go_on_behind_a_call():
    """Views of inputs, of what the call makes and of other views are given out, and used by what follows."""

    def fn(x):
        turned = paddle.transpose(x, [1, 0])
        y = F.softmax(x * 2) + 1
        flat = paddle.reshape(y, [-1])
        part = flat[2:5]
        return formless(part), part * 1, turned, formless(paddle.reshape(turned, [-1])), flat, x.sum(0) - 1

    core = checked(fn, numbers(3, 4))
    assert native_runs(core)
    x = numbers(3, 4)
    turned, flat = (core(x)[i] for i in (2, 4))
    assert np.may_share_memory(turned, x) and flat.base is not None


def test_views_that_are_read_inside_and_seen_behind_a_call():
    """As what a product read is, by its gradient: such calls got None for the view, and were never native."""

    def fn(x, w):
        turned = paddle.transpose(x, [1, 0])
        y = paddle.matmul(turned, w) + 1
        flat = paddle.reshape(paddle.reshape(y, [2, -1]), [-1])
        return turned, F.relu(flat * 2 + flat.sum()), flat, formless(y)

    core = checked(fn, numbers(3, 4), numbers(3, 6))
    first = native_runs(core)[0]
    assert first._whole._program.has_run and "matmul" in [op.op.name for op in first._whole._operators]
    x = numbers(3, 4)
    turned, _, flat, _ = core(x, numbers(3, 6))
    assert np.may_share_memory(turned, x) and flat.base is not None


def test_results_are_the_caller_s_own():
    core = checked(layers, numbers(4, 5), numbers(5, 5))
    first = core(numbers(4, 5), numbers(5, 5))
    kept = [a.copy() for a in first]
    second = core(numbers(4, 5, seed=1), numbers(5, 5))
    assert all(np.array_equal(a, b) for a, b in zip(first, kept))
    assert not any(np.may_share_memory(a, b) for a in first for b in second)


def test_an_operator_that_cannot_be_planned_for_is_left_out():
    """Only the dtype of the product says that it has no form: what is around it becomes native nevertheless."""

    def fn(x):
        y = paddle.tanh(x) * x + x.sum(0)
        z = paddle.matmul(paddle.cast(y * 9, "int64"), paddle.cast(y * 9, "int64"), transpose_y=True)
        return formless(paddle.exp(paddle.cast(z, "float32") * 0.01).sum(0) * x.max() - x.min())

    core = checked(fn, numbers(4, 3), rtol=1e-3, runs=5)
    assert [op.op.name for op in core._left_out] == ["matmul"]
    assert native_runs(core) and not any(run._whole.is_none for run in native_runs(core))


def test_errors_name_the_user_s_line_and_change_nothing():
    def fn(x, i):
        y = formless(x, 0) * 2
        rows = F.embedding(i, y)
        return (rows * 2).sum(0) + y.max(0)

    core = checked(fn, numbers(4, 3), np.array([0, 3]))
    assert native_runs(core)
    with pytest.raises(IndexRangeError, match="id 4 is outside") as info:
        core(numbers(4, 3), np.array([0, 4]))
    assert "rows = F.embedding(i, y)" in str(info.value)
    checked(fn, numbers(4, 3), np.array([1, 2]))
    assert len(core(numbers(4, 3), np.array([0, 3]))) == 1


def test_errors_between_the_runs_are_explained():
    def fn(x, i):
        y = F.softmax(x * 2) + x.sum(0)
        return paddle.take_along_axis(y, i, 0, broadcast=False) * 2

    core = checked(fn, numbers(4, 3), np.array([[0, 3, 1]]))
    with pytest.raises(IndexRangeError) as info:
        core(numbers(4, 3), np.array([[0, 9, 1]]))
    assert "paddle.take_along_axis(y, i, 0" in str(info.value)


def test_large_operators_cut_a_program():
    def fn(x, w):
        big = paddle.cumsum(x * 2, 0)  # of several MiB
        small = big.sum(0)
        return F.softmax(paddle.tanh(small) * small), paddle.matmul(small, w) + 1, big

    core = checked(fn, numbers(1024, 512), numbers(512, 8), rtol=1e-4)
    (run,) = native_runs(core)
    assert "sum" not in [i.op.name for i in run._whole._operators]


@pytest.mark.parametrize(("rows", "is_planned"), [(8, True), (4096, False)])
def test_what_writes_much_is_planned_in_parts_at_once(rows, is_planned, monkeypatch):
    planned = []
    plan = WholeProgram.plan
    monkeypatch.setattr(WholeProgram, "plan", lambda p, *given: planned.append(p._is_part) or plan(p, *given))
    checked(lambda x, w: F.relu(paddle.matmul(x, w)).sum(0) * 2, numbers(rows, 256), numbers(256, 512), rtol=1e-4)
    assert planned and (False in planned) == is_planned


def test_large_products_and_convolutions_are_calls_by_themselves():
    def types(fn, *arrays):
        return {i.op.name for run in native_runs(checked(fn, *arrays, rtol=1e-4)) for i in run._whole._operators}

    x, image = 1e-3 * numbers(600, 60), 1e-3 * numbers(1, 16, 60, 80)
    assert "matmul" in types(lambda x, w: formless(paddle.matmul(x, w), 0), x, numbers(60, 512))
    found = types(lambda x, w: formless(F.conv2d(x, w), 3), image, numbers(20, 16, 3, 3))
    assert ("conv" in found) == (any_gemm(np.dtype(np.float32)) is not None)


def test_running_sums_are_calls_of_any_size():
    """NumPy's go through memory from each sum to the next."""
    x = 1e-2 * numbers(300, 400)
    for axis in (0, 1):
        core = checked(lambda x, axis=axis: formless(paddle.cumsum(x * 2, axis) + 1), x)
        (run,) = native_runs(core)
        assert [op.op.name for op in run._whole._operators] == ["multiply", "cumsum", "add"]
        assert not run._whole.is_none


def test_loops_inside_are_cut_too():
    def fn(x):
        n = x.sum().astype("int64") * 0
        while n < 3:
            x = formless(F.softmax(paddle.matmul(paddle.matmul(x, x, transpose_y=True), x)), 0)
            n = n + 1
        return x

    static = paddle.jit.to_static(fn, full_graph=True)
    x = paddle.to_tensor(numbers(4, 3))
    static(x)
    concrete = static.concrete_program
    core = lower(concrete.block, outputs=concrete.outputs, options=NATIVE)
    for _ in range(3):
        np.testing.assert_allclose(core(numbers(4, 3))[0], fn(x).numpy(), rtol=1e-4)
    (loop,) = (i for i in core.instructions if "cond" in i.attrs or "test" in i.attrs or i.operator.op.name == "while")
    assert native_runs(loop.attrs["body"])


def test_nothing_to_gain_is_left_as_it_is():
    core = checked(lambda x: formless(x * 2, 0) + 1, numbers(3))
    assert core._parts is None


OPS = [
    formless, lambda x: paddle.sort(x, 0), paddle.tanh, lambda x: x * 2 - 1, lambda x: x - x.mean(0), F.softmax,
    lambda x: paddle.cumsum(x, 0), lambda x: paddle.reshape(x, x.shape[::-1]), lambda x: paddle.transpose(x, [1, 0]),
    lambda x: paddle.concat([x[1:], x[:1]]), lambda x: paddle.matmul(x, x, transpose_y=True)[:, :2],
]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(OPS) - 1), st.booleans()), min_size=4, max_size=14))
def test_random_chains(steps):
    def fn(x):
        given = []
        for number, is_out in steps:
            x = OPS[number](x) * 0.5
            if is_out:
                given.append(x)
        return (*given, x)

    checked(fn, numbers(3, 4), rtol=1e-4)


def test_views_of_large_products_stay_views():
    """Within a run they would be copied as its results, and large ones cost more than the call between two runs."""

    def fn(x, w):
        y = paddle.matmul(x, w)
        return paddle.reshape(y, [64, 16, 512]), paddle.matmul(paddle.transpose(y, [1, 0]), x)

    core = checked(fn, abs(numbers(1024, 32)), abs(numbers(32, 512, seed=1)))
    views = {i.operator for i in core.instructions if i.operator.op.view}
    assert views and not views & _beside_large([i.operator for i in core.instructions])


def branches(x, w):
    """Two independent chains, with something between that keeps the whole from being one native call."""
    y, z = paddle.matmul(x, w), paddle.matmul(w, x)
    for _ in range(3):
        y, z = F.relu(paddle.matmul(y, w)), F.relu(paddle.matmul(z, x))
    return formless(y), z


def test_where_blas_has_one_thread_products_are_left_to_native_calls_that_share_them(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    metas = [((256, 256), "float32")] * 2
    with flags_guard({"num_threads": 2}):
        core = lower(block_of(branches, *metas), options=ExecutionOptions(passes=True, threads=2))
        assert core.choice.mode == "trace" and "native calls" in core.choice.reason
        for options in (PLAIN, ExecutionOptions(passes=True, native="never")):
            plain = lower(block_of(branches, *metas), options=replace(options, threads=2))
            assert plain.choice.mode == "threads"
    with flags_guard({"num_threads": 1}):
        core = lower(block_of(branches, *metas), options=ExecutionOptions(passes=True, threads=2))
        assert core.choice.mode == "threads"


@pytest.mark.parametrize("way", ["variable", "flag"])
def test_where_one_thread_is_asked_for_products_are_native_calls(monkeypatch, way):
    """They were NumPy's in two threads of Python's, which multiply bfloat16 as float32."""
    monkeypatch.setenv("OMP_NUM_THREADS" if way == "variable" else "OPENBLAS_NUM_THREADS", "1")
    with flags_guard({"num_threads": 1 if way == "flag" else 0}):
        core = lower(block_of(branches, *[((256, 256), "float32")] * 2), options=ExecutionOptions(passes=True))
    assert core.choice.mode == "trace" and "one thread" in core.choice.reason


def test_what_is_cut_off_from_the_gradient_is_no_end_of_a_native_call():
    """Between operators it is what it shows; as a result it lies in the memory of what it shows, as in eager code."""
    seen, fn = [], paddle.jit.to_static(lambda x: (x * 2).detach() * x + x.sum().detach(), full_graph=True)
    call = WholeProgram.__call__
    x = paddle.to_tensor(numbers(3, 4), stop_gradient=False)
    with flags_guard({"native_after_ms": 0}), pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeProgram, "__call__", lambda self, *a: seen.append(call(self, *a)) or seen[-1])
        for _ in range(40):
            x.clear_gradient()
            fn(x).sum().backward()
    assert seen and seen[-1] is not None
    np.testing.assert_allclose(x.grad.numpy(), x.numpy() * 2, rtol=1e-6)


def test_results_that_show_each_other_still_do():
    def given(x):
        y = x * 2
        z = y.detach()
        return y, z, (y + 1).exp()

    fn = paddle.jit.to_static(given, full_graph=True)
    with flags_guard({"native_after_ms": 0}):
        for _ in range(40):
            y, z, _ = fn(paddle.to_tensor(numbers(3, 4)))
        y.zero_()
    assert not z.numpy().any()

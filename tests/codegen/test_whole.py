"""Whole programs as one native call: what they compute, for arrays of all shapes, and when they leave it to others."""

import ctypes
import sys
import threading
from _thread import interrupt_main

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.every_op import is_in_programs, samples
from tests.codegen.test_pointwise import block_of, guarded
from vitrify.codegen import entry
from vitrify.codegen.arena import padded, placed
from vitrify.codegen.blas import gemm
from vitrify.codegen.emit import FLOAT32
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.native import _DESCRIPTIONS
from vitrify.codegen.whole import MAX_REFUSED, WholeProgram, whole_program, why_not
from vitrify.core.config import flags_guard
from vitrify.core.errors import IndexRangeError
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions


def program_of(fn, *metas) -> WholeProgram:
    block = block_of(fn, *metas)
    found = whole_program(block.inputs, block.ops, block.outputs)
    assert found is not None, why_not(block.ops)
    return found


def numbers(*shape, seed=0, dtype="float32"):
    return np.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype(dtype)


def eagerly(fn, *arrays):
    found = fn(*[paddle.to_tensor(a) for a in arrays])
    return [t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])]


def check(fn, *arrays, program=None, rtol=1e-5):
    """Compare the native program with eager code; the program."""
    program = program or program_of(fn, *[(a.shape, a.dtype.name) for a in arrays])
    found = program(arrays)
    assert found is not None
    for out, wanted in zip(found, eagerly(fn, *arrays), strict=True):
        assert out.shape == wanted.shape and out.dtype == wanted.dtype
        np.testing.assert_allclose(out, wanted, rtol=rtol, atol=1e-5)
    return program


def layer(x, w, b):
    return paddle.nn.functional.relu(paddle.nn.functional.linear(x, w, b)).sum(0)


def test_a_program_is_one_call():
    check(layer, numbers(5, 7), numbers(7, 3), numbers(3))


UNKNOWN = [([-1, -1], "float32"), ([-1, -1], "float32"), ([-1], "float32")]
SIZES = st.sampled_from([1, 2, 3, 7, 8, 13, 16, 17, 31])


@settings(max_examples=30, deadline=None)
@given(rows=SIZES, inner=SIZES, columns=SIZES)
def test_one_program_is_for_all_sizes(rows, inner, columns):
    arrays = numbers(rows, inner), numbers(inner, columns), numbers(columns)
    check(layer, *arrays, program=_LAYER.program())


class _Once:
    """A program that is made when it is first asked for, and kept for other sizes."""

    def __init__(self):
        self.found = None

    def program(self):
        self.found = self.found or program_of(layer, *UNKNOWN)
        return self.found


_LAYER = _Once()


def test_another_size_compiles_nothing():
    program = program_of(layer, *UNKNOWN)
    check(layer, numbers(4, 3), numbers(3, 2), numbers(2), program=program)
    misses = _DESCRIPTIONS._misses
    for rows in range(1, 9):
        check(layer, numbers(rows, 3), numbers(3, 2), numbers(2), program=program)
    assert _DESCRIPTIONS._misses == misses


def test_no_elements_at_all():
    def product(x, y):
        return paddle.matmul(x, y) + 1

    check(product, numbers(0, 3), numbers(3, 2))
    check(product, numbers(2, 0), numbers(0, 3))
    check(lambda x: paddle.concat([x, x], 0) * 2, numbers(0, 3))


def reductions(x):
    sums = x.sum(), x.sum(0), x.sum([0, 2]), x.sum([0, 1], keepdim=True)
    return *sums, x.mean(-1, keepdim=True), x.max(1), x.min([1, 2])


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 5), (4, 17, 9), (1, 33, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions(shape, dtype):
    check(reductions, numbers(*shape, dtype=dtype))


def test_reductions_of_integers_and_of_what_is_no_number():
    check(lambda x: (x.sum(0), x.max(0), x.min()), np.arange(-20, 15).reshape(5, 7))
    x = np.array([[1, np.nan, 3] * 5, [np.inf, 2, -np.inf] * 5, [-0.0] * 15], np.float32)
    found = program_of(lambda x: (x.max(1), x.min(1), x.sum(1)), (x.shape, "float32"))([x])
    with np.errstate(invalid="ignore"):
        for out, wanted in zip(found, (x.max(1), x.min(1), x.sum(1))):
            assert np.array_equal(out, wanted, equal_nan=True) and np.array_equal(np.signbit(out), np.signbit(wanted))


def test_sums_are_at_least_as_accurate_as_in_pairs():
    for dtype, exact in (("float32", np.float64), ("float64", np.longdouble)):
        x = (numbers(1, 10007, dtype=dtype) * 1e3).astype(dtype)
        (found,) = program_of(lambda x: (x.sum(1),), (x.shape, dtype))([x])
        wanted = x.sum(1, dtype=exact)
        assert abs(found - wanted) <= np.abs(x.sum(1) - wanted) + np.finfo(dtype).eps * np.abs(wanted)


def views(x, y):
    turned = paddle.transpose(x, [1, 0])
    first, second = paddle.split(y, 2, axis=1)
    joined = paddle.concat([first, second, x], 1) * 2
    return turned[1:4] + 1, joined, paddle.matmul(turned, second[:, ::2]), first + second


def test_views_are_free_and_split_parts_are_not_whole():
    check(views, numbers(5, 6), numbers(5, 8))


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_all_layouts(transposed):
    def product(x, y):
        return paddle.matmul(x, y, *transposed) * 1

    x, y = numbers(3, 4, 5), numbers(3, 5, 6)
    given_x = x.swapaxes(1, 2).copy() if transposed[0] else x
    given_y = y.swapaxes(1, 2).copy() if transposed[1] else y
    program = check(product, given_x, given_y)
    check(product, np.asfortranarray(given_x), given_y[:, ::-1].copy()[:, ::-1], program=program)
    check(product, given_x[:1], given_y)


def test_cross_entropy_and_labels_outside_it():
    x, labels = numbers(6, 5), np.array([0, 4, 2, -100, 1, 3])
    program = check(lambda x, y: paddle.nn.functional.cross_entropy(x, y) * 1, x, labels)
    beyond = np.where(labels < 0, labels, labels + 3)
    assert program([x, beyond]) is None  # the interpreter raises, with the user's line
    fn = paddle.jit.to_static(lambda x, y: paddle.nn.functional.cross_entropy(x, y) * 1, full_graph=True)
    with flags_guard({"native_after_ms": 0}):
        for _ in range(60):
            fn(paddle.to_tensor(x), paddle.to_tensor(labels))
        with pytest.raises(IndexRangeError, match="label 7 is outside"):
            fn(paddle.to_tensor(x), paddle.to_tensor(beyond))


def newton(a, x):
    while paddle.max(paddle.abs(x * x - a) / a) > 1e-5:
        x = (x + a / x) * 0.5
    return x * 1


def swapped(x, y, n):
    while n > 0:
        x, y, n = y, x + y, n - 1
    return x * 1, y * 1


def decided_before(x):
    goes_on = x.sum() > 1
    while goes_on:
        x = x - 1
        goes_on = x.sum() > 1
    return x * 2


def chosen(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y + 1


def _lowered(fn, *arrays):
    """What a converted function gives, by the interpreter and as a native program."""
    static = paddle.jit.to_static(fn, full_graph=True)
    static(*[paddle.to_tensor(a) for a in arrays])
    block, outputs = static.concrete_program.block, static.concrete_program.outputs
    program = whole_program(block.inputs, block.ops, outputs)
    assert program is not None, why_not(block.ops)
    wanted = lower(block, outputs=outputs, options=ExecutionOptions(passes=False, native="never"))(*arrays)
    return program(arrays), wanted


CONTROL = [
    (newton, np.linspace(1, 2, 9).astype(np.float32), np.full(9, 2.0**10, np.float32)),
    (newton, np.ones(3, np.float32), np.ones(3, np.float32)),
    (swapped, numbers(4), numbers(4, seed=1), np.int64(5)),
    (swapped, numbers(4), numbers(4, seed=1), np.int64(0)),
    (decided_before, np.arange(4, dtype=np.float32)),
    (decided_before, -np.ones(4, np.float32)),
    (chosen, numbers(5)),
    (chosen, -np.abs(numbers(5))),
]


@pytest.mark.parametrize("fn, arrays", [(fn, arrays) for fn, *arrays in CONTROL])
def test_loops_and_branches_are_native(fn, arrays):
    found, wanted = _lowered(fn, *[np.asarray(a) for a in arrays])
    assert found is not None
    for out, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(out, expected, rtol=1e-6)
        assert out.dtype == expected.dtype


def test_carried_values_that_grow_are_left_to_the_interpreter():
    def grown(x, n):
        while n > 0:
            x, n = paddle.concat([x, x]), n - 1
        return x

    found, wanted = _lowered(grown, numbers(2), np.asarray(3))
    assert found is None and wanted[0].shape == (16,)


def test_an_endless_loop_can_be_interrupted():
    def endless(x):
        while x.max() > 0:
            x = x * 1
        return x

    static = paddle.jit.to_static(endless, full_graph=True)
    static(paddle.full([2], -1.0))
    concrete = static.concrete_program
    program = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    assert program([-np.ones(2, np.float32)]) is not None
    timer = threading.Timer(0.05, interrupt_main)  # the loop goes on until then, however late that is
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program([np.ones(2, np.float32)])
    timer.join()


def test_results_are_memory_of_their_own():
    program = program_of(lambda x: ((x * 2).reshape([-1]), x + 1), ([2, 3], "float32"))
    x = numbers(2, 3)
    first = program([x])
    kept = [a.copy() for a in first]
    second = program([x + 5])
    assert all(np.array_equal(a, b) for a, b in zip(first, kept))
    assert not any(np.may_share_memory(a, b) for a in first for b in (*second, x))
    assert all(a.base is None and a.flags.owndata for a in first)


def test_outputs_that_share_memory_are_left_to_the_interpreter():
    def shared(x):
        y = x * 2
        return y, y.reshape([-1])

    block = block_of(shared, ([2, 3], "float32"))
    assert whole_program(block.inputs, block.ops, block.outputs) is None
    block = block_of(lambda x: x.reshape([-1]), ([2, 3], "float32"))
    assert whole_program(block.inputs, block.ops, block.outputs) is None


def test_outputs_may_be_inputs_or_come_twice():
    block = block_of(lambda x: x * 2 + 1, ([3], "float32"))
    (y,) = block.outputs
    program = whole_program(block.inputs, block.ops, [y, block.inputs[0], None, y])
    x = numbers(3)
    first, given_back, nothing, again = program([x])
    assert given_back is x and nothing is None and first is again and np.array_equal(first, x * 2 + 1)


def test_a_variable_that_is_written_anew_is_no_input_given_back():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        total = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="running_total")
        x = paddle.static.data("x", [1])
        paddle.static.nn.cond(x > 0, lambda: [paddle.assign(total + x, total), None][1])
    block = program.global_block()
    native = whole_program([x, total], block.ops, [total])
    for value, wanted in ((2.0, 12.0), (-5.0, 10.0)):
        (found,) = native([np.array([value], "float32"), np.array([10.0], "float32")])
        assert found == [wanted]


def test_other_layouts_and_kinds_of_arrays_get_plans_of_their_own():
    x = numbers(6, 8)
    program = program_of(lambda x: paddle.exp(x) * 2 - x, ([-1, -1], "float32"))
    for other in (x[::2], x.T, x[:, ::-1], x[1:2], np.asfortranarray(x)):
        (out,) = program([other])
        np.testing.assert_allclose(out, np.exp(other) * 2 - other, rtol=1e-5)
    scalars = program_of(lambda x: paddle.exp(x) * 2, ([], "float32"))
    assert scalars([np.float32(1)])[0].shape == ()
    assert program([None]) is None
    odd = np.zeros(6 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(6, 8)
    assert odd.flags.aligned or program([odd]) is None


@pytest.mark.parametrize("count", [1, 7, 9, 257])
def test_nothing_beside_the_arrays_is_touched(count):
    def summed(x, y):
        return (x * y + x).sum(0), paddle.concat([x, y]) * 1, (x.max() + y) * 1

    program = program_of(summed, ([-1], "float32"), ([-1], "float32"))
    (x, kept_x), (y, kept_y) = guarded(count, "float32"), guarded(count, "float32")
    x[:], y[:] = numbers(count), 3
    check(summed, x, y, program=program)
    del kept_x, kept_y


lives = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(0, 1000)).map(lambda t: (t[0], t[0] + t[1], t[2])),
    max_size=25,
)


@given(lives)
def test_arrays_that_live_at_the_same_time_lie_apart(lives):
    offsets, total = placed(lives)
    for i, (first, last, size) in enumerate(lives):
        assert offsets[i] % 64 == 0 and offsets[i] + padded(size) <= total
        for j, (other_first, other_last, other_size) in enumerate(lives[:i]):
            if first <= other_last and other_first <= last:
                apart = offsets[i] + size <= offsets[j] or offsets[j] + other_size <= offsets[i]
                assert apart or not (size and other_size)


def test_the_arena_is_as_large_as_what_lives_at_a_time():
    program = program_of(lambda x: (((x.exp() + 1).sum(1, keepdim=True) * x).exp() + 2).sum(), ([64, 64], "float32"))
    assert program.plan([numbers(64, 64)]).arena <= 3 * 64 * 64 * 4


def test_threads_share_a_program():
    program = program_of(layer, *UNKNOWN)
    wrong = []

    def run(seed):
        for rows in range(1, 30):
            arrays = numbers(rows, 9, seed=seed), numbers(9, 4), numbers(4)
            wanted = np.maximum(arrays[0] @ arrays[1] + arrays[2], 0).sum(0)
            (found,) = program(arrays)
            if not np.allclose(found, wanted, rtol=1e-4, atol=1e-4):
                wrong.append((seed, rows))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_reference_counts_stay():
    program = program_of(layer, *UNKNOWN)
    arrays = [numbers(4, 3), numbers(3, 2), numbers(2)]
    for _ in range(3):
        program(arrays)
    before = [sys.getrefcount(v) for v in (*arrays, arrays[0].dtype, None)]
    for _ in range(200):
        program(arrays)
    after = [sys.getrefcount(v) for v in (*arrays, arrays[0].dtype, None)]
    assert before[:3] == after[:3] and all(abs(a - b) < 100 for a, b in zip(before[3:], after[3:]))


def test_large_work_is_left_to_the_interpreter():
    program = program_of(lambda x: paddle.exp(x) * 2, ([-1], "float32"))
    for _ in range(MAX_REFUSED + 1):
        assert program([np.zeros(1 << 20, np.float32)]) is None
    with pytest.raises(NoNativeForm, match="much at a time"):
        program.plan([np.zeros(1 << 20, np.float32)])


def test_what_has_no_native_form_says_so():
    block = block_of(lambda x: paddle.linalg.inv(x), ([3, 3], "float32"))
    assert why_not(block.ops) == "inverse has no native form"
    assert whole_program(block.inputs, block.ops, block.outputs) is None
    with flags_guard({"native": False}):
        block = block_of(lambda x: x * 2 + 1, ([3], "float32"))
        assert whole_program(block.inputs, block.ops, block.outputs) is None


def test_products_are_those_of_the_library():
    assert ctypes.c_void_p(gemm(FLOAT32)).value


def is_as_exact(sample, out, want):
    """Whether a convolution in float32, whose sums may come in any order, is as near to its value in float64 as the
    kernel's.
    """
    if sample.op.name not in ("conv", "conv_input_grad", "conv_weight_grad") or out.dtype != np.float32:
        return False
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in sample.inputs]
    exact = sample.op.on_numpy(*wide, **dict(sample.attrs))
    return np.abs(out - exact).max() <= 2 * np.abs(want - exact).max()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_operator_gives_what_its_kernel_gives(dtype):
    wrong, reached = [], set()
    for key, sample in samples(dtype, is_in_programs).items():
        block = sample.block()
        program = WholeProgram(block.inputs, block.ops, block.outputs)
        try:
            plan = program.plan(sample.arrays)
        except NoNativeForm:
            continue
        found = plan.function(*sample.arrays)
        expected = sample.all_expected()
        expected = expected if isinstance(expected, tuple) else (expected,)
        reached.add(sample.op.name)
        for out, want in zip(found, expected, strict=True):
            want = np.asarray(want)
            fits = out.shape == want.shape and out.dtype == want.dtype
            is_near = fits and np.allclose(out, want, rtol=1e-5, atol=1e-6, equal_nan=True)
            if not is_near and not (fits and is_as_exact(sample, out, want)):
                wrong.append(f"{key}: {out} != {want}")
    assert not wrong, "\n".join(wrong)
    assert {"matmul", "linear", "sum", "mean", "max", "concat", "split", "transpose", "getitem", "reshape"} <= reached


@pytest.mark.parametrize("name", sorted(entry.texts()))
def test_a_part_is_compiled_with_what_it_names(name):
    assert entry.part(name)
    with pytest.raises(KeyError):
        entry.part(f"{name}_of_no_program")

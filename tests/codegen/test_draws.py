"""Random numbers of whole programs: those of the operators, to the bit, and what a run takes of the generator."""

import ml_dtypes
import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import block_of
from tests.codegen.test_whole import numbers, program_of
from vitrify.codegen.whole import whole_program
from vitrify.core.config import flags_guard
from vitrify.core.dtype import as_dtype, int32, int64
from vitrify.core.errors import ArgumentError
from vitrify.core.philox import Key
from vitrify.core.rng import Generator, rng_guard
from vitrify.ops.dropout import keep_mask_op, masked_scale_op
from vitrify.ops.random import gaussian, randint_op
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

F = paddle.nn.functional
SEEDS = [Key(0), Key(7, 400), Key((1 << 64) - 3, (1 << 33) + 8)]


def check(fn, *arrays, tolerance=0.0):
    """Compare the native program with the operators from several states: numbers, and where the generator stands."""
    metas = [(a.shape, as_dtype(a.dtype).name) for a in arrays]
    program, block = program_of(fn, *metas), block_of(fn, *metas)
    core = lower(block, options=ExecutionOptions(passes=False, native="never"))
    for state in SEEDS:
        results = []
        for run in (lambda: program(arrays), lambda: core(*arrays)):
            with rng_guard(Generator()) as generator:
                generator.set_state(state)
                results.append((run(), generator.get_state()))
        (found, after), (wanted, expected) = results
        assert found is not None and after == expected
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            if tolerance and a.dtype.kind in "fV":
                np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=tolerance, atol=tolerance)
            else:
                assert a.tobytes() == b.tobytes()
    return program


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (1,), (31,), (4, 33), (2, 3, 16), (0, 3)])
def test_dropout(shape, dtype):
    x = numbers(*shape).astype(as_dtype(dtype).np)

    def fn(x):
        first, second = F.dropout(x, 0.3), F.dropout(x, 0.5, mode="downscale_in_infer")
        return first, second, keep_mask_op(x, p=0.9, axes=tuple(range(x.ndim)))

    check(fn, x)


def test_draws_that_rows_share_and_ends_of_the_range():
    check(lambda x: (F.dropout(x, 0.5, axis=0), F.dropout(x, 1.0), F.dropout2d(x, 0.25)), numbers(3, 4, 2, 2))
    mask = np.array([[True], [False]])
    check(lambda x, m: masked_scale_op(x, m, factor=1.25), np.array([[1, -0.0], [np.inf, np.nan]], np.float32), mask)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_uniform_numbers(dtype):
    def fn(x):
        first, second = paddle.uniform([3, 7], dtype, 0.0, 1.0), paddle.uniform([40], dtype, min=-3.0, max=5.0)
        return x * 2, first, second, paddle.uniform([33], dtype, seed=5), paddle.uniform([0, 3], dtype)

    check(fn, numbers(2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_normal_numbers(dtype):
    """The same words make them; functions of libm may differ in their last places."""
    eps = float(ml_dtypes.finfo(as_dtype(dtype).np).eps)

    def fn(x):
        first, second = gaussian([3, 7], 0.0, 1.0, 0, dtype), gaussian([4, 16], -1.5, 0.25, 0, dtype)
        return x * 2, first, second, gaussian([1], 0.0, 1.0, 3, dtype), gaussian([2, 0], dtype=dtype), first + 1

    check(fn, numbers(2), tolerance=8 * eps)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integers(dtype):
    def fn(x):
        return x * 2, paddle.randint(0, 10, [3, 7], dtype), paddle.randint(-70, 30, [65], dtype)

    check(fn, numbers(2))


def test_integers_of_the_widest_ranges():
    def fn(x):
        wide = [randint_op(shape=(40,), low=-(2**63), high=high, dtype=int64) for high in (2**63 - 1, -1, 5)]
        return [x * 2, *wide, randint_op(shape=(9,), low=-(2**31), high=2**31, dtype=int32)]

    check(fn, numbers(2))
    with pytest.raises(ArgumentError, match="fewer than 2"):
        paddle.randint(-(2**63), 2**63, [3])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (5,), (4, 33), (0, 3)])
def test_choices(shape, dtype):
    p = np.random.default_rng(0).choice([0.0, 1.0, 0.5, 0.25, 2.0**-20], shape).astype(as_dtype(dtype).np)
    check(lambda p: (paddle.bernoulli(p), paddle.bernoulli(p, 0.75)), p)


def test_a_probability_outside_is_left_to_the_operator_that_says_so():
    program = program_of(lambda p: paddle.bernoulli(p) * 2, ([3], "float32"))
    for wrong in (-0.5, 1.5, np.nan):
        with rng_guard(3) as generator:
            assert program([np.array([0.5, wrong, 1], np.float32)]) is None
            assert generator.get_state() == Key(3, 0)


def test_large_draws_are_those_of_one_thread():
    def fn(x):
        wide, drawn = paddle.uniform([130, 131], "float64"), paddle.randint(0, 1000, [190, 187], "int32")
        return x * 2, paddle.uniform([190, 187]), drawn, wide, paddle.bernoulli(x), F.dropout(x)

    check(fn, np.random.default_rng(0).random((190, 187), np.float32))


def test_what_is_not_drawn_natively():
    drawn = program_of(lambda x: x + 1, ([], "float32"))
    assert drawn([np.float32(1).reshape(())]) is not None
    assert whole_program(*_parts(lambda x: paddle.randperm(3) + x, ([], "int64"))) is None


def _parts(fn, *metas):
    block = block_of(fn, *metas)
    return block.inputs, block.ops, block.outputs


@pytest.mark.parametrize("native", [True, False])
def test_gradients_through_normal_numbers(native):
    """Of a mean and a deviation: ones, and the numbers that were drawn."""

    def sample(mean, std):
        return paddle.normal(mean, std)

    fn = paddle.jit.to_static(sample, full_graph=True) if native else sample
    mean, std = (paddle.to_tensor(a, stop_gradient=False) for a in (numbers(3, 5), numbers(3, 5, seed=1) + 3))
    with flags_guard({"native_after_ms": 0}):
        for _ in range(3):
            mean.clear_gradient()
            std.clear_gradient()
            with rng_guard(5):
                out = fn(mean, std)
            out.sum().backward()
    noise = (out.numpy() - mean.numpy()) / std.numpy()
    np.testing.assert_array_equal(mean.grad.numpy(), np.ones((3, 5), np.float32))
    np.testing.assert_allclose(std.grad.numpy(), noise, rtol=1e-4, atol=1e-6)


def test_a_refusal_gives_back_what_was_drawn():
    def fn(x, i):
        return F.dropout(x, 0.5), F.embedding(i, x)

    program = program_of(fn, ([4, 2], "float32"), ([1], "int64"))
    x = numbers(4, 2)
    with rng_guard(3) as generator:
        assert program([x, np.array([1])]) is not None
        state = generator.get_state()
        assert program([x, np.array([4])]) is None
        assert generator.get_state() == state
        generator.set_state(Key(3, 2))  # no word at which draws begin
        assert program([x, np.array([1])]) is None
        assert generator.get_state() == Key(3, 2)


def test_draws_of_another_in_between_stay():
    generator = Generator(1)
    key = generator.advance(5)
    other = generator.advance(1)
    generator.give_back(key, 5)
    assert other.offset == 8 and generator.get_state() == Key(1, 12)


def in_loops(x, n):
    y = paddle.uniform([3])
    while n > 0:
        x = F.dropout(x, 0.5) + paddle.randn([4])
        if n % 3 == 0:
            x = x * paddle.uniform([33]).sum()
        n = n - 1
    return x, y, paddle.randint(0, 9, [5])


def in_branches(x, n):
    if n > 1:
        x = x + paddle.uniform([4])
    else:
        x = F.dropout(x, 0.5)
    return paddle.uniform([7]) * x.sum()


def kept_in_lists(x, n):
    outs = []
    while n > 0:
        x = F.dropout(x, 0.3)
        outs.append(x)
        n = n - 1
    return outs


@pytest.mark.parametrize("fn", [in_loops, in_branches, kept_in_lists])
def test_draws_that_the_run_counts(fn):
    """In loops and branches: as many as the interpreter makes, from the same place on."""
    static = paddle.jit.to_static(fn, full_graph=True)
    static(paddle.to_tensor(numbers(4)), paddle.to_tensor(2))
    concrete = static.concrete_program
    program = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    core = lower(concrete.block, outputs=concrete.outputs, options=ExecutionOptions(passes=False, native="never"))
    for state in SEEDS:
        for n in (0, 1, 2, 7):
            results = []
            for run in (program, lambda arrays: core(*arrays)):
                with rng_guard(Generator()) as generator:
                    generator.set_state(state)
                    results.append((run([numbers(4), np.asarray(n)]), generator.get_state()))
            (found, after), (wanted, expected) = results
            assert found is not None and after == expected
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def test_what_was_drawn_while_others_drew_is_drawn_again(monkeypatch):
    generator = Generator(1)
    key = generator.get_state()
    assert generator.take(key, 5) and generator.get_state() == Key(1, 8)
    assert not generator.take(key, 5) and generator.get_state() == Key(1, 8)
    static = paddle.jit.to_static(in_loops, full_graph=True)
    static(paddle.to_tensor(numbers(4)), paddle.to_tensor(2))
    concrete = static.concrete_program
    program = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    with rng_guard(5) as generator:
        assert program([numbers(4), np.asarray(3)]) is not None
        before = generator.get_state()
        monkeypatch.setattr(Generator, "take", lambda self, key, words: False)
        assert program([numbers(4), np.asarray(3)]) is None
        assert generator.get_state() == before


def test_functions_that_draw_are_left_to_the_interpreter():
    def fn(x, n):
        return x if n == 0 else fn(F.dropout(x, 0.5), n - 1) * 2

    static = paddle.jit.to_static(fn, full_graph=True)
    static(paddle.to_tensor(numbers(4)), paddle.to_tensor(2))
    concrete = static.concrete_program
    program = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    assert program([numbers(4), np.asarray(3)]) is None


def test_training_with_dropout_draws_as_eager_code_does():
    def losses(compiled):
        paddle.seed(11)
        nn = paddle.nn
        net = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.4), nn.ReLU(), nn.Linear(16, 1))
        opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())

        def step(x):
            loss = (net(x) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        step = paddle.jit.to_static(step, full_graph=True) if compiled else step
        with flags_guard({"native_after_ms": 0}):
            return [float(step(paddle.to_tensor(numbers(6, 5)))) for _ in range(10)]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-5)

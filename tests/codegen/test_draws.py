"""Random numbers of whole programs: those of the operators, to the bit, and what a run takes of the generator."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import block_of
from tests.codegen.test_whole import numbers, program_of
from vitrify.codegen.whole import whole_program
from vitrify.core.config import flags_guard
from vitrify.core.dtype import as_dtype
from vitrify.core.philox import Key
from vitrify.core.rng import Generator, rng_guard
from vitrify.ops.dropout import keep_mask_op, masked_scale_op
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

F = paddle.nn.functional
SEEDS = [Key(0), Key(7, 400), Key((1 << 64) - 3, (1 << 33) + 8)]


def check(fn, *arrays):
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
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
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


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_uniform_numbers(dtype):
    def fn(x):
        return x * 2, paddle.uniform([3, 7], dtype, 0.0, 1.0), paddle.uniform([40], dtype, min=-3.0, max=5.0)

    check(fn, numbers(2))


def test_what_is_not_drawn_natively():
    assert program_of(lambda x: paddle.uniform([3], "float64") + x, ([], "float64"))([np.float64(1)]) is None
    assert program_of(lambda x: paddle.uniform([3], "float32", seed=3) + x, ([], "float32"))([np.float32(1)]) is None


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


def test_draws_in_loops_are_left_to_the_interpreter():
    def fn(x, n):
        while n > 0:
            x, n = F.dropout(x, 0.5), n - 1
        return x

    static = paddle.jit.to_static(fn, full_graph=True)
    arrays = numbers(4), np.asarray(3)
    static(*map(paddle.to_tensor, arrays))
    concrete = static.concrete_program
    program = whole_program(concrete.block.inputs, concrete.block.ops, concrete.outputs)
    assert program(arrays) is None


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

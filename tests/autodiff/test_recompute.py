"""What backward computes once more instead of keeping it: the same numbers, from less memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from vitrify.autodiff.recompute import reading, with_less_kept
from vitrify.autodiff.segment import build_backward
from vitrify.core.config import ACTIVATION_BUDGET
from vitrify.core.errors import StaleBackwardError
from vitrify.ir.clone import clone_program
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

functional = paddle.nn.functional
LARGE = [64, 512]


def traced(f, *shapes):
    """The block of `f` and its inputs and outputs."""
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        given = [paddle.static.data(f"x{i}", shape) for i, shape in enumerate(shapes)]
        for var in given:
            var.stop_gradient = False
        found = f(*given)
    block = program.global_block()
    return block, list(found) if isinstance(found, (list, tuple)) else [found]


def names(variables):
    return {v.name for v in variables}


def kept_by(f, *shapes, budget=1.0):
    """Names of what is kept for backward at first, and with what is recomputed."""
    block, outputs = traced(f, *shapes)
    before = build_backward(block, outputs, range(len(shapes)))
    after = with_less_kept(block, outputs, build_backward(block, outputs, range(len(shapes))), budget)
    return names(before.residuals), names(after.residuals)


def gradients(block, outputs, backward, arrays):
    """What the backward gives for ones, all operators run by NumPy."""
    plain = ExecutionOptions(passes=False)
    forward = lower(block, outputs=[*outputs, *backward.residuals], options=plain)
    results = forward(*arrays)
    cts = [np.ones_like(a) for a in results[: len(outputs)]]
    inner = lower(backward.program.global_block(), options=plain)
    return inner(*results[len(outputs) :], *[cts[i] for i in backward.seeds])


def test_elementwise_values_are_computed_again():
    before, after = kept_by(lambda x: paddle.tanh(x) * paddle.exp(-x * x), LARGE)
    assert {"tanh_0", "exp_0", "x0"} <= before
    assert after == {"x0"}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: paddle.tanh(x),  # an output is in memory anyway
        lambda x: paddle.matmul(functional.gelu(x), x, transpose_y=True),  # a product reads it from memory again
        lambda x: functional.dropout(x) * x,  # other numbers the next time
        lambda x: (paddle.cumsum(x, axis=1) ** 2).sum(),  # no elementwise operator
    ],
)
def test_what_is_kept_nevertheless(f):
    before, after = kept_by(f, LARGE)
    assert before == after


def test_small_values_are_kept():
    before, after = kept_by(lambda x: paddle.tanh(x) * paddle.exp(x), [4, 4])
    assert before == after


def test_inputs_that_were_not_kept_are_not_now():
    """Changing one in place between forward and backward is no error in eager code, either."""
    before, after = kept_by(lambda x, b: paddle.exp(x + b) * 2.0, LARGE, [512])
    assert before == after == {"exp_0"}


def test_a_budget_keeps_inputs_alone():
    def f(x, w, b):
        return paddle.matmul(functional.gelu(paddle.matmul(x, w) + b), w, transpose_y=True)

    before, after = kept_by(f, [256, 64], [64, 128], [128], budget=0.0)
    assert names_of_inputs(before) != before
    assert after == {"x0", "x1", "x2"}


def names_of_inputs(found):
    return {name for name in found if name.startswith("x")}


UNARY = [paddle.tanh, paddle.exp, paddle.square, functional.sigmoid, functional.gelu, lambda x: -x, functional.relu]
BINARY = [paddle.add, paddle.multiply, paddle.subtract, paddle.maximum]


@st.composite
def functions(draw):
    """A function of two arrays, as a list of steps on what there is so far."""
    steps = []
    for count in range(2, draw(st.integers(3, 12))):
        arity = draw(st.sampled_from([1, 1, 2]))
        number = draw(st.integers(0, len((UNARY, BINARY)[arity - 1]) - 1))
        steps.append((arity, number, tuple(draw(st.integers(0, count - 1)) for _ in range(arity))))
    return steps, draw(st.sampled_from([1.0, 0.5, 0.0])), draw(st.booleans())


@given(functions(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_gradients_stay_the_same_to_the_bit(described, seed):
    steps, budget, has_two = described

    def f(x, y):
        values = [x, y]
        for arity, number, operands in steps:
            values.append((UNARY, BINARY)[arity - 1][number](*[values[i] * 0.5 for i in operands]))
        mixed = paddle.matmul(values[-1], values[-2], transpose_y=True)
        return (mixed, values[-1]) if has_two else mixed

    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(LARGE).astype("float32") for _ in range(2)]
    block, outputs = traced(f, LARGE, LARGE)
    whole = build_backward(block, outputs, [0, 1])
    less = with_less_kept(block, outputs, build_backward(block, outputs, [0, 1]), budget)
    if budget == 1.0:
        assert names(less.residuals) <= names(whole.residuals)
    for a, b in zip(gradients(block, outputs, whole, arrays), gradients(block, outputs, less, arrays), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_computed_again_is_said():
    block, outputs = traced(lambda x: functional.dropout(x) * x, LARGE)
    backward = build_backward(block, outputs, [0])
    assert reading(block, backward, set(block.inputs)) is None


@pytest.mark.native
def test_some_cotangents_need_no_whole_forward():
    """Backward from one output of two takes what the whole backward keeps."""

    @paddle.jit.to_static(full_graph=True)
    def f(x):
        return paddle.tanh(x) * x, paddle.exp(x) * x

    x = paddle.randn(LARGE)
    x.stop_gradient = False
    f(x)[0].sum().backward()
    segment = f.program_cache.last().segment
    assert names(segment.backward.residuals) == {"x"}
    assert segment.backward_of((0,)) is not None
    expected = np.tanh(x.numpy()) + x.numpy() * (1 - np.tanh(x.numpy()) ** 2)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_compiled_gradients():
    """On the interpreter, in machine code, and against eager code."""

    def f(x, w):
        return (functional.silu(x * w) * paddle.tanh(x) + paddle.exp(-x * x)).sum()

    compiled = paddle.jit.to_static(f, full_graph=True)
    found = []
    for fn in (f, *[compiled] * 8):
        x, w = (paddle.to_tensor(np.random.default_rng(i).standard_normal(LARGE).astype("float32")) for i in range(2))
        x.stop_gradient = w.stop_gradient = False
        fn(x, w).backward()
        found.append((x.grad.numpy(), w.grad.numpy()))
    for pair in found[1:]:
        for a, b in zip(pair, found[0]):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


@pytest.mark.native
def test_the_flag_keeps_less_and_notices_changes():
    def f(x, w, b):
        return paddle.matmul(functional.gelu(paddle.matmul(x, w) + b), w, transpose_y=True).sum()

    arguments = [paddle.randn(shape) for shape in ([256, 64], [64, 128], [128])]
    for argument in arguments:
        argument.stop_gradient = False
    f(*arguments).backward()
    expected = [a.grad.numpy() for a in arguments]
    with ACTIVATION_BUDGET.scope(0.0):
        compiled = paddle.jit.to_static(f, full_graph=True)
        for argument in arguments:
            argument.clear_grad()
        compiled(*arguments).backward()
    for argument, grad in zip(arguments, expected):
        np.testing.assert_allclose(argument.grad.numpy(), grad, rtol=2e-4, atol=1e-4)
    loss = compiled(*arguments)
    with paddle.no_grad():
        arguments[2].add_(paddle.ones([128]))
    with pytest.raises(StaleBackwardError):
        loss.backward()


def test_programs_are_not_changed_by_asking():
    """A clone of the forward program is as it was."""
    block, outputs = traced(lambda x: paddle.tanh(x) * paddle.exp(x), LARGE)
    before = str(clone_program(block.program))
    with_less_kept(block, outputs, build_backward(block, outputs, [0]), 0.0)
    assert str(block.program) == before

"""Backward from some outputs of a segment: what the others would give is left out, not multiplied by zero."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.autodiff.given import backward_of_given
from vitrify.autodiff.segment import build_backward
from vitrify.ops.sizes import stand_in_op

X = np.array([0.0, 4.0], "float32")  # where the root has no finite derivative


def side_by_side(x):
    return x * 2, x.sqrt()


def shared_value(x):
    y = x + x
    return y.sum(), y.sqrt() + y, y * y


def branch(x):
    a, b = x, x
    if x.sum() > 0:
        a, b = x * 2, x.sqrt()
    return a, b


def branch_around(x):
    b = x.sqrt()
    a = x * 3 if x.sum() > 0 else x
    return a, b * 2 if x.sum() < 9 else b


def loop(x):
    a, b = x, x
    for _ in range((x > 0).sum() + 1):
        a, b = a * 2, b.sqrt()
    return a, b


def loop_that_mixes(x):
    a, b, c = x, x.sqrt(), x
    while a.sum() < 30:
        a, b, c = a * 2, b * 2 + a, c + a
    return a, b, c


def loop_over_captured(x):
    w = x.sqrt()
    a = b = x
    for _ in range((x > 0).sum() + 1):
        a, b = a * x, b + w
    return a, b


def grown_list(x):
    roots = []
    for _ in range((x > 0).sum() + 1):
        roots.append(x.sqrt())
    return x * 2, roots[0], paddle.stack(roots)


def pieces(x):
    first, second = paddle.split(x.sqrt() + x, 2)
    return second, first, x.max()


def nested(x):
    a, b = x, x
    for i in range((x > 0).sum() + 1):
        if i > 0:
            a, b = a + x, b.sqrt() + a
        else:
            b = b * 2
    return a, b


FUNCTIONS = [
    side_by_side, shared_value, branch, branch_around, loop, loop_that_mixes, loop_over_captured, grown_list, pieces,
    nested,
]  # fmt: skip


def gradient(f, numbers):
    x = paddle.to_tensor(X, stop_gradient=False)
    outputs = f(x)
    terms = [(outputs[i] * outputs[i]).sum() for i in numbers]
    sum(terms[1:], terms[0]).backward()
    return x.grad.numpy()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_each_choice_of_outputs(f):
    static = paddle.jit.to_static(f, full_graph=True)
    count = len(f(paddle.to_tensor(X)))
    for numbers in [*[[i] for i in range(count)], [0, count - 1], [0]]:
        np.testing.assert_allclose(gradient(static, numbers), gradient(f, numbers), 1e-5, err_msg=str(numbers))


def test_one_output_after_the_other():
    static = paddle.jit.to_static(shared_value, full_graph=True)
    x, y = (paddle.to_tensor(X, stop_gradient=False) for _ in range(2))
    for f, tensor in ((static, x), (shared_value, y)):
        for output in f(tensor):
            output.sum().backward(retain_graph=True)
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


def test_less_is_computed():
    static = paddle.jit.to_static(side_by_side, full_graph=True)
    static(paddle.to_tensor(X, stop_gradient=False))
    block = static.concrete_program.block
    whole = build_backward(block, block.outputs, [0])
    fewer = backward_of_given(block, block.outputs, whole, [True, False])
    assert len(fewer.program.global_block().ops) < len(whole.program.global_block().ops)


def test_nor_is_forward_computed_again_for_sizes_known_when_it_runs():
    def sums(x, y):
        return (x * 2).sum(), y.exp()

    spec = paddle.static.InputSpec([None, 2], stop_gradient=False)
    static = paddle.jit.to_static(sums, input_spec=[spec, spec], full_graph=True)
    block = static.concrete_program.block
    whole = build_backward(block, block.outputs, [0, 1])
    assert any(op.op is stand_in_op for op in block.ops)
    assert backward_of_given(block, block.outputs, whole, [True, False]) is not None

"""Products with Jacobians, and whole ones, of functions; numbers worked out by hand or by finite differences."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.incubate import autograd


def two(a, b):
    return paddle.matmul(a, b), a * 2


A = np.array([[1.0, 2.0], [3.0, 4.0]])
B = np.array([[1.0, 1.0], [2.0, 3.0]])


def inputs():
    return [paddle.to_tensor(A), paddle.to_tensor(B)]


def test_jvp_is_the_change_of_the_outputs():
    rng = np.random.default_rng(0)
    steps = [rng.standard_normal((2, 2)), rng.standard_normal((2, 2))]

    def smooth(a, b):
        return paddle.tanh(paddle.matmul(a, b)), (a * b).sum()

    ys, products = autograd.jvp(smooth, inputs(), [paddle.to_tensor(s) for s in steps])
    assert isinstance(products, tuple) and len(ys) == 2
    h = 1e-6
    above = smooth(*[paddle.to_tensor(x + h * s) for x, s in zip((A, B), steps, strict=True)])
    below = smooth(*[paddle.to_tensor(x - h * s) for x, s in zip((A, B), steps, strict=True)])
    for product, high, low in zip(products, above, below, strict=True):
        np.testing.assert_allclose(product.numpy(), (high - low).numpy() / (2 * h), rtol=1e-7, atol=1e-9)


def test_without_v_it_is_ones():
    assert autograd.jvp(lambda x: paddle.matmul(x, x), paddle.ones([2, 2]))[1].tolist() == [[4.0, 4.0], [4.0, 4.0]]
    _, (da, db) = autograd.vjp(two, inputs())
    assert (da.tolist(), db.tolist()) == ([[4.0, 7.0], [4.0, 7.0]], [[4.0, 4.0], [6.0, 6.0]])


def test_what_does_not_matter_gives_zeros():
    _, (_, db) = autograd.vjp(lambda a, b: a * a, inputs())
    assert db.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert autograd.jvp(lambda a: paddle.ones([3]), paddle.ones([2]))[1].tolist() == [0.0, 0.0, 0.0]


def test_several_inputs_and_outputs_make_one_matrix():
    matrix = autograd.Jacobian(paddle.matmul, inputs())
    assert matrix.shape == (4, 8)
    assert matrix[1].tolist() == [1, 3, 0, 0, 0, 1, 0, 2]
    batched = autograd.Jacobian(lambda a, b: a * b, inputs(), is_batched=True)
    assert batched[:].tolist() == [[[1, 0, 1, 0], [0, 1, 0, 2]], [[2, 0, 3, 0], [0, 3, 0, 4]]]


def test_hessians():
    def cubes(x):
        return (x * x * x).sum(-1, keepdim=True)

    x = inputs()[0]
    assert autograd.Hessian(cubes, x[0])[:].tolist() == [[6, 0], [0, 12]]
    assert autograd.Hessian(cubes, x, is_batched=True)[1].tolist() == [[18, 0], [0, 24]]


@pytest.mark.parametrize("product", [autograd.vjp, autograd.jvp])
def test_a_v_of_another_shape(product):
    with pytest.raises(ValueError, match=r"v has shapes \[\[3\]\], expected \[\[2\]\]"):
        product(lambda x: x * x, paddle.ones([2]), paddle.ones([3]))

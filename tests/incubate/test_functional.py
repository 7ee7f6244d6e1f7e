"""minimize_bfgs and minimize_lbfgs find minima that are known."""

import numpy as np
import pytest
from scipy import optimize

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, UnsupportedError
from vitrify.incubate.optimizer.functional import minimize_bfgs, minimize_lbfgs

BOTH = pytest.mark.parametrize("minimize", [minimize_bfgs, minimize_lbfgs])


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def bowl(x):
    return ((x - paddle.to_tensor([1.0, 2.0], dtype=x.dtype)) ** 2).sum()


def test_a_bowl_as_paddle_does():
    """Every number is PaddlePaddle 3.3.1's."""
    found = minimize_bfgs(bowl, paddle.zeros([2]))
    assert [v.tolist() for v in found[:5]] == [[True], [3], [1.0, 2.0], 0.0, [0.0, 0.0]]
    np.testing.assert_allclose(found[5].numpy(), [[0.9, -0.2], [-0.2, 0.6]], rtol=1e-5)
    assert [v.tolist() for v in minimize_lbfgs(bowl, paddle.zeros([2]))] == [[True], [3], [1.0, 2.0], 0.0, [0.0, 0.0]]


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_curved_valley(minimize, dtype):
    found = minimize(rosenbrock, paddle.to_tensor([-1.2, 1.0], dtype=dtype), dtype=dtype)
    assert found[0].item() is True and found[1].dtype is paddle.int64
    # Where values differ by less than 1e-8 the search ends, and they are squares of what is left of the way.
    np.testing.assert_allclose(found[2].numpy(), [1.0, 1.0], atol=2e-3 if dtype == "float32" else 1e-4)
    assert [v.dtype.name for v in found[2:]] == [dtype] * (len(found) - 2)
    assert found[3].shape == [] and found[4].shape == [2]


def test_ten_dimensions_agree_with_scipy():
    rng = np.random.default_rng(0)
    square = rng.normal(size=(10, 10))
    matrix, right = square @ square.T + np.eye(10), rng.normal(size=10)

    def f(x):
        return 0.5 * x @ paddle.to_tensor(matrix) @ x - x @ paddle.to_tensor(right)

    known = optimize.minimize(lambda x: 0.5 * x @ matrix @ x - x @ right, np.zeros(10), method="BFGS").x
    for minimize in (minimize_bfgs, minimize_lbfgs):
        found = minimize(f, paddle.zeros([10], "float64"), dtype="float64", max_iters=200)
        assert found[0].item()
        np.testing.assert_allclose(found[2].numpy(), known, atol=1e-4)


@BOTH
def test_the_estimate_is_where_it_starts(minimize):
    """The true inverse of a bowl's Hessian leads there in one step: two evaluations."""
    found = minimize(bowl, paddle.zeros([2]), initial_inverse_hessian_estimate=paddle.eye(2) * 0.5)
    assert found[1].tolist() == [2] and found[2].tolist() == [1.0, 2.0]


@BOTH
def test_iterations_are_limited(minimize):
    found = minimize(rosenbrock, paddle.to_tensor([-1.2, 1.0]), max_iters=2)
    assert found[0].tolist() == [False]
    assert minimize(bowl, paddle.to_tensor([1.0, 2.0]))[1].tolist() == [1]


def test_a_short_history_works_too():
    found = minimize_lbfgs(rosenbrock, paddle.to_tensor([-1.2, 1.0], dtype="float64"), 2, 200, dtype="float64")
    np.testing.assert_allclose(found[2].numpy(), [1.0, 1.0], atol=1e-6)


@BOTH
def test_no_tape_is_needed_around_it(minimize):
    start = paddle.zeros([2])
    with paddle.no_grad():
        assert minimize(bowl, start)[2].tolist() == [1.0, 2.0]
    assert start.tolist() == [0.0, 0.0] and start.stop_gradient


@BOTH
def test_what_is_refused(minimize):
    x = paddle.zeros([2])
    with pytest.raises(UnsupportedError, match="line_search_fn 'hager_zhang'"):
        minimize(bowl, x, line_search_fn="hager_zhang")
    with pytest.raises(ArgumentError, match="dtype must be"):
        minimize(bowl, x, dtype="float16")
    with pytest.raises(DTypeError, match="must be a float64 vector"):
        minimize(bowl, x, dtype="float64")
    with pytest.raises(DTypeError, match="must be a float32 vector"):
        minimize(bowl, paddle.zeros([2, 1]))
    for estimate in ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, -1.0]], [[1.0]]):
        with pytest.raises(ArgumentError, match="symmetric and positive definite"):
            minimize(bowl, x, initial_inverse_hessian_estimate=paddle.to_tensor(estimate))
    with pytest.raises(UnsupportedError, match="cannot be part of a program"):
        paddle.jit.to_static(lambda y: minimize(bowl, y)[2], full_graph=True)(x)

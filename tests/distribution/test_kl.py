"""Divergences against the average of log p - log q over the density of p."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import distribution as D
from vitrify.core.errors import DTypeError


def integral(p, q, grid):
    x = paddle.to_tensor(grid)
    log_p, log_q = p.log_prob(x).numpy(), q.log_prob(x).numpy()
    return np.trapezoid(np.exp(log_p) * (log_p - log_q), grid)


def total(p, q, count=200):
    x = paddle.arange(count, dtype="float64")
    log_p, log_q = p.log_prob(x).numpy(), q.log_prob(x).numpy()
    return (np.exp(log_p) * (log_p - log_q)).sum()


def f64(*values):
    return [paddle.to_tensor(v, dtype="float64") for v in values]


LINE, HALF, UNIT = np.linspace(-60, 60, 200001), np.linspace(1e-8, 80, 400001), np.linspace(1e-7, 1 - 1e-7, 400001)
CONTINUOUS = [
    (D.Normal, (0.0, 1.0), (1.0, 2.0), LINE),
    (D.Laplace, (0.0, 1.0), (1.0, 2.0), LINE),
    (D.Exponential, (0.5,), (2.0,), HALF),
    (D.Gamma, (2.5, 2.0), (1.5, 3.0), HALF),
    (D.Chi2, (3.0,), (4.0,), np.linspace(1e-8, 200, 800001)),
    (D.Beta, (1.5, 2.0), (2.0, 3.0), UNIT),
    (D.LogNormal, (0.0, 0.5), (0.5, 0.7), HALF),
    (D.ContinuousBernoulli, (0.3,), (0.6,), UNIT),
]


@pytest.mark.parametrize(("make", "a", "b", "grid"), CONTINUOUS, ids=lambda x: getattr(x, "__name__", ""))
def test_divergence_of_densities(make, a, b, grid):
    p, q = make(*f64(*a)), make(*f64(*b))
    found = D.kl_divergence(p, q)
    np.testing.assert_allclose(float(found), integral(p, q, grid), rtol=1e-4)
    assert float(p.kl_divergence(q)) == float(found) and abs(float(D.kl_divergence(p, p))) < 1e-9


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (D.Poisson(1.5), D.Poisson(2.0)),
        (D.Binomial(5, 0.3), D.Binomial(5, 0.6)),
        (D.Binomial(5, 0.3), D.Binomial(9, 0.6)),
        (D.Bernoulli(0.3), D.Bernoulli(0.6)),
    ],
)
def test_divergence_of_counts(p, q):
    wanted = total(p, q, {"Poisson": 60, "Binomial": 6, "Bernoulli": 2}[type(p).__name__])
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy().item(), wanted, rtol=1e-4)


def test_counts_that_the_other_cannot_reach_are_told_apart_at_once():
    p, q = D.Binomial([5.0, 9.0, 10.0], 0.3), D.Binomial(9.0, 0.6)
    found = D.kl_divergence(p, q).numpy()
    np.testing.assert_allclose(found[:2], [total(D.Binomial(n, 0.3), q, n + 1) for n in (5, 9)], rtol=1e-4)
    assert found[2] == np.inf
    assert D.kl_divergence(q, p).numpy().tolist()[:1] == [np.inf]


def test_cauchy_and_uniform():
    p, q = D.Cauchy(*f64(0.0, 1.0)), D.Cauchy(*f64(1.0, 2.0))
    grid = np.tan(np.linspace(-np.pi / 2 + 1e-7, np.pi / 2 - 1e-7, 400001))
    np.testing.assert_allclose(float(D.kl_divergence(p, q)), integral(p, q, grid), rtol=1e-3)
    wide, narrow = D.Uniform(0.0, 4.0), D.Uniform(1.0, 2.0)
    np.testing.assert_allclose(float(D.kl_divergence(narrow, wide)), np.log(4), rtol=1e-6)
    assert float(D.kl_divergence(wide, narrow)) == np.inf


def test_vectors():
    matrices = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[1.0, 0.2], [0.2, 3.0]])
    means = f64([0.0, 1.0], [1.0, 1.0])
    p, q = (D.MultivariateNormal(m, paddle.to_tensor(c)) for m, c in zip(means, matrices))
    inverse, difference = np.linalg.inv(matrices[1]), np.array([1.0, 0.0])
    wanted = np.trace(inverse @ matrices[0]) + difference @ inverse @ difference - 2
    wanted += np.log(np.linalg.det(matrices[1]) / np.linalg.det(matrices[0]))
    np.testing.assert_allclose(float(D.kl_divergence(p, q)), wanted / 2, rtol=1e-6)
    a, b = D.Dirichlet(f64([1.3, 0.8])[0]), D.Dirichlet(f64([1.0, 1.2])[0])
    pair = D.Beta(*f64(1.3, 0.8)), D.Beta(*f64(1.0, 1.2))
    np.testing.assert_allclose(float(D.kl_divergence(a, b)), float(D.kl_divergence(*pair)), rtol=1e-9)
    rows = [D.Independent(D.Normal(paddle.to_tensor([0.0, m]), paddle.ones([2])), 1) for m in (0.0, 1.0)]
    assert float(D.kl_divergence(*rows)) == 0.5


def test_categorical_keeps_a_dimension():
    p, q = D.Categorical([0.0, 1.0]), D.Categorical([1.0, 0.0])
    soft = np.exp([0.0, 1.0]) / np.exp([0.0, 1.0]).sum()
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), [(soft * [-1.0, 1.0]).sum()], rtol=1e-5)


def test_the_nearest_rule_is_taken():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, Mine)
    def rule(p, q):
        return paddle.to_tensor(7.0)

    assert float(D.kl_divergence(Mine(0.0, 1.0), Mine(1.0, 1.0))) == 7.0
    assert float(D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0))) == 0.5
    with pytest.raises(NotImplementedError, match="Normal and Laplace"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Laplace(0.0, 1.0))
    with pytest.raises(DTypeError, match="register_kl"):
        D.register_kl(int, int)

"""Every distribution against SciPy: densities, moments, entropy, draws, gradients, and the same in programs."""

import numpy as np
import pytest
import scipy.stats as st

import vitrify as paddle
from tests.distribution.cases import COUNTS, LOC, ROWS, SCALE
from tests.end_to_end.differential import compare
from vitrify import distribution as D
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError

WITH_INVERSE = {D.Normal, D.Uniform, D.Laplace, D.Exponential}
WITH_CDF = WITH_INVERSE | {D.Gumbel, D.Cauchy, D.Bernoulli, D.Geometric}
EACH = pytest.mark.parametrize("row", ROWS, ids=str)


def tensors(row):
    return [paddle.to_tensor(p) for p in row.params]


def made(row):
    return row.make(*tensors(row))


def close(found, wanted, **tolerance):
    np.testing.assert_allclose(found.numpy(), wanted, **{"rtol": 1e-6, "atol": 1e-9, **tolerance})


@EACH
def test_log_prob_and_prob(row):
    peer, values = row.peer(*row.params), paddle.to_tensor(row.values)
    wanted = peer.logpmf(row.values) if row.discrete else peer.logpdf(row.values)
    close(made(row).log_prob(values), wanted)
    if not isinstance(made(row), D.Bernoulli):
        close(made(row).prob(values), np.exp(wanted))


@EACH
def test_moments_and_entropy(row):
    peer, mine = row.peer(*row.params), made(row)
    if row.make is not D.Cauchy:
        close(mine.mean, peer.mean())
        close(mine.variance, peer.var())
        close(mine.stddev, peer.std())
    if row.make is D.LogNormal:
        close(mine.entropy(), st.norm(*row.params).entropy() + LOC)
    else:
        wanted = [row.peer(*p).entropy() for p in zip(*row.params)] if row.discrete else peer.entropy()
        close(mine.entropy(), wanted, rtol=1e-5)


@EACH
def test_cdf_and_its_inverse(row):
    mine, peer, values = made(row), row.peer(*row.params), paddle.to_tensor(row.values)
    if row.make in WITH_CDF:
        close(mine.cdf(values), peer.cdf(row.values))
    else:
        with pytest.raises(NotImplementedError, match=f"{row} has no cdf"):
            mine.cdf(values)
    shares = paddle.to_tensor(np.array([[0.1, 0.5, 0.9]]))
    if row.make in WITH_INVERSE:
        close(mine.icdf(shares), peer.ppf(shares.numpy()), rtol=1e-5)
    else:
        with pytest.raises(NotImplementedError, match=f"{row} has no icdf"):
            mine.icdf(shares)


@EACH
def test_draws_have_the_distribution(row):
    paddle.seed(7)
    drawn = made(row).sample([4000])
    assert drawn.shape == [4000, 3] and drawn.dtype == paddle.float64 and drawn.stop_gradient
    for column, params in zip(drawn.numpy().T, zip(*row.params)):
        peer = row.peer(*params)
        if row.discrete:
            found, wanted = np.mean(column <= 1), peer.cdf(1)
            assert abs(found - wanted) < 0.04
        else:
            assert st.kstest(column, peer.cdf).pvalue > 1e-4


@EACH
def test_shapes_of_draws(row):
    mine = made(row)
    assert tuple(mine.batch_shape) == (3,) and mine.event_shape == ()
    assert mine.sample().shape == [3] and mine.sample([2, 4]).shape == [2, 4, 3] and mine.sample((2,)).shape == [2, 3]


@EACH
def test_gradients_of_log_prob(row):
    params = tensors(row)
    values = paddle.to_tensor(LOC + SCALE / 3 if row.make is D.Uniform else row.values)
    for p in params:
        p.stop_gradient = False
    row.make(*params).log_prob(values).sum().backward()
    step = 1e-6
    for i, p in enumerate(params):
        if row.make is D.Binomial and i == 0:
            continue  # total_count is no parameter to be learned
        moved = [[q + (step if j == i else 0) * s for j, q in enumerate(row.params)] for s in (1, -1)]
        sums = [row.make(*map(paddle.to_tensor, m)).log_prob(values).numpy().reshape(-1, 3).sum(0) for m in moved]
        np.testing.assert_allclose(p.grad.numpy(), (sums[0] - sums[1]) / (2 * step), rtol=1e-4, atol=1e-6)


@EACH
@pytest.mark.parametrize("sizes", ["fixed", "unknown"])
def test_the_same_in_programs(row, sizes):
    def fn(value, *params):
        mine = row.make(*params)
        return mine.log_prob(value), mine.mean if row.make is not D.Cauchy else value

    if sizes == "unknown":
        fn = paddle.jit.to_static(fn, full_graph=True)
        more = [np.concatenate([p, p]) for p in row.params]
        for params, values in ((row.params, row.values), (more, np.concatenate([row.values] * 2, 1))):
            found = fn(paddle.to_tensor(values), *map(paddle.to_tensor, params))
            wanted = row.make(*map(paddle.to_tensor, params)).log_prob(paddle.to_tensor(values))
            close(found[0], wanted.numpy())
    else:
        compare(fn, (paddle.to_tensor(row.values), *tensors(row)))


def of_normals(base):
    return D.Independent(D.TransformedDistribution(base, [D.TanhTransform()]), 1)


FLOWING = {
    "Normal": lambda loc, scale: D.Normal(loc, scale),
    "Uniform": lambda loc, scale: D.Uniform(loc, loc + scale),
    "LogNormal": lambda loc, scale: D.LogNormal(loc, scale),
    "StudentT": lambda loc, scale: D.StudentT(scale + 2, loc, scale),
    "made of a normal": lambda loc, scale: of_normals(D.Normal(loc, scale)),
    "a transform's parameters": lambda loc, scale: of_normals(
        D.TransformedDistribution(D.Laplace(loc.detach(), scale.detach()), [D.AffineTransform(loc, scale)])
    ),
}


@pytest.mark.parametrize("name", FLOWING)
def test_gradients_flow_through_some_samples(name):
    """As in PaddlePaddle, whose models draw with `sample` where others need `rsample`."""
    loc, scale = paddle.to_tensor(LOC, stop_gradient=False), paddle.to_tensor(SCALE, stop_gradient=False)

    def draw(loc, scale):
        return FLOWING[name](loc, scale).sample([2])

    for function in (draw, paddle.jit.to_static(draw, full_graph=True)):
        paddle.seed(3)
        drawn = function(loc, scale)
        grads = paddle.grad(drawn.sum(), [loc, scale])
        assert not drawn.stop_gradient and all(np.abs(g.numpy()).min() > 0 for g in grads)


@pytest.mark.parametrize("make", [D.Laplace, D.Gumbel, D.Cauchy, D.Beta, D.Gamma])
def test_other_samples_have_no_gradients(make):
    loc, scale = paddle.to_tensor(SCALE, stop_gradient=False), paddle.to_tensor(SCALE, stop_gradient=False)
    assert make(loc, scale).sample([2]).stop_gradient


@pytest.mark.parametrize("make", [D.Normal, D.Laplace, D.Gumbel, D.Cauchy, D.Uniform, D.LogNormal])
def test_rsample_has_gradients(make):
    loc, scale = paddle.to_tensor(LOC, stop_gradient=False), paddle.to_tensor(SCALE + 3, stop_gradient=False)
    drawn = make(loc, scale).rsample([5])
    assert not drawn.stop_gradient
    drawn.sum().backward()
    assert np.isfinite(loc.grad.numpy()).all() and np.isfinite(scale.grad.numpy()).all()
    if make in (D.Normal, D.Laplace, D.Gumbel, D.Cauchy):
        close(loc.grad, np.full(3, 5.0))


def test_relaxed_bernoulli():
    probs = paddle.to_tensor([0.3], stop_gradient=False)
    drawn = D.Bernoulli(probs).rsample([2000], temperature=0.1)
    hard = paddle.nn.functional.sigmoid(drawn)
    assert abs(float(hard.mean()) - 0.3) < 0.05
    drawn.sum().backward()
    assert float(probs.grad[0]) > 0


# -- distributions of several numbers --------------------------------------------------------------------------------

CONCENTRATION = np.array([[0.5, 1.5, 2.0], [2.0, 3.0, 1.0]])
SHARES = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])


def test_dirichlet():
    mine = D.Dirichlet(paddle.to_tensor(CONCENTRATION))
    assert mine.batch_shape == (2,) and mine.event_shape == (3,)
    peers = [st.dirichlet(c) for c in CONCENTRATION]
    close(mine.log_prob(paddle.to_tensor(SHARES)), [p.logpdf(x) for p, x in zip(peers, SHARES)])
    close(mine.mean, [p.mean() for p in peers])
    close(mine.variance, [p.var() for p in peers])
    close(mine.entropy(), [p.entropy() for p in peers])
    drawn = mine.sample([3000])
    close(drawn.mean(0), mine.mean.numpy(), atol=0.03)
    close(drawn.sum(-1), np.ones((3000, 2)))


def test_multinomial():
    mine = D.Multinomial(5, paddle.to_tensor(SHARES * 2))
    values = np.array([[1.0, 2.0, 2.0], [4.0, 0.0, 1.0]])
    peers = [st.multinomial(5, p) for p in SHARES]
    close(mine.log_prob(paddle.to_tensor(values)), [p.logpmf(x) for p, x in zip(peers, values)])
    close(mine.entropy(), [p.entropy() for p in peers])
    close(mine.variance, 5 * SHARES * (1 - SHARES))
    drawn = mine.sample([2, 1000])
    assert drawn.shape == [2, 1000, 2, 3]
    close(drawn.sum(-1), np.full((2, 1000, 2), 5.0))
    close(drawn.mean([0, 1]), 5 * SHARES, atol=0.15)


def test_categorical():
    logits = np.array([[0.3, 0.8, 1.5], [1.0, 1.0, 2.0]])
    mine = D.Categorical(paddle.to_tensor(logits))
    shares = logits / logits.sum(-1, keepdims=True)
    soft = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    close(mine.probs(paddle.to_tensor([0, 2])), shares[:, [0, 2]])
    close(mine.log_prob(paddle.to_tensor([[0, 1], [1, 2]])), np.log([shares[0, :2], shares[1, 1:]]))
    close(mine.entropy(), -(soft * np.log(soft)).sum(-1))
    drawn = mine.sample([2, 2000])
    assert drawn.shape == [2, 2000, 2] and drawn.dtype == paddle.int64 and mine.sample().shape == [2]
    close((drawn == 2).astype("float64").mean([0, 1]), soft[:, 2], atol=0.04)
    single = D.Categorical([0.3, 0.8])
    close(single.probs(paddle.to_tensor([[0], [1]])), [[3 / 11], [8 / 11]])
    assert single.sample([4]).shape == single.sample(4).shape == [4] and single.probs(paddle.to_tensor(0)).shape == []


COVARIANCE = np.array([[2.0, 0.3], [0.3, 1.0]])


@pytest.mark.parametrize("kind", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal(kind):
    given = {"covariance_matrix": COVARIANCE, "precision_matrix": np.linalg.inv(COVARIANCE),
             "scale_tril": np.linalg.cholesky(COVARIANCE)}[kind]  # fmt: skip
    means = paddle.to_tensor([[0.0, 1.0], [1.0, 2.0]], dtype="float64")
    mine = D.MultivariateNormal(means, **{kind: paddle.to_tensor(given)})
    values = np.array([[0.3, 1.2], [2.5, 0.7]])
    peers = [st.multivariate_normal(m, COVARIANCE) for m in ([0, 1], [1, 2])]
    close(mine.log_prob(paddle.to_tensor(values)), [p.logpdf(x) for p, x in zip(peers, values)])
    close(mine.entropy(), [p.entropy() for p in peers])
    close(mine.variance, np.tile(np.diag(COVARIANCE), (2, 1)))
    drawn = mine.rsample([4000]).numpy()
    np.testing.assert_allclose(np.cov(drawn[:, 0].T), COVARIANCE, atol=0.2)


def test_continuous_bernoulli():
    probs = np.array([0.1, 0.3, 0.5, 0.4995, 0.8])
    mine = D.ContinuousBernoulli(paddle.to_tensor(probs))
    grid = np.linspace(0.0, 1.0, 20001)
    density = mine.prob(paddle.to_tensor(grid[:, None])).numpy()
    np.testing.assert_allclose(np.trapezoid(density, grid, axis=0), np.ones(5), rtol=1e-6)
    mean = np.trapezoid(density * grid[:, None], grid, axis=0)
    close(mine.mean, mean, rtol=1e-5)
    close(mine.variance, np.trapezoid(density * (grid[:, None] - mean) ** 2, grid, axis=0), rtol=1e-4)
    close(mine.entropy(), -np.trapezoid(density * np.log(density), grid, axis=0), atol=1e-5)
    inside = paddle.to_tensor([[0.2], [0.7]], dtype="float64")
    close(mine.icdf(mine.cdf(inside)), np.broadcast_to(inside.numpy(), (2, 5)), rtol=1e-5)
    close(mine.sample([4000]).mean(0), mean, atol=0.03)


def test_independent():
    base = D.Normal(paddle.to_tensor(COUNTS), paddle.ones([2, 3], "float64"))
    mine = D.Independent(base, 1)
    assert mine.batch_shape == (2,) and mine.event_shape == (3,)
    close(mine.log_prob(paddle.zeros([2, 3])), base.log_prob(paddle.zeros([2, 3])).numpy().sum(-1))
    close(mine.entropy(), base.entropy().numpy().sum(-1))
    assert mine.sample([4]).shape == [4, 2, 3] and mine.mean is base.mean
    with pytest.raises(ArgumentError, match="reinterpreted_batch_rank"):
        D.Independent(base, 3)


def test_lkj_cholesky():
    mine = D.LKJCholesky(3, paddle.to_tensor([1.0, 2.5], dtype="float64"))
    drawn = mine.sample([2000])
    assert drawn.shape == [2000, 2, 3, 3]
    matrices = drawn.numpy() @ drawn.numpy().swapaxes(-1, -2)
    np.testing.assert_allclose(np.diagonal(matrices, 0, -2, -1), np.ones((2000, 2, 3)), rtol=1e-6)
    # each correlation is 2 b - 1 for b of Beta(c + (dim - 2) / 2, the same)
    for at, c in enumerate((1.0, 2.5)):
        spread = st.beta(c + 0.5, c + 0.5).var() * 4
        assert abs(matrices[:, at, 2, 0].var() - spread) < 0.05 and abs(matrices[:, at, 2, 1].var() - spread) < 0.05
    # the density of a 2 by 2 factor, over its angle, has integral 1
    angles = np.linspace(1e-4, np.pi - 1e-4, 20001)
    factors = np.zeros((20001, 2, 2))
    factors[:, 0, 0], factors[:, 1, 0], factors[:, 1, 1] = 1, np.cos(angles), np.sin(angles)
    density = D.LKJCholesky(2, paddle.to_tensor(1.7, dtype="float64")).prob(paddle.to_tensor(factors)).numpy()
    assert abs(np.trapezoid(density * np.sin(angles), angles) - 1) < 1e-3


# -- arguments -------------------------------------------------------------------------------------------------------


def test_parameters_of_every_kind():
    assert D.Normal(0, 1).loc.dtype == paddle.float32 and D.Normal([0.0, 1.0], 2).sample().shape == [2]
    assert D.Normal(np.zeros(2), 1.0).scale.dtype == paddle.float64
    assert D.Normal([0.0, 1.0], 2.0).variance.tolist() == [4.0, 4.0] and D.Uniform(0.0, [1.0, 2.0]).low.shape == [2]
    assert D.Normal(paddle.zeros([2, 1]), paddle.ones([3])).sample().shape == [2, 3]
    assert D.Poisson(1.5).rate.shape == [1] and D.Bernoulli(1.5).probs.item() == 1.0
    assert D.Normal(0.0, 1.0).sample([2], seed=3).tolist() == D.Normal(0.0, 1.0).sample([2], seed=3).tolist()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: D.Normal(1j, 1.0), DTypeError),
        (lambda: D.Normal(0.0, 1.0).log_prob(paddle.to_tensor(1j)), DTypeError),
        (lambda: D.Normal(0.0, 1.0).sample(3), DTypeError),
        (lambda: D.Cauchy(0.0, 1.0).mean, ArgumentError),
        (lambda: D.StudentT(-1.0, 0.0, 1.0), ArgumentError),
        (lambda: D.Chi2(0.0), ArgumentError),
        (lambda: D.Multinomial(0, paddle.ones([2])), ArgumentError),
        (lambda: D.Dirichlet(paddle.ones([])), ShapeError),
        (lambda: D.MultivariateNormal(paddle.ones([2])), ArgumentError),
        (lambda: D.LKJCholesky(1), ArgumentError),
        (lambda: D.LKJCholesky(2, 1.0, "other"), ArgumentError),
        (lambda: D.Categorical([1.0]).mean, NotImplementedError),
        (lambda: D.Poisson(1.0).rsample(), NotImplementedError),
        (lambda: D.Beta(1.0, 2.0).cdf(0.5), NotImplementedError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("row", [r for r in ROWS if r.make is not D.Binomial], ids=str)
def test_draws_in_programs_are_those_of_eager_code(row):
    def fn(*params):
        return row.make(*params).sample([4])

    static = paddle.jit.to_static(fn, full_graph=True)
    for seed in (1, 2):
        found = []
        for run in (fn, static):
            paddle.seed(seed)
            found.append(run(*tensors(row)).numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_a_reparametrized_draw_trains_in_a_program():
    def fn(loc, scale):
        return (D.Normal(loc, scale).rsample([8]) ** 2).mean()

    static = paddle.jit.to_static(fn, full_graph=True)
    grads = []
    for run in (fn, static, static):
        loc, scale = paddle.to_tensor(LOC, stop_gradient=False), paddle.to_tensor(SCALE, stop_gradient=False)
        paddle.seed(3)
        run(loc, scale).backward()
        grads.append((loc.grad.numpy(), scale.grad.numpy()))
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-9)
    np.testing.assert_allclose(grads[0], grads[2], rtol=1e-9)


def test_sizes_that_only_a_run_knows():
    def fn(x):
        d = D.Dirichlet(x)
        return d.entropy(), D.Normal(x, paddle.ones([3])).entropy(), D.StudentT(x, x, x).sample([2]).shape[1:]

    x = paddle.to_tensor([[1.2, 0.7, 0.9], [0.6, 1.4, 0.8]])
    static = paddle.jit.to_static(fn, full_graph=True, input_spec=[paddle.static.InputSpec([None, None], "float32")])
    for made, expected in zip(static(x)[:2], fn(x)[:2]):
        np.testing.assert_allclose(made.numpy(), expected.numpy(), rtol=1e-5)
    assert [int(size) for size in static(x)[2]] == [2, 3]


def test_methods_have_the_names_of_their_sources_arguments():
    assert D.Geometric(0.5).cdf(k=2).item() == 0.875
    for draw in (D.Cauchy(0.0, 1.0).sample, D.Cauchy(0.0, 1.0).rsample):
        assert draw([2], name="drawn").shape == [2]

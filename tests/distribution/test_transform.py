"""Transforms: there and back, how much they stretch space, shapes, and the distributions made with them."""

import numpy as np
import pytest
import scipy.stats as st

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify import distribution as D
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError


def t(*values):
    return paddle.to_tensor(np.array(values), dtype="float64")


ELEMENTWISE = {
    "affine": D.AffineTransform(t(1.0, 2.0), t(3.0, -0.5)),
    "exp": D.ExpTransform(),
    "power": D.PowerTransform(t(2.0)),
    "sigmoid": D.SigmoidTransform(),
    "tanh": D.TanhTransform(),
    "chain": D.ChainTransform([D.AffineTransform(t(1.0), t(2.0)), D.ExpTransform()]),
    "stack": D.StackTransform([D.ExpTransform(), D.TanhTransform()]),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    transform, x, step = ELEMENTWISE[name], t(0.5, 1.2), 1e-6
    y = transform.forward(x)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x.numpy(), rtol=1e-9)
    slope = (transform.forward(x + step) - transform.forward(x - step)).numpy() / (2 * step)
    wanted, near = np.log(np.abs(slope)), {"rtol": 1e-5, "atol": 1e-8}
    np.testing.assert_allclose(transform.forward_log_det_jacobian(x).numpy(), wanted, **near)
    np.testing.assert_allclose(transform.inverse_log_det_jacobian(y).numpy(), -wanted, **near)
    assert transform.forward_shape((3, 2)) == (3, 2) == transform.inverse_shape((3, 2))
    np.testing.assert_array_equal(transform(x).numpy(), y.numpy())


def test_stick_breaking():
    transform, x = D.StickBreakingTransform(), t(0.5, 1.0, -0.3)
    y = transform.forward(x)
    np.testing.assert_allclose(float(y.sum()), 1.0)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x.numpy(), rtol=1e-9)
    steps = [paddle.to_tensor(row) for row in np.eye(3) * 1e-6]
    columns = [(transform.forward(x + d) - transform.forward(x - d)).numpy()[:-1] / 2e-6 for d in steps]
    wanted = np.log(abs(np.linalg.det(np.array(columns))))
    np.testing.assert_allclose(float(transform.forward_log_det_jacobian(x)), wanted, rtol=1e-5)
    assert transform.forward_shape((2, 3)) == (2, 4) and transform.inverse_shape((2, 4)) == (2, 3)


def test_reshape():
    transform = D.ReshapeTransform((2, 3), (6,))
    x = t(np.arange(24.0).reshape(4, 2, 3))[0]
    assert transform.forward(x).shape == [4, 6] and transform.inverse(transform.forward(x)).shape == [4, 2, 3]
    assert transform.forward_log_det_jacobian(x).tolist() == [0.0] * 4
    assert transform.forward_shape((5, 2, 3)) == (5, 6) and transform.inverse_shape((5, 6)) == (5, 2, 3)
    with pytest.raises(ShapeError, match="ends in"):
        transform.forward_shape((3, 2))
    with pytest.raises(ArgumentError, match="differ in size"):
        D.ReshapeTransform((2, 3), (5,))


def test_independent_and_softmax_and_abs():
    rows = D.IndependentTransform(D.ExpTransform(), 1)
    assert rows.forward_log_det_jacobian(t([1.0, 2.0], [3.0, 4.0])).tolist() == [3.0, 7.0]
    soft = D.SoftmaxTransform()
    np.testing.assert_allclose(float(soft.forward(t(1.0, 2.0)).sum()), 1.0)
    with pytest.raises(NotImplementedError, match="several points"):
        soft.forward_log_det_jacobian(t(1.0, 2.0))
    with pytest.raises(NotImplementedError, match="several points"):
        D.AbsTransform().forward_log_det_jacobian(t(1.0))
    assert [v.tolist() for v in D.AbsTransform().inverse(t(2.0))] == [[-2.0], [2.0]]
    assert [v.item() for v in D.AbsTransform().inverse_log_det_jacobian(t(2.0))] == [0.0, 0.0]


def test_calls_with_other_things():
    transform = D.ExpTransform()
    assert isinstance(transform(D.TanhTransform()), D.ChainTransform)
    assert isinstance(transform(D.Normal(0.0, 1.0)), D.TransformedDistribution)
    with pytest.raises(DTypeError, match="must be a Tensor"):
        transform(3)
    with pytest.raises(DTypeError, match="TransformedDistribution"):
        D.TransformedDistribution(3, [transform])


def test_transformed_distribution():
    made = D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), [D.AffineTransform(t(1.0), t(2.0)), D.ExpTransform()])
    values = np.array([0.5, 2.0])
    np.testing.assert_allclose(made.log_prob(t(*values)).numpy(), st.lognorm(2.0, scale=np.e).logpdf(values), rtol=1e-9)
    assert made.sample([3]).shape == [3, 1] and made.rsample([2]).shape == [2, 1]


def test_transforms_of_vectors_make_events():
    made = D.TransformedDistribution(D.Normal(t(0.0, 0.0), t(1.0, 1.0)), [D.StickBreakingTransform()])
    assert made.batch_shape == () and made.event_shape == (3,)
    np.testing.assert_allclose(made.log_prob(t(0.2, 0.3, 0.5)).numpy(), 1.298, atol=1e-3)
    np.testing.assert_allclose(made.sample([4]).sum(-1).numpy(), np.ones(4))


def test_in_programs():
    def fn(x, scale):
        chain = D.ChainTransform([D.AffineTransform(x.mean(), scale), D.TanhTransform()])
        return chain.forward(x), chain.forward_log_det_jacobian(x)

    compare(fn, (t(0.1, 0.2), t(0.5)))

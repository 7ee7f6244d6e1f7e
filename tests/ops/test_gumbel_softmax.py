"""gumbel_softmax: samples of a categorical distribution that gradients pass through."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError
from vitrify.core.meta import Meta
from vitrify.ops.softmax import gumbel_softmax
from vitrify.testing.paths import record


def test_the_largest_elements_are_distributed_as_the_softmax_of_the_logits():
    paddle.seed(7)
    logits = np.log([0.1, 0.2, 0.7])
    sample = gumbel_softmax(paddle.to_tensor(np.tile(logits, (20000, 1))), hard=True)
    assert set(np.unique(sample.numpy())) == {0.0, 1.0}
    np.testing.assert_allclose(sample.numpy().mean(0), [0.1, 0.2, 0.7], atol=0.015)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_rows_sum_to_one_along_the_axis(axis):
    for hard in (False, True):
        sample = gumbel_softmax(paddle.ones([3, 4]), 0.5, hard, axis)
        np.testing.assert_allclose(sample.sum(axis).numpy(), 1.0, rtol=1e-6)


def test_a_hard_sample_has_the_gradient_of_the_soft_one():
    grads = []
    for hard in (False, True):
        paddle.seed(3)
        x = paddle.to_tensor([[1.0, 2.0, 3.0]], stop_gradient=False)
        (gumbel_softmax(x, hard=hard) * paddle.to_tensor([1.0, 2.0, 4.0])).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-6)
    assert np.abs(grads[0]).max() > 0


def test_it_can_be_recorded_with_unknown_sizes():
    meta = Meta((-1, -1), paddle.float32)
    recorded = record(lambda inputs: gumbel_softmax(inputs[0], hard=True), [meta], differentiate=True)
    outs, grads = recorded.run([np.zeros((2, 5), "float32")], [np.ones((2, 5), "float32")])
    np.testing.assert_allclose(outs[0].sum(-1), 1.0)
    assert grads[0].shape == (2, 5)


def test_a_temperature_of_zero_raises():
    with pytest.raises(ArgumentError, match="temperature must be positive"):
        gumbel_softmax(paddle.ones([2]), 0.0)

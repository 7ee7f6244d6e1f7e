"""Losses over many classes and over alignments: shapes, gradients, and errors of their constructors."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.core.errors import ArgumentError


def test_hierarchical_sigmoid_reaches_its_weight():
    layer = nn.HSigmoidLoss(4, 6)
    loss = layer(paddle.randn([3, 4]), paddle.to_tensor([[0], [5], [2]]))
    assert loss.shape == [3, 1]
    loss.sum().backward()
    assert layer.weight.grad is not None


def test_adaptive_softmax_is_a_distribution():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0)
    x = paddle.randn([4, 8])
    log_prob = layer.log_prob(x)
    np.testing.assert_allclose(np.exp(log_prob.numpy()).sum(1), 1.0, rtol=1e-5)
    chosen, loss = layer(x, paddle.to_tensor([0, 4, 7, 9]))
    np.testing.assert_allclose(chosen.numpy(), log_prob.numpy()[range(4), [0, 4, 7, 9]], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(loss.item(), -chosen.numpy().mean(), rtol=1e-5)


def test_alignment_losses_have_gradients():
    scores = paddle.randn([5, 2, 4])
    scores.stop_gradient = False
    lengths = paddle.to_tensor([5, 4])
    loss = nn.CTCLoss()(scores, paddle.to_tensor([[1, 2], [3, 1]], dtype="int32"), lengths, paddle.to_tensor([2, 1]))
    loss.backward()
    assert loss.shape == [] and np.isfinite(scores.grad.numpy()).all()


@pytest.mark.parametrize("cutoffs", [[6, 3], []])
def test_bad_settings(cutoffs):
    with pytest.raises(ValueError):
        nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs)
    with pytest.raises(ArgumentError, match="num_classes must be at least 2"):
        nn.HSigmoidLoss(3, 1)

"""What incubate computes in one step is what the separate functions give."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import incubate
from vitrify.core.errors import ArgumentError
from vitrify.incubate.nn import FusedDropoutAdd, functional

X, W, B = (paddle.to_tensor(np.random.default_rng(s).normal(size=n).astype("float32")) for s, n in
           ((0, (2, 3)), (1, (3, 4)), (2, (4,))))  # fmt: skip


@pytest.mark.parametrize(("name", "function"), [("relu", paddle.nn.functional.relu), (None, lambda x: x)])
def test_linear_with_an_activation(name, function):
    found = functional.fused_linear_activation(X, W, B, activation=name)
    assert found.tolist() == function(X @ W + B).tolist()
    with pytest.raises(ArgumentError, match="activation"):
        functional.fused_linear_activation(X, W, B, activation="tanh")


def test_dropout_and_sum():
    layer = FusedDropoutAdd(0.3, mode="downscale_in_infer")
    layer.eval()
    np.testing.assert_allclose(layer(X, X).numpy(), X.numpy() * 1.7, rtol=1e-6)
    assert repr(layer) == "FusedDropoutAdd(p=0.3, mode=downscale_in_infer)"


def test_masked_softmax_and_losses():
    mask = paddle.to_tensor([0.0, -1e9, 0.0])
    rows = incubate.softmax_mask_fuse(X, mask).numpy()
    assert (rows[:, 1] == 0).all() and np.allclose(rows.sum(1), 1)
    assert [incubate.identity_loss(X, way).item() for way in (0, "mean")] == [X.sum().item(), X.mean().item()]
    with pytest.raises(ArgumentError, match="reduction"):
        incubate.identity_loss(X, 3)

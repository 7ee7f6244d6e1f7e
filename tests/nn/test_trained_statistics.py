"""Running statistics of batch norm that are parameters, as layers written out by hand have them."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F

WAYS = pytest.mark.parametrize("way", [lambda f: f, lambda f: paddle.jit.to_static(f, full_graph=True)])


class Normed(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        for i, name in enumerate(("mean", "variance", "weight", "bias")):
            setattr(self, name, self.create_parameter([3], dtype="float32"))
            getattr(self, name).set_value(np.full(3, 0.5 + i, "float32"))

    def forward(self, x, training):
        return F.batch_norm(x, self.mean, self.variance, weight=self.weight, bias=self.bias, training=training)


@WAYS
def test_they_change_and_get_no_gradient(way):
    """The numbers are PaddlePaddle's."""
    net = Normed()
    net.forward = way(net.forward)
    x = paddle.to_tensor(np.arange(24, dtype="float32").reshape(2, 3, 4), stop_gradient=False)
    for times in (1, 2):
        y = net(x, True)
        (y * y * x).sum().backward()
        np.testing.assert_allclose(net.weight.grad.numpy(), times * np.array([641.7834, 801.7834, 961.7834]), rtol=1e-5)
        assert net.mean.grad is None and net.variance.grad is None
        assert net.mean.is_leaf and not net.mean.stop_gradient
    expected = 0.9 * (0.9 * 0.5 + 0.1 * np.array([7.5, 11.5, 15.5])) + 0.1 * np.array([7.5, 11.5, 15.5])
    np.testing.assert_allclose(net.mean.numpy(), expected, rtol=1e-6)


@WAYS
def test_given_ones_get_no_gradient(way):
    net = Normed()
    net.forward = way(net.forward)
    x = paddle.to_tensor(np.arange(24, dtype="float32").reshape(2, 3, 4), stop_gradient=False)
    y = net(x, False)
    (y * y * x).sum().backward()
    assert net.mean.grad is None and net.variance.grad is None
    np.testing.assert_allclose(net.bias.grad.numpy(), [3351.213, 5992.0347, 9677.969], rtol=1e-5)
    assert net.mean.tolist() == [0.5] * 3

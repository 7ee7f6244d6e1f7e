"""`stop_gradient` of arguments and captured tensors, set by the function: each run does what eager code does."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

WAYS = pytest.mark.parametrize(
    "way",
    [lambda f: f, paddle.jit.to_static, lambda f: paddle.jit.to_static(f, full_graph=True)],
    ids=["eager", "static", "whole"],
)


@WAYS
def test_an_argument_wants_a_gradient_from_then_on(way):
    def penalty(x):
        x.stop_gradient = False
        y = (x * x).sum()
        gradient = paddle.grad(y, x, create_graph=True)[0]
        return (gradient**2).sum()

    run = way(penalty)
    for scale in (1.0, 2.0, 3.0):
        x = paddle.to_tensor([1.0 * scale, 2.0])
        run(x).backward()
        assert not x.stop_gradient
        np.testing.assert_allclose(x.grad.numpy(), [8 * scale, 16.0])
    run(x).backward()  # a leaf by now
    np.testing.assert_allclose(x.grad.numpy(), [48.0, 32.0])


@WAYS
@pytest.mark.parametrize("method", ["detach_", "requires_grad_"])
@pytest.mark.parametrize("stop", [False, True])
def test_methods_that_set_the_flag_of_an_argument(way, method, stop):
    x = paddle.to_tensor([1.0], stop_gradient=stop)
    assert way(lambda given: getattr(given, method)())(x) is x
    assert x.stop_gradient is (method == "detach_")


@WAYS
@pytest.mark.parametrize("name", ["stop_gradient", "trainable"])
def test_a_forward_that_freezes_parameters(way, name):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 1)

        def forward(self, x):
            for parameter in self.first.parameters():
                setattr(parameter, name, name == "stop_gradient")
            return self.second(self.first(x))

    net = Net()
    net.forward = way(net.forward)
    for call in range(3):
        net(paddle.ones([3, 2])).sum().backward()
        assert [p.grad is None for p in net.parameters()] == [True, True, False, False]
        assert [p.stop_gradient for p in net.parameters()] == [True, True, False, False]
        if call == 1:
            net.first.weight.stop_gradient = False  # thawed by who likes: the next call freezes it again
    np.testing.assert_allclose(net.second.bias.grad.numpy(), [9.0])


@WAYS
def test_a_tensor_of_the_module_is_thawed(way):
    kept = paddle.to_tensor([3.0])

    def scaled(x):
        kept.stop_gradient = False
        return x * kept

    way(scaled)(paddle.to_tensor([2.0])).backward()
    np.testing.assert_allclose(kept.grad.numpy(), [2.0])


def test_with_gradients_off_the_flag_is_set_all_the_same():
    @paddle.jit.to_static(full_graph=True)
    def thaw(x):
        x.stop_gradient = False
        return x

    with paddle.no_grad():
        x = paddle.ones([2])
        thaw(x)
    assert not x.stop_gradient


def test_where_a_tensor_decides_it_is_refused():
    @paddle.jit.to_static(full_graph=True)
    def thaw(x):
        if x.sum() > 0:
            x.stop_gradient = False
        return x * 2

    with pytest.raises(UnsupportedError, match="or where a tensor decides"):
        thaw(paddle.ones([2]))

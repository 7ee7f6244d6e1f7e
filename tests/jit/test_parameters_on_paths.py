"""A Layer's parameters that a path sets to None or copies, and what may not take their names."""

import copy

import pytest

import vitrify as paddle
from vitrify.core.errors import DTypeError, UnsupportedError

MODES = [True, False]
SIGNS = [1.0, -1.0, 1.0, -1.0]


class Weighted(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2], default_initializer=paddle.nn.initializer.Constant(1.5))


class Dropping(Weighted):
    def forward(self, x):
        if x.sum() > 0:
            self.weight = None
        return x if self.weight is None else x * self.weight


class Exchanging(Weighted):
    def forward(self, x):
        if x.sum() > 0:
            self.weight = x * 2
        return x


@pytest.mark.parametrize("full_graph", MODES)
def test_a_parameter_that_one_path_sets_to_none(full_graph):
    eager, layer = Dropping(), Dropping()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for sign in [-1.0, *SIGNS]:
        given = [paddle.to_tensor([1.0 * sign, 2.0], stop_gradient=False) for _ in range(2)]
        found = [function(x) for function, x in zip((eager.forward, static), (given[0] - 1.5, given[1] - 1.5))]
        for result in found:
            result.sum().backward()
        assert found[0].tolist() == found[1].tolist()
        assert given[0].grad.tolist() == given[1].grad.tolist()
        assert (eager.weight is None) == (layer.weight is None)
        assert [*eager._parameters] == [*layer._parameters]


@pytest.mark.parametrize("full_graph", MODES)
def test_what_takes_the_name_of_a_parameter_is_refused_if_the_path_is_taken(full_graph):
    layer = Exchanging()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    weight = layer.weight
    for sign in [-1.0, *SIGNS]:
        x = paddle.to_tensor([sign, 0.5])
        if sign > 0:
            with pytest.raises(DTypeError, match="'weight' should be a Parameter or None, but got Tensor"):
                static(x)
        else:
            assert static(x) is x
        assert layer.weight is weight


KEPT = paddle.to_tensor([5.0, 6.0], stop_gradient=False)


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_leaf_is_a_leaf(copied, full_graph):
    def f(x):
        return copied(KEPT), x * 2

    static = paddle.jit.to_static(f, full_graph=full_graph)
    for _ in range(3):
        found, doubled = static(paddle.to_tensor([1.0, 2.0], stop_gradient=False))
        assert (found.stop_gradient, doubled.stop_gradient) == (False, False)
        (found * doubled).sum().backward()
        assert found.grad.tolist() == [2.0, 4.0]
        assert KEPT.grad is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_leaf_beside_what_was_computed_from_it(copied):
    def f(x):
        y = copied(KEPT)
        return y, y * x

    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match="leaves the function beside"):
        paddle.jit.to_static(f, full_graph=True)(x)
    static = paddle.jit.to_static(f)
    for _ in range(3):
        y, product = static(x)
        product.sum().backward()
        assert y.grad.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_parameter_is_a_parameter(copied):
    layer = Weighted()

    def f(x):
        return copied(layer.weight), x * 2

    with pytest.raises(UnsupportedError, match="which would be a Parameter, too"):
        paddle.jit.to_static(f, full_graph=True)(paddle.ones([2]))
    static = paddle.jit.to_static(f)
    for _ in range(3):
        found, _ = static(paddle.ones([2]))
        assert type(found) is type(layer.weight)
        assert found.tolist() == [1.5, 1.5]
        assert found is not layer.weight

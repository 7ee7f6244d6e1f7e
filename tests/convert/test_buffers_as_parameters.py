"""A name of a Layer that is given a parameter is one of its parameters, whatever it was before: as in eager code."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn


class Tied(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = self.create_parameter([3], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("held", paddle.ones([3]))
        self.register_buffer("other", paddle.zeros([3]))
        self.plain = paddle.zeros([3])


class OfBuffer(Tied):
    def forward(self, x):
        self.held = self.first
        return x * self.held


class OfAttribute(Tied):
    def forward(self, x):
        self.plain = self.first
        self.other = self.other + 1
        return x * self.plain + self.other


class OnAPath(Tied):
    def forward(self, x):
        if x.sum() > 0:
            self.held = self.first
        return x * self.held


def tables(layer):
    return [list(layer._parameters), list(layer._buffers), list(layer.state_dict()), layer.other.tolist()]


@pytest.mark.parametrize("full_graph", [False, True])
@pytest.mark.parametrize("cls", [OfBuffer, OfAttribute, OnAPath])
def test_a_parameter_under_the_name_of_a_buffer(cls, full_graph):
    eager, layer = cls(), cls()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for row in ([-1.0, 2.0, -3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]):
        x = paddle.to_tensor(row)
        assert np.allclose(static(x).numpy(), eager(x).numpy())
        assert tables(layer) == tables(eager)
    assert all(getattr(layer, name) is layer.first for name in layer._parameters)


def test_a_call_that_raises_has_moved_the_buffer_alone():
    layer = Tied()

    def fails(x):
        layer.held = layer.first
        raise KeyError("told")

    with pytest.raises(KeyError):
        paddle.jit.to_static(fails, full_graph=True)(paddle.ones([3]))
    eager = Tied()
    eager.held = eager.first
    assert tables(layer) == tables(eager)

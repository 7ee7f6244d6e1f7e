"""A parameter that stands in a Layer and in another place, too, when a program is built: later there may be two."""

import pytest

import vitrify as paddle


class Noting(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2], default_initializer=paddle.nn.initializer.Constant(1.5))
        self.table = {}

    def forward(self, x):
        return self.table["b"] * 1, self.weight, self.weight * x


@pytest.mark.parametrize("full_graph", [True, False])
def test_each_place_is_read_where_it_is(full_graph):
    layer = Noting()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    first = layer.weight
    other = paddle.to_tensor([7.0, 8.0], stop_gradient=False)
    third = layer.create_parameter([2], default_initializer=paddle.nn.initializer.Constant(4.0))
    x = paddle.to_tensor([1.0, 2.0])
    for weight, noted in [
        (first, first), (first, other), (first, first), (third, third), (third, first), (first, third), (first, other),
        (first, first),
    ] * 2:  # fmt: skip
        layer.weight, layer.table["b"] = weight, noted
        copied, found, product = static(x)
        assert copied.tolist() == noted.tolist()
        assert found is weight
        assert product.tolist() == (weight * x).tolist()

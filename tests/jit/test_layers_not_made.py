"""A Layer whose `__init__` leaves out super().__init__() fails in programs with the words of eager code."""

import pytest

import vitrify as paddle


class Unmade(paddle.nn.Layer):
    def __init__(self):
        self.scale = 3

    def forward(self, x):
        return x * self.scale


class UnmadeWithTensor(paddle.nn.Layer):
    def __init__(self, x):
        self.kept = x


def calls(x):
    return Unmade()(x)


def keeps(x):
    return UnmadeWithTensor(x)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [calls, keeps])
def test_the_error_is_that_of_eager_code(function, full_graph):
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises((AttributeError, RuntimeError, ValueError)) as eager:
        function(x)
    with pytest.raises(type(eager.value)) as static:
        paddle.jit.to_static(function, full_graph=full_graph)(x)
    assert str(static.value).splitlines()[0] == str(eager.value).splitlines()[0]

"""A function whose code or defaults are exchanged is another function, and so is what it calls."""

import pytest

import vitrify as paddle
from vitrify.ir.program import Block


def double(x):
    return x * 2


def more(x):
    return x + 100


def scaled(x, k=2, *, by=1):
    return x * k * by


def calls(x):
    return double(x) + 1


@pytest.fixture
def restored():
    kept = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f in (double, more, scaled, calls)]
    yield
    for function, code, defaults, keywords in kept:
        function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, keywords


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("full_graph", [True, False])
def test_code_and_defaults_may_be_exchanged(full_graph):
    x = paddle.to_tensor([1.0, 2.0])
    static = {f: paddle.jit.to_static(f, full_graph=full_graph) for f in (double, scaled, calls)}
    for _ in range(2):
        assert [static[f](x).tolist() for f in static] == [f(x).tolist() for f in static]
    double.__code__ = more.__code__
    scaled.__defaults__, scaled.__kwdefaults__ = (5,), {"by": 3}
    for _ in range(2):
        assert [static[f](x).tolist() for f in static] == [f(x).tolist() for f in static]
    assert static[double](x).tolist() == [101, 102]


@pytest.mark.parametrize("full_graph", [True, False])
def test_so_may_those_of_a_function_made_in_a_function(full_graph):
    def f(x):
        return x * 3

    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(f, full_graph=full_graph)
    assert static(x).tolist() == static(x).tolist() == [3, 6]
    f.__code__ = (lambda x: x - 1).__code__
    assert static(x).tolist() == static(x).tolist() == [0, 1]


def test_an_attribute_of_the_class_comes_before_a_buffer():
    class Caching(paddle.nn.Layer):
        cache = None

        def forward(self, x):
            return x if self.cache is None else x + self.cache

    x, layer = paddle.to_tensor([1.0, 2.0]), Caching()
    static = paddle.jit.to_static(layer.forward)
    assert static(x).tolist() == [1, 2]
    layer.cache = paddle.to_tensor([5.0, 5.0])
    assert static(x).tolist() == layer.forward(x).tolist() == [1, 2]
    layer.cache = None
    assert static(x).tolist() == [1, 2]
    Caching.cache = paddle.to_tensor([1.0, 1.0])
    assert static(x).tolist() == [2, 3]


def test_a_failure_of_ours_is_not_taken_for_the_users(monkeypatch):
    def f(x, log):
        log.append(1)
        return x * 2

    static = paddle.jit.to_static(f, full_graph=True)
    monkeypatch.setattr(Block, "create_var", None)
    with pytest.raises(TypeError, match="not callable"):
        static(paddle.to_tensor([1.0]), [])

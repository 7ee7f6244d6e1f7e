"""Methods of library classes that somebody exchanges, as tests and repositories do: of Layers and of Tensor."""

import pytest

import vitrify as paddle
from vitrify import nn

Linear, Sequential, ReLU = nn.Linear, nn.Sequential, nn.ReLU


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = Linear(2, 2, weight_attr=nn.initializer.Constant(0.5))
        self.rest = Sequential(ReLU(), Linear(2, 2, weight_attr=nn.initializer.Constant(-1.5)))

    def forward(self, x):
        x = self.first(x)
        if x.sum() > 100:
            x = x * 2
        return self.rest(x) + nn.Softmax()(x)


class Wide(Linear):
    """A class of the user's with the library's `forward`."""


class OfWide(nn.Layer):
    def __init__(self):
        super().__init__()
        self.wide = Wide(2, 2, weight_attr=nn.initializer.Constant(0.25))

    def forward(self, x):
        return self.wide(x) * 2


def with_a_layer_of_its_own(x):
    return nn.Softmax()(x) * 2


def times(number, of):
    """A method that gives `number` times what the method `of` gives."""
    return lambda self, *args: of(self, *args) * number


def anew(number):
    """A method that decides by a tensor, so that it must be converted."""

    def forward(self, x):
        if x.sum() > 0:
            return x * number
        return x - number

    return forward


LAYER_METHODS = [
    (Linear, "forward"), (ReLU, "forward"), (Sequential, "forward"), (nn.Softmax, "forward"), (nn.Layer, "__call__"),
    (Linear, "__call__"),
]  # fmt: skip


def outcome(function, values=((1.0, -2.0), (0.5, 3.0))):
    x = paddle.to_tensor(values, stop_gradient=False)
    result = function(x)
    result.sum().backward()
    return result.tolist(), x.grad.tolist()


def of_a_net(full_graph):
    eager, static = Net(), Net()
    return eager, paddle.jit.to_static(static, full_graph=full_graph)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("cls", "name"), LAYER_METHODS)
def test_methods_of_layer_classes(cls, name, full_graph, monkeypatch):
    eager, static = of_a_net(full_graph)
    held = getattr(cls, name)
    before = outcome(eager)
    last = anew(7.0) if name == "forward" else times(7.0, lambda self, x: x.exp())
    for method in (None, times(3.0, held), times(5.0, held), last, None):
        with monkeypatch.context() as patched:
            if method is not None:
                patched.setattr(cls, name, method)
                assert outcome(eager) != before
            for _ in range(3):
                assert outcome(static) == outcome(eager)
    assert outcome(static) == before


@pytest.mark.parametrize("full_graph", [True, False])
def test_methods_exchanged_before_the_first_call(full_graph, monkeypatch):
    eager, static = of_a_net(full_graph)
    with monkeypatch.context() as patched:
        patched.setattr(Linear, "forward", anew(2.0))
        for _ in range(3):
            assert outcome(static) == outcome(eager)
    for _ in range(3):
        assert outcome(static) == outcome(eager)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("find", [lambda net: net.first, lambda net: net.rest, lambda net: net.rest[1]])
def test_a_forward_of_a_layers_own(find, full_graph):
    eager, static = of_a_net(full_graph)
    before = outcome(eager)
    for number in (None, 3.0, 5.0, None, 3.0):
        for net in (eager, static):
            layer = find(net)
            if number is not None:
                layer.forward = lambda x, number=number: x * number if x.sum() > -100 else x
            elif "forward" in vars(layer):
                del layer.forward
        for _ in range(3):
            assert outcome(static) == outcome(eager)
        assert (outcome(static) == before) is (number is None)


def test_classes_that_inherit_the_method(monkeypatch):
    static = paddle.jit.to_static(OfWide(), full_graph=True)
    eager = OfWide()
    for cls in (Linear, Wide, None):
        with monkeypatch.context() as patched:
            if cls is not None:
                patched.setattr(cls, "forward", anew(4.0))
            for _ in range(2):
                assert outcome(static) == outcome(eager)


def test_layers_made_inside(monkeypatch):
    static = paddle.jit.to_static(with_a_layer_of_its_own, full_graph=True)
    for number in (None, 3.0, 4.0, None):
        with monkeypatch.context() as patched:
            if number is not None:
                patched.setattr(nn.Softmax, "forward", anew(number))
            for _ in range(2):
                assert outcome(static) == outcome(with_a_layer_of_its_own)


def test_nothing_is_built_again_as_long_as_nothing_is_exchanged():
    _, static = of_a_net(True)
    for _ in range(4):
        outcome(static)
    assert static.forward.cache_info().misses == 1


# --- of Tensor -------------------------------------------------------------------------------------------------------

Tensor = paddle.Tensor


def by_method(x):
    return x.exp() + 1


def by_operator(x):
    return x * 2 + 1


def by_reflected_operator(x):
    return 3 - x * 1


def by_item(x):
    y = x[0] * 1
    return y + 1


def in_a_branch(x):
    if x.sum() > 0:
        return x.exp() * 2
    return x * 3


def of_a_parameter(x):
    return NET.first.weight.exp() + x


def by_function(x):
    return Tensor.exp(x) * 2


def by_name(x):
    return getattr(x, "exp")() * 2  # noqa: B009 - what is tested


def in_parts(x):
    y = x.exp() * 2 + 1
    size = len(y.numpy().tobytes())
    return y.exp() * size + x.exp()


NET = Net()


def decides(of):
    def method(self, *others):
        found = of(self, *others)
        if found.sum() > 3:
            return found.scale(4.0)
        return found.scale(2.0)

    return method


TENSOR_METHODS = [
    (by_method, "exp"), (by_operator, "__mul__"), (by_operator, "__add__"), (by_reflected_operator, "__rsub__"),
    (by_item, "__getitem__"), (in_a_branch, "exp"), (of_a_parameter, "exp"), (by_function, "exp"), (by_name, "exp"),
]  # fmt: skip


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("function", "name"), TENSOR_METHODS)
def test_methods_of_tensors(function, name, full_graph, monkeypatch):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    held = getattr(Tensor, name)
    for method in (None, lambda *given: held(*given).scale(3.0), None, decides(held), None):
        with monkeypatch.context() as patched:
            if method is not None:
                patched.setattr(Tensor, name, method)
            for _ in range(3):
                assert outcome(static) == outcome(function)


def test_in_functions_that_run_as_segments(monkeypatch):
    static = paddle.jit.to_static(in_parts, full_graph=False)
    held = Tensor.exp
    for number in (None, 3.0, None, 4.0):
        with monkeypatch.context() as patched:
            if number is not None:
                patched.setattr(Tensor, "exp", lambda self, number=number: held(self).scale(number))
            for _ in range(4):
                assert outcome(static) == outcome(in_parts)


@pytest.mark.parametrize("full_graph", [True, False])
def test_methods_and_properties_that_tensors_do_not_have(full_graph, monkeypatch):
    def function(x):
        y = x.times_that(k=3) + x.doubled if hasattr(x, "times_that") else x * 5
        return y + x

    static = paddle.jit.to_static(function, full_graph=full_graph)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'times_that'"):
        paddle.jit.to_static(lambda x: x.times_that(), full_graph=True)(paddle.ones([1]))
    for number in (2, 3):
        with monkeypatch.context() as patched:
            method = lambda self, k, number=number: self * k if self.sum() > number else self * number  # noqa: E731
            patched.setattr(Tensor, "times_that", method, raising=False)
            patched.setattr(Tensor, "doubled", property(lambda self, number=number: self * number), raising=False)
            for _ in range(3):
                assert outcome(static) == outcome(function)


def test_methods_that_nobody_uses_may_be_exchanged(monkeypatch):
    static = paddle.jit.to_static(by_method, full_graph=True)
    outcome(static)
    monkeypatch.setattr(Tensor, "tanh", lambda self: self)
    outcome(static)
    assert static.cache_info().misses == 1


class Base:
    @property
    def width(self):
        return 2.0

    def grow(self, x):
        return x * self.width


class Between(Base):
    @property
    def width(self):
        return super().width + 1.0


class Own(Between):
    pass


class Asked:
    def __getattr__(self, name):
        return 4.0


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (Own, "grow", lambda self, x: x - 1),
        (Between, "grow", lambda self, x: x + 1),
        (Base, "width", property(lambda self: 5.0)),
        (Base, "width", 6.0),
        (Own, "width", 7.0),
    ],
)
def test_what_a_class_inherits_is_looked_up_anew(cls, name, value, full_graph, monkeypatch):
    own = Own()
    static = paddle.jit.to_static(lambda x: own.grow(x), full_graph=full_graph)
    before = outcome(static)
    with monkeypatch.context() as patched:
        patched.setattr(cls, name, value, raising=False)
        expected = outcome(own.grow)
        assert expected != before
        for _ in range(2):
            assert outcome(static) == expected
    assert outcome(static) == before


@pytest.mark.parametrize("full_graph", [True, False])
def test_an_attribute_that_getattr_made_up_may_be_set_later(full_graph):
    asked = Asked()
    static = paddle.jit.to_static(lambda x: x * asked.factor, full_graph=full_graph)
    assert outcome(static)[0] == [[4.0, -8.0], [2.0, 12.0]]
    asked.factor = 1.0
    assert outcome(static)[0] == [[1.0, -2.0], [0.5, 3.0]]
    del asked.factor
    assert outcome(static)[0] == [[4.0, -8.0], [2.0, 12.0]]


@pytest.mark.parametrize("full_graph", [True, False])
def test_keyword_defaults_changed_in_place(full_graph):
    def f(x, *, k=2.0):
        return x * k

    static = paddle.jit.to_static(f, full_graph=full_graph)
    assert outcome(static)[0] == [[2.0, -4.0], [1.0, 6.0]]
    f.__kwdefaults__["k"] = 1.0
    assert outcome(static)[0] == [[1.0, -2.0], [0.5, 3.0]]

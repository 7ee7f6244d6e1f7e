"""to_static above and below other decorators."""

import functools
import types
import warnings

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.core.errors import UnsupportedError
from vitrify.jit import to_static
from vitrify.transformers.errors import NoSourceError


def tensor(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def twice(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        return out * 2 if out.sum() > 0 else out

    return wrapper


class Model:
    k = 3.0

    @to_static
    @classmethod
    def class_outside(cls, x):
        return x * cls.k if x.sum() > 0 else x

    @classmethod
    @to_static
    def class_inside(cls, x):
        return x * cls.k if x.sum() > 0 else x

    @to_static
    @staticmethod
    def static_outside(x):
        return x * 3 if x.sum() > 0 else x

    @staticmethod
    @to_static
    def static_inside(x):
        return x * 3 if x.sum() > 0 else x

    @to_static
    @property
    def property_outside(self):
        return tensor(1.0) * self.k if self.k > 0 else tensor(0.0)

    @property
    @to_static
    def property_inside(self):
        return tensor(1.0) * self.k if self.k > 0 else tensor(0.0)

    @to_static
    @functools.cached_property
    def cached_outside(self):
        return tensor(1.0) * self.k

    @functools.cached_property
    @to_static
    def cached_inside(self):
        return tensor(1.0) * self.k


@to_static
@twice
def wraps_inside(x):
    return x * 1.5 if x.sum() > 0 else x


@twice
@to_static
def wraps_outside(x):
    return x * 1.5 if x.sum() > 0 else x


@to_static
@paddle.no_grad()
def no_grad_inside(x):
    return x * 3 if x.sum() > 0 else x * 1


@paddle.no_grad()
@to_static
def no_grad_outside(x):
    return x * 3 if x.sum() > 0 else x * 1


FUNCTIONS = {
    "class_outside": Model.class_outside,
    "class_inside": Model.class_inside,
    "class of an instance": Model().class_outside,
    "static_outside": Model.static_outside,
    "static_inside": Model().static_inside,
    "wraps_inside": wraps_inside,
    "wraps_outside": wraps_outside,
    "no_grad_inside": no_grad_inside,
    "no_grad_outside": no_grad_outside,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_order(name):
    for x, wanted in ((tensor(1.0, 2.0), [3.0, 6.0]), (tensor(-1.0, -2.0), [-1.0, -2.0])):
        for _ in range(2):
            out = FUNCTIONS[name](x)
            np.testing.assert_allclose(out.numpy(), wanted)
            assert out.stop_gradient is name.startswith("no_grad")


def test_properties():
    model = Model()
    for name in ("property_outside", "property_inside", "cached_outside", "cached_inside"):
        assert getattr(model, name).tolist() == [3.0]
        assert getattr(model, name).tolist() == [3.0]
    assert model.__dict__["cached_inside"] is model.cached_inside
    model.k = 5.0
    assert model.property_outside.tolist() == model.property_inside.tolist() == [5.0]


class Hooked(nn.Layer):
    def forward(self, x):
        return x * 2


def test_hooks_set_and_removed_after_the_first_call():
    layer = to_static(Hooked())
    inner = Hooked()
    outer = to_static(lambda x: inner(x), full_graph=True)
    x = tensor(1.0)
    assert layer(x).item() == outer(x).item() == 2.0
    handles = [m.register_forward_post_hook(lambda m, i, o: o + 1 if o.sum() > 0 else o) for m in (layer, inner)]
    assert layer(x).item() == outer(x).item() == 3.0
    for handle in handles:
        handle.remove()
    assert layer(x).item() == outer(x).item() == 2.0


async def later(x):
    return x


def test_coroutines_say_that_they_are_not_converted():
    with pytest.raises(UnsupportedError, match=r"coroutines .* are not converted"):
        to_static(later, full_graph=True)(tensor(1.0))


def test_without_source_it_runs_eagerly():
    space = {}
    exec("def f(x):\n    return x * 2 if x.sum() > 0 else x\n", space)
    static = to_static(space["f"], full_graph=False)
    with pytest.warns(UserWarning, match=r"the source of function `f` .* is not available[\s\S]*runs eagerly"):
        assert static(tensor(1.0)).item() == 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert static(tensor(-1.0)).item() == -1.0


def test_without_source_the_whole_graph_cannot_be_had():
    space = {}
    exec("def f(x):\n    return x * 2\n", space)
    with pytest.raises(NoSourceError, match="not available"):
        to_static(space["f"], full_graph=True)(tensor(1.0))


class Counted:
    """A decorator that is a class, and makes methods itself."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.calls = 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args) * 2

    def __get__(self, owner, cls=None):
        return self if owner is None else types.MethodType(self, owner)


class WithCounted:
    @Counted
    def method(self, x):
        return x * 3 if x.sum() > 0 else x


COUNTED = WithCounted()


def calls_a_counted_method(x):
    return COUNTED.method(x)


@pytest.mark.parametrize("fn", [calls_a_counted_method, COUNTED.method], ids=["called", "target"])
@pytest.mark.parametrize("full_graph", [True, False])
def test_a_method_that_a_decorator_of_a_class_gives_is_converted(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in ([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]):
        x = paddle.to_tensor(values)
        before = WithCounted.method.calls
        expected, in_eager = fn(x).tolist(), WithCounted.method.calls - before
        assert static(x).tolist() == expected
        assert WithCounted.method.calls == before + 2 * in_eager

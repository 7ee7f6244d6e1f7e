"""What a call's program depends on: each field of the key flipped alone."""

import functools
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import vitrify as paddle

from .models import Average, Scale, Stack, counted, tensor

Pair = namedtuple("Pair", "a b")


@dataclass
class Box:
    """A dataclass argument."""

    a: object
    b: object


def leaves(value, k=None):
    """Sum of the tensors in any structure."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, Box):
        value = (value.a, value.b)
    elif isinstance(value, paddle.Tensor):
        return value * 1
    total = 0
    for item in value:
        total = total + item
    return total


X = tensor(1.0, 2.0)
HITS = [
    (X, tensor(5.0, 6.0)),
    ([X, X], [X * 2, X]),
    ((X, 1), (X, 1)),
    ({"a": X, "b": 2}, {"a": X, "b": 2}),
    (Pair(X, 1), Pair(X * 2, 1)),
    (Box(X, 1), Box(X * 2, 1)),
]
MISSES = [
    ([X, X], (X, X)),
    ([X, X], [X]),
    ({"a": X}, {"b": X}),
    ({"a": X, "b": X}, OrderedDict(a=X, b=X)),
    (Pair(X, X), (X, X)),
    (Box(X, X), Pair(X, X)),
    ([X, 1], [X, 2]),
    ([X, 1], [X, True]),
    ([X, 1], [X, 1.0]),
    ([X, 0.0], [X, -0.0]),
    (X, X.astype("float64")),
    (X, X.astype("int32")),
    (X, tensor(1.0, 2.0, grad=True)),
    (X, X.reshape([1, 2])),
]


@pytest.mark.parametrize(("first", "second"), HITS, ids=range(len(HITS)))
def test_equal_calls_share_a_program(first, second):
    f, runs = counted(leaves)
    f(first)
    assert np.allclose(f(second).numpy(), leaves(second).numpy())
    assert len(runs) == len(f.program_cache) == 1


@pytest.mark.parametrize(("first", "second"), MISSES, ids=range(len(MISSES)))
def test_different_calls_do_not(first, second):
    f, runs = counted(leaves)
    f(first)
    assert np.allclose(f(second).numpy(), leaves(second).numpy())
    assert len(runs) == len(f.program_cache) == 2
    f(first)
    f(second)
    assert len(runs) == 2


def test_values_without_hash():
    f, runs = counted(lambda x, s: x[s] * 1)
    assert f(X, slice(0, 1)).tolist() == f(X, slice(0, 1)).tolist() == [1]
    assert len(runs) == 1
    assert f(X, slice(1, 2)).tolist() == [2]
    g, runs = counted(lambda x, s: x * len(s))
    assert g(X, {1, 2}).tolist() == g(X, {2, 1}).tolist() == [2, 4]
    assert len(runs) == 1
    assert g(X, {1, 2, 3}).tolist() == [3, 6]
    h, runs = counted(lambda x, s: x * len(s))
    key = bytearray(b"ab")
    h(X, key), h(X, key)
    assert len(runs) == 1


class Named:
    """Equal to all of its name, whatever else it holds."""

    def __init__(self, name, scale):
        self.name, self.scale = name, scale

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Scaled(str):
    def __new__(cls, name, scale):
        made = super().__new__(cls, name)
        made.scale = scale
        return made


@pytest.mark.parametrize("kind", [Named, Scaled])
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: frozenset([v])])
def test_equal_objects_of_the_users_may_hold_different_things(kind, wrap):
    f, _ = counted(lambda x, held: x * next(iter(held if isinstance(held, (list, frozenset)) else [held])).scale)
    assert [f(X, wrap(kind("a", scale))).tolist() for scale in (2.0, 3.0, 2.0)] == [[2, 4], [3, 6], [2, 4]]


def test_nan_is_equal_to_itself_here():
    f, runs = counted(lambda x, k: x * k)
    f(X, float("nan")), f(X, float("nan"))
    assert len(runs) == 1


def test_training_flag_of_the_layer_and_of_sublayers():
    net = paddle.jit.to_static(Stack())
    x = tensor(1.0, 2.0, 3.0)
    net(x), net(x)
    assert len(net.forward.program_cache) == 1
    net.eval()
    mean = net.average.mean.numpy()
    net(x)
    assert len(net.forward.program_cache) == 2
    assert np.array_equal(net.average.mean.numpy(), mean)
    net.average.train()
    net(x)
    assert not np.array_equal(net.average.mean.numpy(), mean)
    assert len(net.forward.program_cache) == 3
    net.train()
    net(x)
    assert len(net.forward.program_cache) == 3


def test_training_flag_of_layers_found_in_other_ways():
    inner = Average()
    held = {"deep": [inner]}

    class Holder:
        def __init__(self):
            self.net = inner

        def run(self, x):
            return self.net(x)

    calls = [
        lambda x: inner(x),
        lambda x: held["deep"][0](x),
        Holder().run,
    ]
    for call in calls:
        f = paddle.jit.to_static(call)
        inner.train()
        f(tensor(1.0, 2.0, 3.0))
        inner.eval()
        mean = inner.mean.numpy()
        f(tensor(1.0, 2.0, 3.0))
        assert np.array_equal(inner.mean.numpy(), mean)


def test_a_layer_as_argument():
    f, runs = counted(lambda layer, x: layer(x))
    a, b, x = Scale(), Scale(), tensor(1.0, 2.0, 3.0)
    for layer in (a, b, a, b):
        assert f(layer, x).tolist() == layer(x).tolist()
    assert len(runs) == 2


def test_another_parameter_in_its_place():
    net = paddle.jit.to_static(Scale())
    x = tensor(1.0, 2.0, 3.0)
    net(x)
    net.w = Scale().w
    assert np.allclose(net(x).numpy(), net.forward.dygraph_function(x).numpy())


def test_grad_mode():
    f, runs = counted(lambda x: x * 2)
    x = tensor(1.0, grad=True)
    assert not f(x).stop_gradient
    with paddle.no_grad():
        assert f(x).stop_gradient
        f(x)
    assert len(runs) == 2


def test_amp_state():
    f, runs = counted(lambda x: paddle.matmul(x, x))
    x = paddle.ones([2, 2])
    assert f(x).dtype is paddle.float32
    with paddle.amp.auto_cast(level="O1"):
        assert f(x).dtype is paddle.float16 or f(x).dtype is paddle.bfloat16
        f(x)
    assert f(x).dtype is paddle.float32
    assert len(runs) == 2


def test_default_dtype():
    f, _runs = counted(lambda x: x + paddle.ones([1]))
    x = paddle.ones([1], "float64")
    assert f(paddle.ones([1])).dtype is paddle.float32
    paddle.set_default_dtype("float64")
    try:
        assert f(x).dtype is paddle.float64
        assert f(paddle.ones([1], "float32")).dtype is paddle.float64
    finally:
        paddle.set_default_dtype("float32")


def test_keys_name_what_differs():
    f = paddle.jit.to_static(lambda x, k: x * k)
    f(X, 1), f(X, 2)
    a, b = f.program_cache.keys()
    assert a != b and a.differing_fields(b) == ["values"]


def applied(x, f):
    return f(x)


def test_functions_made_for_each_call_are_told_by_what_they_hold():
    static, runs = counted(applied)
    x = paddle.ones([2])
    for scale in (2, 2, 3, 2):
        assert static(x, lambda t, scale=scale: t * scale).tolist() == [scale, scale]
        assert static(x, lambda t: t * scale).tolist() == [scale, scale]
        assert static(x, functools.partial(times, by=scale)).tolist() == [scale, scale]
    assert len(runs) == 6


def times(x, by):
    return x * by


def test_functions_that_hold_tensors_are_told_by_the_tensors():
    static, runs = counted(applied)
    for value in (1.0, 2.0):
        held = paddle.full([2], value)
        for _ in range(2):
            assert static(paddle.ones([2]), lambda t: t * held).tolist() == [value, value]
    assert len(runs) == 2


def shown(x, value):
    return x * 1, repr(value)


@pytest.mark.parametrize(
    "values",
    [
        [1, True, 1.0, (1,), (True,), (1.0,)],
        [0.0, -0.0, (0.0,), (-0.0,), complex(0, 0.0), complex(0, -0.0)],
        [{1: 2}, {True: 2}, {1.0: 2}, {1: True}, {"a": {1: 2}}, {"a": {True: 2}}],
        [{0.0: 1}, {-0.0: 1}, {(1, 2): 3}, {(True, 2): 3}, OrderedDict({1: 2}), OrderedDict({True: 2})],
        [range(0), range(0, 0, 2), slice(1, 2), slice(True, 2), {1}, {True}, frozenset({1}), frozenset({True})],
    ],
)
def test_equal_values_that_are_not_the_same_have_programs_of_their_own(values):
    static, runs = counted(shown)
    for _ in range(2):
        for value in values:
            assert static(paddle.ones([2]), value)[1] == repr(value)
    assert len(runs) == len(values)

"""FunctionSpec: binding calls to leaves, and the user's input_spec to arguments."""

import inspect

import pytest

import vitrify as paddle
from vitrify.jit.function_spec import FunctionSpec
from vitrify.static import InputSpec


def f(x, k=2, *rest, flag=True, **more):
    return x


def test_a_call_becomes_leaves_and_back():
    leaves = []
    tree = FunctionSpec(f).flatten_call(("x", [1, {"a": 2}]), {"flag": False}, leaves)
    assert leaves == ["x", 1, 2, False]
    assert FunctionSpec.rebuild(tree, leaves) == (("x", [1, {"a": 2}]), {"flag": False})


def test_defaults_are_filled_in():
    a, b = [], []
    spec = FunctionSpec(f)
    assert spec.flatten_call(("x",), {}, a) == spec.flatten_call((), {"x": "x", "k": 2}, b)
    assert a == b == ["x", 2, True]


def specs_for(function, input_spec, *args):
    spec = FunctionSpec(function, input_spec)
    leaves = []
    tree = spec.flatten_call(args, {}, leaves)
    return spec.specs_for(tree, leaves, lambda v: False)


def g(x, pair, k):
    return x


X, Y = InputSpec([None], name="x"), InputSpec([2], name="y")


@pytest.mark.parametrize(
    ("input_spec", "expected"),
    [
        ([X], [X, None, None, None]),
        (X, [X, None, None, None]),
        ([X, [Y, Y], 3], [X, Y, Y, None]),
        ((X, (Y, None), 3), [X, Y, None, None]),
    ],
)
def test_input_spec_follows_the_arguments(input_spec, expected):
    assert specs_for(g, input_spec, 1, [2, 3], 4) == expected


def test_wrong_specs_are_refused():
    with pytest.raises(ValueError, match="describes 3 values where the call has 2"):
        specs_for(g, [X, [Y, Y, Y]], 1, [2, 3], 4)
    with pytest.raises(TypeError, match="expects a list or tuple, got int"):
        FunctionSpec(g, 3)
    with pytest.raises(ValueError, match="input_spec is needed"):
        FunctionSpec(g).call_from_specs()


@pytest.mark.parametrize("decorated", [True, False])
def test_the_signature_of_a_bound_method_is_without_self(decorated):
    class Net(paddle.nn.Layer):
        def forward(self, x, scale=2.0):
            return x * scale

    if decorated:
        Net.forward = paddle.jit.to_static(Net.forward)
    net = Net() if decorated else paddle.jit.to_static(Net())
    assert list(inspect.signature(net.forward).parameters) == ["x", "scale"]

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


def test_what_is_no_spec_is_refused_before_any_call():
    with pytest.raises(TypeError, match="expects a list or tuple, got str"):
        paddle.jit.to_static(paddle.nn.Linear(3, 3), input_spec="float32")
    with pytest.raises(TypeError, match="shape must be a list or tuple, got int"):
        paddle.static.InputSpec(3)


def test_what_a_static_function_says_of_itself():
    def scaled(x, factor=2, *, shift=0, **more):
        return x * factor + shift

    static = paddle.jit.to_static(scaled, full_graph=True)
    assert static.function_spec.args_name == ["x", "factor"]
    assert static.is_property is False and static.class_instance is None
    concrete, program = static.get_concrete_program(paddle.ones([2, 3]), factor=3)
    assert [v.shape for v in concrete.outputs] == [[2, 3]] and len(static.program_cache) == 0
    assert program([paddle.ones([2, 3])], program.current_inputs()).numpy().tolist() == [[3.0] * 3] * 2
    open_size, _ = static.get_concrete_program(paddle.static.InputSpec([None, 3]))
    assert open_size.outputs[0].shape == [-1, 3]

    layer = paddle.jit.to_static(paddle.nn.Linear(2, 2))
    assert layer.forward.class_instance is layer

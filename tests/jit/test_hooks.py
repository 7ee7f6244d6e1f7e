"""Hooks that cannot be part of a program."""

import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError


def doubled(grad):
    return grad * 2


def removed_on_a_path(x):
    y = x * 3
    handle = y.register_hook(doubled)
    if x.sum() > 0:
        handle.remove()
    return y


def of_a_constant(x):
    y = paddle.ones([2])
    y.register_hook(doubled)
    return x * y


@paddle.jit.not_to_static
def registered(y):
    y.register_hook(doubled)
    return y


def in_code_that_is_not_converted(x):
    return registered(x * 3)


def leaf():
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (removed_on_a_path, "the hook of a tensor of a program is removed after its run, or where a tensor decides"),
        (in_code_that_is_not_converted, "register_hook\\(\\) on a tensor of a program, in code that is not converted"),
    ],
)
def test_such_hooks_are_refused(function, words):
    with pytest.raises(UnsupportedError, match=words):
        paddle.jit.to_static(function, full_graph=True)(leaf())


@pytest.mark.parametrize("function", [removed_on_a_path, in_code_that_is_not_converted])
def test_they_run_between_segments(function):
    def gradient(called):
        x = leaf()
        called(x).sum().backward()
        return x.grad.tolist()

    assert gradient(paddle.jit.to_static(function)) == gradient(function)


@pytest.mark.parametrize("full_graph", [None, True])
def test_a_tensor_without_gradient_takes_no_hook(full_graph):
    function = of_a_constant if full_graph is None else paddle.jit.to_static(of_a_constant, full_graph=True)
    with pytest.raises(ArgumentError, match="register_hook: tensor has stop_gradient=True, so it gets no gradient"):
        function(leaf())


def prepared(hook, *, before):
    layer = paddle.nn.Linear(3, 3, weight_attr=paddle.nn.initializer.Constant(0.5))
    (layer.register_forward_pre_hook if before else layer.register_forward_post_hook)(hook)
    return paddle.nn.Sequential(paddle.nn.Identity(), layer, paddle.nn.Tanh())


def inputs_doubled(layer, inputs):
    if inputs[0].sum() > 0:
        return (inputs[0] * 2,)


def input_doubled(layer, inputs):
    if inputs[0].sum() > 0:
        return inputs[0] * 2


def output_with_input(layer, inputs, outputs):
    return outputs + inputs[0] if outputs.sum() > 1 else None


@pytest.mark.parametrize(
    ("hook", "before"), [(inputs_doubled, True), (input_doubled, True), (output_with_input, False)]
)
def test_a_tensor_decides_what_hooks_of_layers_in_containers_return(hook, before):
    def outcome(net, values):
        x = paddle.to_tensor(values, stop_gradient=False)
        out = net(x)
        out.sum().backward()
        return [out.tolist(), x.grad.tolist(), [p.grad.tolist() for p in net.parameters()]]

    for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]):
        eager = prepared(hook, before=before)
        static = paddle.jit.to_static(prepared(hook, before=before), full_graph=True)
        assert outcome(static, values) == outcome(eager, values)
        static.clear_gradients(set_to_zero=False)
        eager.clear_gradients(set_to_zero=False)
        assert outcome(static, values) == outcome(eager, values)


class Shown(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 2

    @staticmethod
    def backward(ctx, grad):
        print("layer", grad.stop_gradient, (grad * 2).stop_gradient)
        return grad * 2 * ctx.saved_tensor()[0]


def shown_to_hook(x):
    y = x * 2
    y.register_hook(lambda grad: print("hook", grad.stop_gradient))
    return y * x


def shown_to_layer(x):
    return Shown.apply(x) * x


@pytest.mark.parametrize("full_graph", [None, False, True])
@pytest.mark.parametrize("function", [shown_to_hook, shown_to_layer])
def test_what_user_code_gets_of_gradients_wants_one(function, full_graph, capsys):
    called = function if full_graph is None else paddle.jit.to_static(function, full_graph=full_graph)
    for _ in range(2):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        called(x).sum().backward()
        told = {shown_to_hook: "hook False\n", shown_to_layer: "layer False True\n"}  # as PaddlePaddle's
        assert capsys.readouterr().out == told[function]
    leaf = paddle.to_tensor([1.0], stop_gradient=False)
    leaf.register_hook(lambda grad: kept.append(grad) or grad * 2)
    kept = []
    (leaf * 3).sum().backward()
    assert (kept[0].stop_gradient, kept[0].tolist(), leaf.grad.tolist()) == (False, [3.0], [6.0])
    assert paddle.grad((leaf * 3).sum(), leaf)[0].stop_gradient

"""PyLayer.apply in converted code: one meaning with eager code, gradients included."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.autograd import PyLayer
from vitrify.core.errors import ArgumentError, ShapeError, UnsupportedError

UNKNOWN = [paddle.static.InputSpec([None], "float32", stop_gradient=False)]


class Square(PyLayer):
    """Its gradient is not that of a square, so that nothing but its own backward gives it."""

    @staticmethod
    def forward(ctx, x, factor=1.0):
        ctx.save_for_backward(x)
        ctx.factor, ctx.mean = factor, x.mean()
        return x * x * factor if x.sum() > 0 else x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * x * ctx.factor * (3 if ctx.mean > 1 else 5)


class Several(PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        larger = (x > y).astype("int32")
        ctx.mark_non_differentiable(larger)
        ctx.save_for_backward(y)
        return x, larger, x + y

    @staticmethod
    def backward(ctx, dx, dlarger, dsum):
        assert dlarger.shape == dx.shape  # zeros stand for what no cotangent came to
        return dx * 7 + dsum, dsum * ctx.saved_tensor()[0]


class Scale(PyLayer):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        ctx.bias = BIAS
        return x * factor

    @staticmethod
    def backward(ctx, dy):
        x, factor = ctx.saved_tensor()
        return dy * factor + ctx.bias, dy * x


FACTOR, BIAS = paddle.to_tensor([2.0, 3.0], stop_gradient=False), paddle.to_tensor([5.0, 7.0])


def of_eager_tensors(x):
    return Scale.apply(x, FACTOR) + Scale.apply(x, x * 3)


def plain(x):
    return Square.apply(x, factor=2.0) + 1


def branch(x):
    return Square.apply(x) if x.max() > 1 else x * 2


def loop(x):
    i = paddle.zeros([], "int32")
    while i < 3:
        x = Square.apply(x) * 0.3
        i += 1
    return x


def several(x):
    same, larger, total = Several.apply(x, x * 2 - 1)
    return same + total * larger.astype("float32")


def of_one_output(x):
    return Several.apply(x, x * 2)[2]


@pytest.mark.parametrize("spec", [None, UNKNOWN], ids=["known sizes", "unknown sizes"])
@pytest.mark.parametrize("fn", [plain, branch, loop, several, of_one_output, of_eager_tensors])
def test_values_and_gradients_are_those_of_eager_code(fn, spec):
    found = []
    for call in (fn, paddle.jit.to_static(fn, full_graph=True, input_spec=spec)):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = call(x)
        y.sum().backward()
        found.append((y.numpy(), x.grad.numpy()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-6)


def test_a_training_step_and_second_derivatives():
    net = paddle.nn.Linear(2, 2)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        loss = (Square.apply(net(x)) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    before = net.weight.numpy()
    assert step(paddle.ones([2, 2])).item() > 0 and not np.allclose(net.weight.numpy(), before)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (slope,) = paddle.grad(paddle.jit.to_static(plain, full_graph=True)(x), x, create_graph=True)
    slope.sum().backward()
    assert slope.tolist() == [6.0, 12.0] and x.grad.tolist() == [6.0, 6.0]


def test_a_wrong_number_of_gradients_is_an_error():
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, dy):
            return dy, dy, dy

    x = paddle.ones([2])
    x.stop_gradient = False
    with pytest.raises(ArgumentError, match=r"Wrong.backward returned 3 gradients, forward got 2 tensors"):
        paddle.jit.to_static(lambda x: Wrong.apply(x, x), full_graph=True)(x).sum().backward()


def test_backward_reads_tensors_from_outside():
    factor = paddle.to_tensor([2.0, 3.0])
    layer = paddle.nn.Linear(2, 2)
    tables = {"scale": paddle.to_tensor(0.5)}

    class Scaled(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return layer(dy * factor) * tables["scale"]

    def fn(x):
        for _ in range(2):
            x = Scaled.apply(x * 3) if x.sum() > 0 else x
        return x

    static = paddle.jit.to_static(fn, full_graph=True)
    for scale in (0.5, 4.0):
        tables["scale"].set_value(paddle.to_tensor(scale))
        grads = []
        for call in (fn, static):
            x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            call(x).sum().backward()
            grads.append(x.grad.numpy())
            assert layer.weight.grad is None
        np.testing.assert_allclose(*grads, rtol=1e-6)


NOTES: list[int] = []


class Noting(PyLayer):
    count = 0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, dy):
        NOTES.append(len(NOTES))
        Noting.count += 1
        return dy * 2 * ctx.saved_tensor()[0]


def noting(x):
    return Noting.apply(x).sum()


def test_a_backward_that_changes_python_objects_does_so_each_time():
    """A whole function refuses it: its program runs no Python. It runs in segments."""
    static = paddle.jit.to_static(noting, full_graph=False)
    for _ in range(3):
        NOTES.clear()
        Noting.count = 0
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        static(x).backward()
        assert (x.grad.tolist(), NOTES, Noting.count) == ([2.0, 4.0], [0], 1)
    with pytest.raises(UnsupportedError, match="the backward of Noting changes Python objects"):
        paddle.jit.to_static(noting, full_graph=True)(x)


def test_a_backward_may_change_what_is_its_own():
    class Own(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.calls, ctx.seen = 0, []
            return x * x

        @staticmethod
        def backward(ctx, dy):
            ctx.calls += 1
            ctx.seen.append(dy)
            found = {"dy": dy}
            found["dy"] = dy * 2
            return found["dy"] * ctx.saved_tensor()[0] * ctx.calls * len(ctx.seen)

    static = paddle.jit.to_static(lambda x: Own.apply(Own.apply(x)).sum(), full_graph=True)
    for _ in range(2):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        static(x).backward()
        assert x.grad.tolist() == [4.0, 32.0]


class Summed(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, dy):
        return dy.sum()


@pytest.mark.parametrize("spec", [None, UNKNOWN])
def test_gradient_of_another_shape(spec):
    def function(x):
        return Summed.apply(x).sum()

    for called in (function, paddle.jit.to_static(function, full_graph=True, input_spec=spec)):
        with pytest.raises(ShapeError, match=r"Summed.backward: gradient 0 has shape \[\], its input has"):
            called(paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)).backward()

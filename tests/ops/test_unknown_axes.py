"""Several axes of which only a run knows some: of reductions, squeeze and unsqueeze."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import IndexRangeError

X = np.random.RandomState(0).rand(2, 3, 4, 5).astype("float32")
REDUCTIONS = [paddle.sum, paddle.mean, paddle.max, paddle.logsumexp, paddle.std, paddle.amin]


def compiled(fn):
    return paddle.jit.to_static(fn, full_graph=True)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("reduce", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions_over_axes_that_a_run_knows(reduce, keepdim):
    one = compiled(lambda x, a, b: reduce(x, axis=[a, 1, b], keepdim=keepdim))
    row = compiled(lambda x, axes: reduce(x, axis=axes, keepdim=keepdim))
    for a, b in ((0, 3), (3, 0), (-1, 2), (-4, -2)):
        grads = []
        for call in (
            lambda x: reduce(x, axis=[a, 1, b], keepdim=keepdim),
            lambda x: one(x, paddle.to_tensor(a), paddle.to_tensor(b, dtype="int32")),
            lambda x: row(x, paddle.to_tensor([a, 1, b])),
        ):
            x = paddle.to_tensor(X, stop_gradient=False)
            out = call(x)
            (out * out).sum().backward()
            grads.append((out.numpy(), x.grad.numpy()))
        for got in grads[1:]:
            for mine, wanted in zip(got, grads[0]):
                np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(IndexRangeError):
        one(paddle.to_tensor(X), paddle.to_tensor(4), paddle.to_tensor(0, dtype="int32"))


@pytest.mark.parametrize("reduce", [*REDUCTIONS, paddle.argmax], ids=lambda f: f.__name__)
def test_axes_of_0d_tensors(reduce):
    call = compiled(lambda x, a: (reduce(x, axis=a), reduce(x, axis=a, keepdim=True)))
    x = paddle.to_tensor(3.0)
    for at in (0, -1):
        for found, wanted in zip(call(x, paddle.to_tensor(at)), (reduce(x, axis=at), reduce(x, axis=at, keepdim=True))):
            np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_ones_put_in_and_taken_away():
    put = compiled(lambda x, axes: paddle.unsqueeze(x, axes))
    take = compiled(lambda x, a: paddle.squeeze(x, [0, a]))
    for axes in ([0, 1], [-1, 0], [2, 2]):
        wanted = paddle.unsqueeze(paddle.to_tensor(X), axes).shape
        assert put(paddle.to_tensor(X), paddle.to_tensor(axes)).shape == wanted
    for a, shape in ((2, [1, 3, 1, 4]), (-1, [1, 3, 4, 1])):
        x = paddle.ones(shape)
        assert take(x, paddle.to_tensor(a)).shape == [3, 4]


FLOATING = {
    "sum": lambda x, at: paddle.sum(x, at),
    "concat": lambda x, at: paddle.concat([x, x], axis=at),
    "cumsum": lambda x, at: paddle.cumsum(x, at),
    "gather": lambda x, at: paddle.gather(x, paddle.to_tensor([1]), at),
    "split": lambda x, at: paddle.split(x, 2, at)[0],
    "repeats": lambda x, at: paddle.repeat_interleave(x, at + 1, 0),
    "zeros": lambda x, at: paddle.zeros([at + 1, 2]),
}


@pytest.mark.parametrize("call", FLOATING.values(), ids=FLOATING)
def test_floating_tensors_say_axes_and_sizes(call):
    x = paddle.arange(8.0).reshape([2, 4])
    whole = call(x, paddle.to_tensor(1))
    for run in (call, compiled(call)):
        for given in (paddle.to_tensor(1.0), paddle.to_tensor(True)):
            np.testing.assert_array_equal(run(x, given).numpy(), whole.numpy())


def test_an_axis_that_each_run_finds_the_same_leaves_sizes_known():
    def sizes(x):
        axis, places = paddle.full([1], 2, dtype="int64"), paddle.to_tensor([0, 1, 0])
        found = [
            paddle.gather(x, places, axis=axis), paddle.split(x, 2, axis=axis)[1], paddle.cumsum(x, axis=axis),
            paddle.sum(x, axis=[axis, 0]), paddle.unsqueeze(x, axis), paddle.argmax(x, axis=paddle.to_tensor(-2)),
        ]  # fmt: skip
        return [y.flatten(y.ndim - 1).squeeze(-1) for y in found], [list(y.shape) for y in found]

    found, known = compiled(sizes)(paddle.to_tensor(X))
    wanted, shapes = sizes(paddle.to_tensor(X))
    assert known == shapes and all(isinstance(size, int) for shape in known for size in shape)
    for mine, eager in zip(found, wanted):
        np.testing.assert_array_equal(mine.numpy(), eager.numpy())

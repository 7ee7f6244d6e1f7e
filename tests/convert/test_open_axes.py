"""Library functions that are given an axis which only a run knows: as eager, for each axis there is and those not."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.core.errors import UnsupportedError

X = np.arange(24, dtype="float32").reshape(2, 3, 4) % 7 - 3

FUNCTIONS = {
    "flip": lambda x, a: paddle.flip(x, a),
    "axis in a list": lambda x, a: paddle.flip(x, [a]),
    "roll": lambda x, a: paddle.roll(x, 1, axis=a),
    "the same number as shift and axis": lambda x, a: paddle.roll(x, [a, 1], [0, a]),
    "sort": lambda x, a: paddle.sort(x, a),
    "two results": lambda x, a: paddle.topk(x, 2, axis=a),
    "method": lambda x, a: x.argsort(axis=a) * x,
    "softmax": lambda x, a: F.softmax(x, a),
    "a list of that many": lambda x, a: sum(paddle.unbind(x, a)).sum(),
    "permutation": lambda x, a: paddle.transpose(x, [a, 0, 2]),
    "permutation item by item": lambda x, a: x.transpose(a, 0, 2),
    "one axis more than there are": lambda x, a: paddle.stack([x, x], a),
    "other name": lambda x, a: paddle.sort(input=x, dim=a),
    "two unknown axes": lambda x, a: paddle.moveaxis(x, a, a - 1),
    "a loop variable": lambda x, a: paddle.index_select(x, paddle.to_tensor([1, 0]), a),
    "start": lambda x, a: paddle.flatten(x, a).sum(-1).sum(),
    "an axis of a size": lambda x, a: paddle.cross(x[:, :, :3], x[:, :, 1:], a),
}


def called(function, axis):
    x = paddle.to_tensor(X, stop_gradient=False)
    try:
        found = function(x, paddle.to_tensor(axis))
    except (ValueError, TypeError) as err:
        return type(err), str(err).split("\n")[0]
    parts = list(found) if isinstance(found, (list, tuple)) else [found]
    sum(((part * part).sum() for part in parts if part.is_floating_point()), paddle.zeros([])).backward()
    return [part.numpy().tolist() for part in parts], x.grad.numpy().tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axis_of_a_run(name):
    use = FUNCTIONS[name]

    def function(x, t):
        return use(x, int(t))

    static = paddle.jit.to_static(function, full_graph=True)
    for axis in (1, 0, 2, -1, -3, 3, -4, 7):
        assert called(static, axis) == called(function, axis)


def test_number_of_a_loop():
    def function(x, n):
        for axis in range(n):
            x = paddle.flip(x, axis) * (axis + 1)
        return x

    static = paddle.jit.to_static(function, full_graph=True)
    for count in (3, 0, 2):
        assert called(static, count) == called(function, count)


def test_error_is_caught():
    def function(x, t):
        try:
            y = paddle.flip(x, int(t))
        except ValueError:
            y = x * 2
        return y

    static = paddle.jit.to_static(function, full_graph=True)
    for axis in (1, 3, -1, -4):
        assert called(static, axis) == called(function, axis)


def test_each_number_gives_another_rank():
    def function(x, t):
        return paddle.tensordot(x, x.transpose([2, 1, 0]), int(t))

    static = paddle.jit.to_static(function, full_graph=True)
    for count in (0, 1, 2, 3, -1):
        assert called(static, count) == called(function, count)


def test_what_no_rank_bounds_is_refused():
    def function(x, t):
        return paddle.combinations(x[0, 0], int(t))  # decides how many numbers are taken together

    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(X), paddle.to_tensor(2))

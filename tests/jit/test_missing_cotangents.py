"""Cotangents that do not come when a program runs: nothing flows there, as in eager code; they are no zeros.

Each function has a root of what may be 0, whose derivative is infinite there: a zero that went back through it would
come out as NaN.
"""

import numpy as np
import pytest

import vitrify as paddle

X = np.array([0.0, 4.0], "float32")


def other_path(x, k):
    root = x.sqrt()
    return root if k > 0 else x * x


def other_path_deeper(x, k):
    root = (x * 2).sqrt() + x
    if k > 0:
        y = x * 3
        if k > 5:
            y = y + root
    else:
        y = x * x
    return y


def items_of_a_list(x, k):
    ys = []
    i = k * 0
    while i < 2:
        ys.append(x.sqrt()[0])
        ys.append(x[1] * x[1])
        i = i + 1
    return ys[1]


def list_of_all(x, k):
    ys = []
    for i in range(k + 2):
        ys.append(x.sqrt() if i == 0 else x * x)
    return ys


def sliced_list(x, k):
    ys = [x * 2]
    for _ in range(k + 3):
        ys.insert(0, ys[-1] * x)
        ys.append(x.sqrt())
    ys.pop()
    return ys[0] + ys[1:3][0]


def no_iteration(x, k):
    w = x.sqrt()
    y = x * x
    while k > 0:
        y, k = y + w, k - 1
    return y


def overwritten(x, k):
    h, y = x, x * x
    for i in range(k + 2):
        h = h.sqrt()
        if i > 5:
            y = y + h
    return y


def function_of_two(x, k):
    def walk(x, n):
        if n <= 0:
            return x * x, x.sqrt()
        a, b = walk(x * 2, n - 1)
        return a + x, b.sqrt()

    return walk(x, k)[0]


def one_call_of_two(x, k):
    def walk(x, n):
        if n <= 0:
            return x * 3
        return walk(x.sqrt(), n - 1) if n > 5 else walk(x * x, n - 1)

    return walk(x, k)


def two_outputs(x, k):
    root = x.sqrt()
    return x * x if k > 0 else x * 2, root * 3 if k > 0 else root


def loop_of_two(x, k):
    a, b = x, x
    for _ in range(k + 2):
        a, b = a * x, b.sqrt()
        if a.sum() > 30:
            b = b * 2
    return a, b


FUNCTIONS = [
    other_path, other_path_deeper, items_of_a_list, list_of_all, sliced_list, no_iteration, overwritten,
    function_of_two, one_call_of_two, two_outputs, loop_of_two,
]  # fmt: skip


def gradients(f, k, pick):
    """The gradient of one output, and of that gradient."""
    x = paddle.to_tensor(X, stop_gradient=False)
    result = f(x, paddle.to_tensor(k))
    y = pick(result) if isinstance(result, (tuple, list)) else result
    (once,) = paddle.grad((y * y).sum(), x, create_graph=True)
    (twice,) = paddle.grad(once.sum(), x, allow_unused=True)
    x.clear_grad()
    result = f(x, paddle.to_tensor(k))
    y = pick(result) if isinstance(result, (tuple, list)) else result
    (y * y).sum().backward()
    return [once.numpy(), None if twice is None else twice.numpy(), x.grad.numpy()]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_eager_code(f):
    static = paddle.jit.to_static(f, full_graph=True)
    picks = [lambda ys: ys[0], lambda ys: ys[-1]]
    for k in (0, 1, -1, 0):
        for pick in picks:
            for mine, eager in zip(gradients(static, k, pick), gradients(f, k, pick)):
                assert (mine is None) == (eager is None)
                if mine is not None:
                    np.testing.assert_allclose(mine, eager, 1e-5, err_msg=str(k))


def test_gradients_are_finite():
    for f in (other_path, items_of_a_list, no_iteration, overwritten, function_of_two):
        assert np.isfinite(gradients(paddle.jit.to_static(f, full_graph=True), 0, None)[0]).all()


def test_what_was_not_used_has_no_gradient():
    layers = [paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)]

    @paddle.jit.to_static(full_graph=True)
    def f(x):
        return layers[0](x).sum() if x.sum() > 0 else layers[1](x).sum()

    f(paddle.to_tensor(X)).backward()
    assert layers[0].weight.grad is not None
    assert layers[1].weight.grad is None

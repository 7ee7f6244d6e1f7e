"""Gradients flow through tensors of every dtype, as in PaddlePaddle: through integers in integer arithmetic."""

import pytest

import vitrify as paddle


def whole(x):
    return x.astype("int32")


VALUES = [[1.7, 2.2], [4.1, 0.5]]
CASES = [
    (lambda x: whole(x), [[1, 1], [1, 1]]),
    (lambda x: x.astype("bool"), [[1, 1], [1, 1]]),
    (lambda x: whole(x) * whole(x), [[2, 4], [8, 0]]),
    (lambda x: whole(x) * 3 - 1, [[3, 3], [3, 3]]),
    (lambda x: whole(x) / 2, [[0, 0], [0, 0]]),  # the quotient's gradient, 0.5, as an integer
    (lambda x: paddle.exp(whole(x)), [[2, 7], [54, 1]]),
    (lambda x: whole(x).sum(), [[1, 1], [1, 1]]),
    (lambda x: whole(x).mean(), [[0, 0], [0, 0]]),
    (lambda x: whole(x).cumprod(0), [[5, 1], [1, 2]]),
    (lambda x: paddle.maximum(whole(x), paddle.full([2, 2], 2, "int32")), [[0, 0], [1, 0]]),
    (lambda x: whole(x)[:, paddle.to_tensor([1, 1])], [[0, 2], [0, 2]]),
    (lambda x: whole(x).sort(1), [[1, 1], [1, 1]]),
    (lambda x: paddle.where(whole(x) > 2, whole(x), whole(x) * 2), [[2, 2], [1, 2]]),
    (lambda x: paddle.dot(whole(x)[0], whole(x)[1]), [[4, 0], [1, 2]]),
    (lambda x: paddle.count_nonzero(x), [[1, 1], [1, 1]]),
    (lambda x: whole(x) + 0 * x.sum().item(), [[1, 1], [1, 1]]),
]
STOPPED = [
    lambda x: x > 1,
    lambda x: whole(x) // 2,
    lambda x: x.argmax(1),
    lambda x: paddle.nn.functional.one_hot(whole(x).astype("int64"), 5),
    lambda x: paddle.nn.functional.embedding(whole(x), paddle.ones([5, 2])),
    lambda x: paddle.ones([5])[whole(x)],
    lambda x: paddle.shape(x),
    lambda x: paddle.ones([3]) * int(x.sum()),
    lambda x: paddle.ones([8])[: int(x[0, 0])],
    lambda x: paddle.median(x, axis=0, mode="min")[1],
    lambda x: paddle.shard_index(whole(x).reshape([4, 1]), 20, 2, 0),
]
wraps = pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])


@wraps
@pytest.mark.parametrize(("call", "expected"), CASES)
def test_a_gradient_passes_integers(wrap, call, expected):
    x = paddle.to_tensor(VALUES, stop_gradient=False)
    out = wrap(call)(x)
    assert not out.stop_gradient
    out.astype("float32").sum().backward()
    assert x.grad.dtype == paddle.float32 and x.grad.tolist() == expected


@wraps
@pytest.mark.parametrize("call", STOPPED)
def test_what_has_no_gradient_stops(wrap, call):
    assert wrap(call)(paddle.to_tensor(VALUES, stop_gradient=False)).stop_gradient


@wraps
def test_a_loop_over_integers_has_a_gradient(wrap):
    def f(x, n):
        total = whole(x)
        for i in range(n):
            total = total * 2 + i
        return total.astype("float32")

    x = paddle.to_tensor(VALUES, stop_gradient=False)
    wrap(f)(x, paddle.to_tensor(3)).sum().backward()
    assert x.grad.tolist() == [[8, 8], [8, 8]]


@wraps
def test_a_loop_that_starts_without_a_gradient_has_one(wrap):
    def f(x, n):
        total = paddle.zeros([2, 2], "int32")
        i = 0
        while i < n:
            total = total + whole(x)
            i += 1
        return total.astype("float32")

    x = paddle.to_tensor(VALUES, stop_gradient=False)
    wrap(f)(x, paddle.to_tensor(3)).sum().backward()
    assert x.grad.tolist() == [[3, 3], [3, 3]]


def test_an_integer_leaf_has_a_gradient_of_its_dtype():
    n = paddle.to_tensor([1, 2], stop_gradient=False)
    (n * n).sum().backward()
    assert n.grad.dtype == paddle.int64 and n.grad.tolist() == [2, 4]

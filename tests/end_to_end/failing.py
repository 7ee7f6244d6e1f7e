"""Functions that raise: eager and static raise the same class."""

import vitrify as paddle

from .functions import N, X


def raises_value(x):
    raise ValueError("x")


def raises_key(x):
    return {"a": x}["b"]


def raises_shape(x):
    return x + paddle.ones([5])


def raises_zero(x):
    return x / (1 // 0)


def assert_fail(x):
    assert (x > 100).all(), "msg"
    return x


def index_err(x):
    return x[7]


def type_err(x):
    return x + "a"


def attr_err(x):
    return x.nonsense


def bool_multi(x):
    if x > 0:
        return x
    return -x


def numbered_in_a_loop_that_may_raise(x):
    cache, n = x, 0
    while n < 4:
        for i, factor in enumerate([2.0, 3.0]):
            if cache.shape[0] > 100:
                raise ValueError("too long")
            x = x * factor + cache.sum() + i
            cache = paddle.concat([cache, x])
        n += 1
        if paddle.all(x > 1e9):
            break
    return x, cache


CASES = [
    (numbered_in_a_loop_that_may_raise, ((X,), (N,), (X,))),
    *[(f, ((X,), (N,))) for f in (
        raises_value, raises_key, raises_shape, raises_zero, assert_fail, index_err, type_err, attr_err, bool_multi,
    )],
]  # fmt: skip

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


CASES = [
    *[(f, ((X,), (N,))) for f in (
        raises_value, raises_key, raises_shape, raises_zero, assert_fail, index_err, type_err, attr_err, bool_multi,
    )],
]  # fmt: skip

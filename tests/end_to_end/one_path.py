"""What only one path of a tensor's decision does: exceptions, items and attributes set, None, texts and functions."""

import numpy as np

import vitrify as paddle

from .functions import N, X


def missing_item(x):
    table = {"a": x}
    return table["missing"] if x.sum() > 0 else x * 2


def text_as_int(x):
    if x.sum() > 0:
        n = int("abc")
        return x * n
    return x * 3


def shapes(x):
    y = x + paddle.ones([5]) if x.sum() > 0 else x
    return y * 2


def index(x):
    if x.sum() > 0:
        y = x[7]
    else:
        y = x
    return y * 2


def in_body(x):
    while x.sum() > 0:
        x = x + paddle.ones([5])
    return x


def reshaped(x):
    y = x.reshape([2, 2]) if x.sum() > 0 else x
    return y * 2


def unknown_name(x):
    if x.sum() > 0:
        y = unknown  # noqa: F821
    else:
        y = x
    return y


def zero_step(x, n):
    for i in range(0, 10, n):
        x = x + i
    return x


def item_read(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    return d["a"] * 2


def item_read_where_set(x):
    d = {}
    positive = x.sum() > 0
    if positive:
        d["a"] = x
    if positive:
        x = d["a"] * 2
    return x


def item_returned(x):
    d = {"b": x}
    if x.sum() > 0:
        d["a"] = x * 2
    d["c"] = x * 3
    return d


def is_none(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    if m is None:
        x = x * 3
    return x


def is_not_none(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    return x if m is not None else x * 2


def is_tensor(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    return x if isinstance(m, paddle.Tensor) else x * 2


def text_compared(x):
    s = "pos" if x.sum() > 0 else "neg"
    return x if s == "pos" else x * 2


def text_as_key(x):
    s = "pos" if x.sum() > 0 else "neg"
    return {"pos": x, "neg": x * 2}.get(s, x * 5)


def _double(x):
    return x * 2


def _triple(x):
    return x * 3


def function_chosen(x):
    f = _double if x.sum() > 0 else _triple
    return f(x) if f is _double else x


def attribute_that_no_tensor_has(x):
    if x.sum() > 0:
        return x.sum().feature.size
    return hasattr(x, "feature"), getattr(x, "feature", 3), x


def method_that_no_tensor_has(x):
    if x.sum() > 0:
        x.feature(2)
    return x * 2


def numpy_scalars(x):
    a, b = np.float32(0), np.int64(3)
    if x.sum() > 0:
        a = b
    return x * a


REFUSED = ()
CASES = [
    *[(f, ((X,), (N,))) for f in (
        missing_item, text_as_int, shapes, index, in_body, reshaped, unknown_name, item_read, item_read_where_set,
        item_returned, attribute_that_no_tensor_has, method_that_no_tensor_has, is_none, is_not_none, is_tensor,
        function_chosen, numpy_scalars, text_compared, text_as_key,
    )],
    (zero_step, ((X, np.asarray(3)), (X, np.asarray(0)))),
    *[(f, ((X,), (N,)), {"full_graph": False}) for f in REFUSED],
]  # fmt: skip

"""`in`, `not in`, `is`, `is not` and chains of them, with tensors on either side."""

import vitrify as paddle

from .functions import N, X, Z


def in_tensor(x):
    return 2.0 in x, x[0] in x, 7 in x


def in_tensor_decides(x):
    if 2.0 in x:
        return x * 2
    if 0.5 not in x:
        return x * 5
    return x


def in_list(x):
    t = x.argmax()
    if t in [0, 1]:
        return x
    return x * 2


def not_in_tuple(x):
    if x.argmin() not in (0, 2):
        return x
    return x * 2


def in_list_of_tensors(x):
    if x[0] in [x[1], x[2] * 0 + 1]:
        return x
    return x * 2


def same_tensor_in_list(x):
    y = x.sum()
    return y in [x.max(), y], y in (y,)


def in_range(x):
    return x.argmax() in range(1, 3), x.argmax() in range(4, -1, -2), x.argmax() in range(0), x[0] in range(-1, 2)


def number_in_set(x):
    n = int(x.argmax())
    if n in {0, 5}:
        return x
    return x * 2


def number_in_dict(x):
    n = int(x.argmax())
    return n in {2: "a"}, n not in {2: "a"}


def in_generator(x):
    return x[1] in (v * 1 for v in x if v > 0), 9 in (v for v in x)


def in_python(x, k):
    d = {"a": x}
    if k in d and k in ("a", "b") and k not in "xyz":
        return d[k] * 2
    return x


def chain(x):
    if 0 < x.argmax() in [1, 2]:
        return x
    return x * 3


def chain_is(x, y=None):
    if x is not None is not False and y is None:
        return x
    return x * 2


def identity_after_branch(x):
    y = x
    if x.sum() > 0:
        z = y
    else:
        z = x
    return z is x, z is not y, x is not None


def in_while(x):
    i = paddle.zeros([], "int64")
    while i not in [3, 5]:
        i = i + 1
        x = x + 1
    return x


def in_under_and(x):
    if x.sum() > 0 and x.argmax() in [2]:
        return x
    return -x


def constant_tensor_in_tuple(x):
    return x.sum() > 0 and paddle.to_tensor(2) in (0, 2), paddle.to_tensor(3) not in [1, 2]


CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        in_tensor, in_tensor_decides, in_list, not_in_tuple, in_list_of_tensors, same_tensor_in_list, in_range,
        number_in_set, number_in_dict, in_generator, chain, chain_is, identity_after_branch, in_while, in_under_and,
        constant_tensor_in_tuple,
    )],
    (in_python, ((X, "a"), (X, "b"), (X, "c"))),
]  # fmt: skip

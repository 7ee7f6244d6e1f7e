"""`x.shape` is a Size, in compiled functions as outside: cut, joined, compared, changed; of unknown sizes as well."""

import copy
from operator import attrgetter

import numpy as np

import vitrify as paddle


def joined(x):
    s = x.shape
    return s + (1,), (1,) + s, [1] + s, s + [1], s * 2, 2 * s, s[:1], s[::-1], s[:-1] + (4,), s + s


def compared(x):
    s = x.shape
    return s == (2, 3), s == [2, 3], (2, 3) == s, s != (2, 3), s == x.shape[:], s == (2, 3, 1), s == 2, 3 in s  # noqa: SIM300


def counted(x):
    return x.shape.numel(), x.shape[1:].numel(), x * x.shape[:1].numel(), len(x.shape), x.sum(1).shape.numel()


def reshaped(x):
    y = x.reshape(x.shape[:1] + (3, 1))
    return y.reshape((1, *y.shape)), paddle.zeros(x.shape + (2,)).shape, paddle.expand(x, (2,) + x.shape)


def changed(x):
    s = x.shape
    s.append(4)
    s[0] = s[0] + 1
    t = x.shape
    t += (5,)
    u = x.shape
    u *= 2
    return s, t, u, x.shape, type(s) is paddle.Size, isinstance(s, list), isinstance(s, tuple)


def changed_where_a_tensor_says(x):
    s = x.shape
    if x.sum() > 0:
        s[0] = 1
        x = x.sum(0, keepdim=True)
    return x.reshape(s), x.reshape(s + (1,))


def carried(x):
    s = x.shape
    i = paddle.zeros([], "int64")
    while i < 3:
        x = (x * 2).reshape(s)
        i = i + 1
    return x, s


def chosen(x):
    s = x.shape if x.sum() > 0 else x.T.shape
    return x.reshape(s)


def given(x, size):
    return x.reshape(size), size + (1,), [*size], size.numel(), (size,), {"a": size}


def from_items(x):
    return paddle.Size([2, 3]) == x.shape, paddle.Size(x.shape), paddle.Size(n for n in (1, 2)), paddle.Size()


def copied(x):
    s = x.shape
    t = copy.copy(s)
    t.append(1)
    return s, t, s.copy(), list(s), tuple(s), sorted(s), [*reversed(s)], max(s), s.index(3)


def printed(x):
    print(x.shape, f"{x.shape}", "%s" % x.shape, list(x.shape))  # noqa: UP031
    return x * float(np.prod(x.shape)) + int(np.ceil(np.prod(x.shape[:1]) / 4)) + max(x.shape)


def read_by_name(x):
    return getattr(x, "shape")[0], attrgetter("shape")(x)[0], attrgetter("ndim", "shape")(x)[1], getattr(x, "shape", 0)  # noqa: B009


def in_class_bodies_and_decorators(x):
    def scaled(n):
        return lambda function: lambda v: function(v) * n

    class Limit:
        most, whole = x.shape[0], x.shape

        class Inner:
            twice = x.shape[0] * 2

        def under(self, v):
            return v * 2 if v.sum() > self.most else v

    @scaled(x.shape[0])
    def plus(v):
        return v + 1

    return Limit().under(x), Limit.most, Limit.whole, Limit.Inner.twice, plus(x)


class Held:
    """An object that tells the shape of a tensor as its own."""

    def __init__(self, v):
        self.v = v

    @property
    def shape(self):
        return self.v.shape[::-1]


def of_objects(x):
    return Held(x).shape[1], Held(x).shape, getattr(Held(x + 1), "shape")[1]  # noqa: B009


def refused(x):
    return x * len(x.shape + 1)


X, N, LONG = np.arange(6, dtype="float32").reshape(2, 3), -np.ones([2, 3], "float32"), np.ones([4, 3], "float32")
CASES = [
    *[(f, ((X,), (N,), (LONG,), (np.ones([5, 3], "float32"),)), {"strict": True}) for f in (
        joined, compared, counted, reshaped, changed, changed_where_a_tensor_says, carried, from_items, copied,
        refused, read_by_name, in_class_bodies_and_decorators, of_objects,
    )],
    (printed, ((X,), (LONG,), (np.ones([5, 3], "float32"),))),
    (chosen, ((X,), (N,))),
    (given, ((X, paddle.Size([3, 2])), (X, paddle.Size([6, 1])))),
]  # fmt: skip

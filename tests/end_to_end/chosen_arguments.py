"""Python values that a tensor chose, given to ops and Layers which need one: the axis of a sum, the end of a slice."""

import vitrify as paddle
import vitrify.nn.functional as F

M, N = [[1.0, 2.0], [3.0, 4.0]], [[-1.0, -2.0], [-3.0, 1.0]]


class Reduce(paddle.nn.Layer):
    def forward(self, x, axis=None, scale=1.0):
        return x.sum(axis) * scale


REDUCE = Reduce()


def axis_or_none(x):
    axis = 0 if x.sum() > 0 else None
    return x.sum(axis)


def axes_or_none(x):
    axis = None
    if x.sum() > 0:
        axis = (0, 1)
    return paddle.mean(x, axis=axis)


def axis_of_two(x):
    axis = 0 if x.sum() > 0 else 1
    return F.softmax(x, axis=axis) + x.sum(axis=axis)


def axis_of_three(x):
    if x.sum() > 5:
        axis = 0
    elif x.max() > 0:
        axis = 1
    else:
        axis = -1
    return F.softmax(x, axis=axis)


def axis_by_two_conditions(x):
    axis = 0 if x.sum() > 0 else 1
    keepdim = True if x.max() > 1 else False  # noqa: SIM210
    return x.sum(axis=axis, keepdim=keepdim).sum()


def axes_in_a_tuple(x):
    axis = (0,) if x.sum() > 0 else (1,)
    return paddle.max(x, axis=axis)


def permutation(x):
    order = [0, 1] if x.sum() > 0 else [1, 0]
    return x.transpose(order)


def shape_of_two_ranks(x):
    shape = (4,) if x.sum() > 0 else (1, 4)
    y = x.reshape(shape)
    return y.sum() + y.mean(-1).sum(), y


def keepdim(x):
    keep = bool(x.sum() > 0) and bool(x.max() > 3)
    return x.sum(axis=0, keepdim=True if keep else False)  # noqa: SIM210


def to_a_layer(x):
    axis = None if x.sum() > 0 else 1
    return REDUCE(x, axis) + REDUCE(x, axis=axis, scale=2.0)


def number_of_largest(x):
    k = 1 if x.sum() > 0 else 2
    return paddle.topk(x, k)[0].sum()


def probability(x):
    p = 0.0 if x.sum() > 0 else 1.0
    return F.dropout(x, p=p)


def parts(x):
    n = 1 if x.sum() > 0 else 2
    total = 0
    found = paddle.split(x, n)
    for part in found:
        total = total + part.sum() * len(found)
    return total


def end_of_slice(x):
    n = None if x.sum() > 0 else 1
    m = -1 if x.max() > 3 else None
    return x[:n].sum() + x[0, :m].sum() + x[n:].sum()


def in_a_loop(x):
    axis = None
    for _ in range(3):
        x = x + x.sum(axis)
        axis = 0 if x.sum() > 10 else 1
    return x


def in_a_tensor_loop(x):
    axis, i = 0, 0
    while x.sum() < 50 and i < 6:
        x = x + x.abs().sum(axis) + 1
        axis = 1 if x.sum() > 20 else 0
        i += 1
    return x


def in_a_helper(x):
    def total(y, axis=None):
        return y.sum(axis=axis)

    axis = 1 if x.sum() > 0 else None
    return total(x, axis) + total(x, axis=axis)


def text_of_two(x):
    return F.mse_loss(x, x * 2, reduction="sum" if x.sum() > 0 else "mean")


def tensor_of_two_ranks(x):
    y = x if x.sum() > 0 else x.sum(0)
    z = y.mean()
    return z, y * 2, y.max(-1), F.softmax(y, -1)


def rank_asked(x):
    y = x if x.sum() > 0 else x.sum(0)
    if y.ndim == 2:
        y = y.sum(1)
    return y * len(y.shape)


CASES = [
    (f, ((M,), (N,)))
    for f in (
        axis_or_none, axes_or_none, axis_of_two, axis_of_three, axis_by_two_conditions, axes_in_a_tuple, permutation,
        shape_of_two_ranks, keepdim, to_a_layer, number_of_largest, probability, parts, end_of_slice, in_a_loop,
        in_a_tensor_loop, in_a_helper, text_of_two, tensor_of_two_ranks, rank_asked,
    )
]  # fmt: skip

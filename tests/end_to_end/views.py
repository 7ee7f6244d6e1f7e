"""Tensors that share memory: a change of a view is a change of its base, and the other way round."""

import vitrify as paddle

from .functions import M, N, X


def view_write(x):
    y = x * 1
    z = y.reshape([3, 1])
    z[0] = 10.0
    return (y, z)


def base_write(x):
    y = x * 1
    z = y.reshape([3, 1])
    y[0] = 10.0
    return (z, y)


def view_slice_write(x):
    y = x * 1
    z = y[1:]
    z[0] = 7.0
    return y


def chain(x):
    y = x * 1
    z = y[1:].reshape([2, 1])
    z.add_(z)
    y.multiply_(y)
    return (y, z)


def two_views(x):
    y = x * 1
    a, b = (y[:2], y[1:])
    a[1] = 9.0
    return (b * 1, y)


def in_branch(x):
    y = x * 1
    z = y[1:]
    if x.sum() > 0:
        z[0] = 4.0
    return (y, z * 1)


def view_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        z = y[1:]
        z[0] = 4.0
    return y


def in_loop(x):
    y = x * 1
    z = y[1:]
    n = 0
    while n < 3 and y.sum() < 50:
        z.add_(z)
        y[0] = y[0] + n
        n += 1
    return (y, z * 1)


def reshape_inplace(x):
    y = x * 1
    y.reshape_([3, 1])
    y[0] = 3.0
    return y


def recurrence(x):
    out = paddle.zeros([6, 3])
    out[0] = x
    for i in range(1, 6):
        out[i] = out[i - 1] * 0.5 + x
    return out


def expanded(x):
    y = x * 1
    z = y.expand([2, 3])
    y[0] = 5.0
    return z * 1


def alias_in_loop(x):
    y = x * 1
    a = y
    n = 0
    while n < 3 and y.sum() < 50:
        y[0] = y[1] + n
        n += 1
    return (a * 1, y)


def transposed(m):
    y = m * 1
    t = y.transpose([1, 0])
    t[0] = 5.0
    return y


def copied(m):
    y = m * 1
    t = y.transpose([1, 0]).reshape([6])
    t[0] = 5.0
    return (y, t)


def rows(m):
    y = m * 1
    for row in y:
        row[0] = row[1] + 1
    return y


def reshaped_base_with_a_view(x):
    y = x * 2
    z = y.reshape([-1])
    y.unsqueeze_(0)
    y.add_(y)
    return y, z * 3, y.shape


def written_through_two_views(x):
    out = paddle.zeros([2, 3])
    out[0][1] = x[0] * 3
    row = out[1]
    row.add_(x)
    return out, row.stop_gradient, out.stop_gradient


def views_of_what_is_written(x):
    y = x * 2
    a, b = y[:2], y.reshape([3, 1])
    y.multiply_(x)
    c = a.reshape([2, 1])
    b[0] = 5.0
    return a, b, c, y


def cut_by_a_constant(x):
    y = x * 2
    z = y.reshape([3, 1])
    z[1] = 0.0
    y[0] = 1.0
    return y * x, z


def of_another_dtype(x):
    y = x * 1
    kept, row, squares = y.detach(), y[1:], y * y
    y.cumsum_(-1, dtype="float64")
    y.add_(y)
    return y, kept, row * 1, squares


def of_another_shape(x):
    y = paddle.stack([x, x * 2])
    row = y[1]
    y.cumprod_()
    row.multiply_(x)
    return y, row


def view_of_another_dtype(x):
    y = x * 1
    row = y[1:]
    row.floor_().cast_("int32")
    row.add_(row)
    return y, row


def argument_view(x):
    with paddle.no_grad():
        z = x[1:]
        z[0] = 7.0
    return x * 1


def no_grad_update(x):
    with paddle.no_grad():
        x.add_(x)
    return x * 2


def stretched(x):
    y = x * 1
    z = y.expand_as(paddle.ones([2, 3]))
    z[0] = 5.0
    return y, z * 1


CASES = [
    *[(f, ((X,), (N,))) for f in (
        view_write, base_write, view_slice_write, chain, two_views, in_branch, view_in_branch, in_loop,
        reshape_inplace, recurrence, expanded, alias_in_loop, stretched, reshaped_base_with_a_view,
        written_through_two_views, views_of_what_is_written, cut_by_a_constant,
        of_another_dtype, of_another_shape, view_of_another_dtype,
    )],
    *[(f, ((M,),)) for f in (transposed, copied, rows)],
]  # fmt: skip
MUTATING = (argument_view, no_grad_update)

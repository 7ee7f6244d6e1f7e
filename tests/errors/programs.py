"""Functions that fail while they are converted, traced or run. `# here` marks the line to show."""

import numpy as np

import vitrify as paddle


def shape(x, n):
    y = x * 2
    return paddle.reshape(y, [4])  # here


def inner(x):
    return paddle.concat([x, paddle.ones([2, 2])])  # here


def called(x, n):
    if x.sum() > 0:
        return inner(x)
    return x


def own_error(x, n):
    if x.sum() > 0:
        table = {}
        x = table["missing"]  # here
    return x


def ambiguous(x, n):
    y = x
    if x > 0:  # here
        y = x + 1
    return y


def mixed_kinds(x, n):
    if x.sum() > 0:  # here
        y = np.ones(3)
    else:
        y = x
    return y


def grows(x, n):
    out = []
    while x.sum() < 10:  # here
        out.append(x)
        out.append([x])
        x = x + 1
    return out


def grows_in_branch(x, n):
    out = []
    if x.sum() < 10:  # here
        out.append(())
    return out


def rank_changes(x, n):
    while x.sum() < 100:  # here
        x = paddle.unsqueeze(x, 0) * 2
    return x


def needs_value(x, n):
    a = x.numpy()  # here
    a.shape = (a.size, 1)
    return paddle.to_tensor(a)


@paddle.jit.not_to_static
def whole(value):
    return int(value)


def needs_number(x, n):
    return [x] * whole(x.numpy().max())  # here


def text_split(x, n):
    text = f"sum {x.sum()}"  # here
    return x * len(text.split())


PARAMETER = paddle.create_parameter([2], "float32")


def text_kept(x, n):
    text = f"was {PARAMETER}"  # here
    with paddle.no_grad():
        PARAMETER.add_(paddle.ones([2]))
    return x, text


def caught_too_early(x, n):
    def checked(v):
        if v.sum() > 0:
            raise ValueError("positive")  # here
        return v

    while True:  # no trace sees the end of it
        try:
            x = sum([checked(v) for v in (x, x * 2)])
        except ValueError:
            return x


def assert_caught_too_early(x, n):
    def checked(v):
        assert v.sum() > 100, "small"  # here
        return v

    while True:
        try:
            x = sum([checked(v) for v in (x, x * 2)])
        finally:
            x = x * n


def array_changed(x, n):
    a = x.numpy()  # here
    later = a[1:]
    a += 1
    return paddle.to_tensor(later)


def recursion(x, n):
    if x.sum() > 0:
        return recursion(x - 1, (n, x))  # here
    return x


def endless(x, n):
    if x.sum() > 0:
        return endless(x - 1, n)
    return endless(x + 1, n)


def endless_recursion(x, n):
    return endless(x, n)  # here


def swap(pair, n):
    pair[0], pair[1] = pair[1], pair[0]
    if n > 0:
        return swap([pair[0], pair[1]], n - 1)
    return pair[0]


def changes_its_argument(x, n):
    return swap([x, x + 1], n)  # here


def too_deep(x, n):
    if x.sum() < 0:
        return x
    return too_deep(x * 1.0, n) + 1  # here


def fails_deep_inside(x, n):
    if n == 0:
        return x + paddle.ones([paddle.cast(x[0], "int64") + 4])  # here
    return fails_deep_inside(x, n - 1)


def backward_inside(x, n):
    w, total = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False), x * 0
    while total.sum() < n:
        total = total + w * x
        total.sum().backward(retain_graph=True)  # here
    return total


def generator(x, n):  # here
    yield x


def run_shape(x, n):
    y = x + 1
    return y + paddle.ones([n])  # here


def run_index(x, n):
    return x[n]  # here


def run_index_in_loop(x, n):
    total = x[0]
    while total.sum() < 100:
        total = total + x[n]  # here
    return total


def run_assert(x, n):
    assert n < 0, "too large"  # here
    return x


def run_unset(x, n):
    if n < 0:
        y = x
    return x + y  # here

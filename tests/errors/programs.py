"""Functions that fail while they are converted, traced or run. `# here` marks the line to show."""

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
        y = "text"
    else:
        y = x
    return y


def grows(x, n):
    out = []
    while x.sum() < 10:
        out.append(x)  # here
        x = x + 1
    return out


def grows_in_branch(x, n):
    out = []
    if x.sum() < 10:
        out.append(x)  # here
    return out


def rank_changes(x, n):
    while x.sum() < 100:  # here
        x = paddle.unsqueeze(x, 0) * 2
    return x


def needs_value(x, n):
    return x * 2 + x.numpy()  # here


def recursion(x, n):
    if x.sum() > 0:
        return recursion(x - 1, n)  # here
    return x


def backward_inside(x, n):
    x.sum().backward()  # here
    return x


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

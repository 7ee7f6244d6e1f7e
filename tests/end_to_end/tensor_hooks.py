"""Hooks that a converted function registers on the tensors that it makes."""

import vitrify as paddle

from .functions import N, X


def scaled(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 3)
    return y.sum() * x


def seen_only(x):
    y = x * 2
    y.register_hook(lambda grad: None)
    return y * x


def removed(x):
    y = x * 2
    handle = y.register_hook(lambda grad: grad * 3)
    handle.remove()
    return y * x


def decides(x):
    def clipped(grad):
        if grad.sum() > 0:
            return grad.clip(-1, 1)
        return grad * 2

    y = x * 2
    y.register_hook(clipped)
    return (y * x).sum()


def reads_outer(x):
    y = x * 2
    most = x.abs().sum()
    y.register_hook(lambda grad: grad / most)
    return y * x


def two_in_order(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 3)
    y.register_hook(lambda grad: grad + 1)
    return y * x, y


def one_of_two_removed(x):
    y = x * 2
    first = y.register_hook(lambda grad: grad * 3)
    y.register_hook(lambda grad: grad + 1)
    first.remove()
    return y * x


def of_a_view(x):
    y = x * 2
    v = y[:2]
    v.register_hook(lambda grad: grad * 3)
    return v * 2, y[1:]


def views_of_it(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 3)
    return y[:2] * 2, y[1:]


def changed_later(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 3)
    y.scale_(2.0)
    return y * x


def registered_under_no_grad(x):
    y = x * 2
    with paddle.no_grad():
        y.register_hook(lambda grad: grad * 3)
    return y * x


def in_branch(x):
    if x.sum() > 0:
        y = x * 2
        y.register_hook(lambda grad: grad * 3)
    else:
        y = x * 5
    return y * x


def in_loop(x):
    h = x
    i = paddle.zeros([])
    while i < 3:
        h = h * x
        h.register_hook(lambda grad: grad.clip(-1.0, 1.0))
        i = i + 1
    return h


LONGER = [2.0, -1.0, 3.0, 0.5, 1.5]
FUNCTIONS = (
    scaled, seen_only, removed, decides, reads_outer, two_in_order, one_of_two_removed, of_a_view, views_of_it,
    changed_later, registered_under_no_grad, in_branch, in_loop,
)  # fmt: skip
CASES = [(f, ((X,), (N,), (LONGER,))) for f in FUNCTIONS]

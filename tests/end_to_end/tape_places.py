"""In-place changes that the tape does not see: the tensor has other content, and the gradient of what it was."""

import vitrify as paddle

from .functions import N, X


class Average:
    """A running mean of what it is given."""

    def __init__(self, start):
        self.shadow = start.clone().detach()
        self.count = 0

    @paddle.no_grad()
    def update(self, value):
        if value.sum() > 0:
            self.shadow.scale_(0.9).add_(value * 0.1)
            self.count += 1
        else:
            self.shadow[...] = value


def running_mean(x):
    mean = Average(x)
    for i in range(3):
        mean.update(x * (i + 1))
    return mean.shadow * x, mean.count


def added(x):
    y = x * 1
    if x.sum() > 0:
        with paddle.no_grad():
            y.add_(x * 2)
    return y * x


def item_set(x):
    y = x * 1
    with paddle.no_grad():
        y[0] = x.sum()
    return y * x


def buffer_item_set(x):
    buffer = paddle.zeros([3])
    if x.sum() > 0:
        with paddle.no_grad():
            buffer[0] = x.sum()
    return buffer * x


def view_of_it(x):
    y = x * 1
    with paddle.no_grad():
        y[:2].scale_(3.0)
    return y * x


def view_made_before(x):
    y = x * 1
    v = y[:2]
    with paddle.no_grad():
        v.scale_(3.0)
    return y * x, v * 2


def base_of_a_view(x):
    y = x * 1
    v = y[:2]
    with paddle.no_grad():
        y.scale_(3.0)
    return v * v, y


def detached(x):
    y = x * 1
    d = y.detach()
    d.scale_(3.0)
    return y * x, d


def detached_in_branch(x):
    y = x * 1
    d = y.detach()
    if x.sum() > 0:
        d[0] = 5.0
    return y * x, d


def detached_later(x):
    y = x * 1
    with paddle.no_grad():
        y.scale_(3.0)
    d = y.detach()
    y.scale_(2.0)
    return y * x, d


def clipped(x):
    y = x * 2
    with paddle.no_grad():
        y.clip_(-1.0, 1.0)
    return (y * x).sum()


def zeroed(x):
    y = x * 2
    with paddle.no_grad():
        y.zero_()
    return y + x


def in_loop(x):
    y = x * 2
    i = paddle.zeros([])
    while i < x.abs().sum():
        with paddle.no_grad():
            y.add_(x)
            y[0] = i
        i = i + 1
    return y * x


def buffer_in_loop(x):
    buffer = paddle.zeros([3])
    i = paddle.zeros([])
    while i < x.abs().sum():
        with paddle.no_grad():
            buffer[...] = buffer * 0.9 + x * 0.1
        i = i + 1
    return buffer * x


def by_decorator(x):
    buffer = paddle.ones([3])

    @paddle.no_grad()
    def update(v):
        if v.sum() > 0:
            buffer.multiply_(v)
        else:
            buffer[1:] = 0.0

    update(x)
    return buffer * x


def view_and_then_its_base(x):
    y = x * 1
    head = y[:2]
    with paddle.no_grad():
        head.add_(paddle.ones([2]))
        y[0] = 5.0
        head.scale_(2.0)
        if x.sum() > 0:
            y.add_(x)
    return y * x, head * 3


def detached_and_then_its_base(x):
    y = x * 1
    shadow = y.detach()
    with paddle.no_grad():
        if x.sum() > 0:
            shadow.add_(paddle.ones([1]))
        y[0] = 5.0
    return y * x, shadow


LONGER = [2.0, -1.0, 3.0, 0.5, 1.5]
ANY_SIZE = (
    running_mean, added, item_set, view_of_it, view_made_before, base_of_a_view, detached, detached_in_branch,
    detached_later, clipped, zeroed, in_loop, view_and_then_its_base, detached_and_then_its_base,
)  # fmt: skip
CASES = [
    *[(f, ((X,), (N,), (LONGER,))) for f in ANY_SIZE],
    *[(f, ((X,), (N,))) for f in (buffer_item_set, buffer_in_loop, by_decorator)],
]

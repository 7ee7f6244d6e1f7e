"""Generator functions called from converted code; tensors decide between their yields, not around them."""

import vitrify as paddle

from .functions import M, N, X, Z


def doubled(xs):
    for v in xs:
        if v > 1:
            w = v * 2
        else:
            w = v - 1
        yield w


def squares(x, n):
    for i in range(n):
        y = x
        while y.sum() < 10:
            y = y * y + 1
        yield y * i
    return x


def consumed_by_list(x):
    return list(doubled(x))


def consumed_by_for(x):
    total = 0
    for v in doubled(x):
        total = total + v
    return total


def consumed_by_zip(x):
    return [a * b for a, b in zip(doubled(x), x)]


def consumed_by_star(x):
    first, *rest = doubled(x)
    return first, rest, paddle.stack([*doubled(x)])


def consumed_by_next(x):
    g = doubled(x)
    a = next(g)
    b = next(g)
    return a + b, list(g), next(g, 5)


def consumed_by_any(x):
    return any(v > 3 for v in doubled(x)), sum(doubled(x)), max(doubled(x))


def loops_inside(x):
    return list(squares(x, 3))


def delegated(x):
    def outer():
        last = yield from squares(x, 2)
        yield last * 2

    return list(outer())


def sent(x):
    def running():
        total = x * 0
        while True:
            v = yield total
            if v is None:
                return
            if v.sum() > 0:
                total = total + v
            else:
                total = total - v

    g = running()
    next(g)
    g.send(x)
    return g.send(x * 2)


def break_in_consumer(x):
    total = x.sum() * 0
    for v in doubled(x):
        if v > 2:
            break
        total = total + v
    return total


def with_cleanup(x):
    log = []

    def work():
        try:
            yield x * 2
        finally:
            log.append("done")

    y = [*work()]
    return y, log


class Walker:
    def __init__(self, scale):
        self.scale = scale

    def __iter__(self):
        for i in range(3):
            if i > 0:
                yield i * self.scale

    def rows(self, m):
        for i, row in enumerate(m):
            yield i, row * self.scale


def methods(x):
    walker = Walker(x.mean())
    return [x * i for i in walker]


def method_rows(m):
    return {i: row for i, row in Walker(2).rows(m)}  # noqa: C416


def in_tensor_branch(x):
    if x.sum() > 0:
        y = sum(doubled(x))
    else:
        y = x.sum()
    return y


def in_tensor_loop(x):
    while x.sum() < 20:
        for v in doubled(x):
            x = x + v.abs() + 1
    return x


CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        consumed_by_list, consumed_by_for, consumed_by_zip, consumed_by_star, consumed_by_next, consumed_by_any,
        loops_inside, delegated, sent, break_in_consumer, with_cleanup, methods, in_tensor_branch, in_tensor_loop,
    )],
    (method_rows, ((M,),)),
]  # fmt: skip

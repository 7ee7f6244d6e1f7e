"""Generator functions in which a tensor decides what they yield, and how often."""

import vitrify as paddle

P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0]


def positive(x):
    for v in x:
        if v > 0:
            yield v * 2


def one_or_two(x):
    yield x
    if x.sum() > 0:
        return
    yield x * 2


def growing(x):
    while x.sum() < 20:
        x = x + 1.5
        yield x


def and_their_sum(x):
    yield from positive(x)
    yield x.sum()


def gen_for(x):
    t = 0
    for y in positive(x):
        t = t + y
    return t


def gen_list(x):
    return list(positive(x))


def gen_sum(x):
    return sum(positive(x))


def gen_ret(x):
    t = x * 0
    for y in one_or_two(x):
        t = t + y
    return t


def gen_while(x):
    t = x * 0
    for y in growing(x):
        t = t + y
    return t


def gen_while_break(x):
    t = x * 0
    for y in growing(x):
        if y.sum() > 10:
            break
        t = t + y
    else:
        t = t * 2
    return t


def gen_from(x):
    return [y * 2 for y in and_their_sum(x)]


def gen_any(x):
    return any(y > 3 for y in positive(x))


def gen_enum(x):
    t = 0
    for i, y in enumerate(positive(x)):
        t = t + i * y
    return t


def gen_zip(x):
    t = 0
    for a, b in zip(positive(x), [1, 2, 3]):
        t = t + a * b
    return t


def gen_next(x):
    return next(positive(x), x.sum())


def gen_method(x):
    class T:
        def __init__(self, v):
            self.v = v

        def __iter__(self):
            for v in self.v:
                if v > 1:
                    yield v

    t = 0
    for v in T(x):
        t = t + v
    return t


def gen_return_in_for(x):
    for y in growing(x):
        if y.sum() > 8:
            return y
    return x


def gen_max(x):
    return max(positive(x), default=x.sum())


def gen_star(x):
    return paddle.stack([*growing(x)]) if x.sum() < 20 else x


def gen_nested_loop(x):
    def pairs(x):
        for i in range(3):
            for j in range(i):
                if x[i] > x[j]:
                    yield i, j

    t = x * 0
    for i, j in pairs(x):
        t = t + x[i] * (j + 1)
    return t


def gen_filter_map(x):
    return sum(map(lambda v: v * 2, filter(lambda v: v > 0, x)))  # noqa: C417


CASES = [(f, ((P,), (N,), (Z,))) for f in (
    gen_for, gen_list, gen_sum, gen_ret, gen_while, gen_while_break, gen_from, gen_any, gen_enum, gen_zip,
    gen_next, gen_method, gen_return_in_for, gen_max, gen_star, gen_nested_loop, gen_filter_map,
)]  # fmt: skip

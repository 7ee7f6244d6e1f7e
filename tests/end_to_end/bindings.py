"""Names bound in every way: walrus, star, chains, swaps, deletions, augmented targets, imports, nested definitions."""

# ruff: noqa: F841, B007, PLW0603

import functools

import vitrify as paddle

from .functions import N, X, Z

COUNT = 0


class Box:
    pass


def walrus_in_if(x):
    if (s := x.sum()) > 3:
        return x * s
    return x - s


def walrus_in_and(x):
    if x.sum() > 0 and (m := x.max()) > 1:
        return x * m
    return x


def walrus_in_or(x):
    if x.sum() > 10 or (m := x.max()) > 1:
        return x * 2
    return x * m


def walrus_in_while(x):
    while (s := x.sum()) < 20 and (t := s + 1) < 15:
        x = x + 1
    return x * s, t


def walrus_in_ternary(x):
    y = (z := x * 2) if x.sum() > 0 else (z := x * 3)
    return y + z


def walrus_in_chain(x):
    if 0 < (n := x.argmax()) < 3 and (k := n + 1) < 3:
        return x * k
    return x + n


def walrus_in_chain_middle(x):
    held = 0 < x.sum() < (m := x.max() * 4)
    return held, x


def walrus_in_call(x):
    def f(a, b):
        return a - b

    return f(y := x * 2, y + 1) + (y if y.sum() > 0 else x)


def walrus_in_dict(x):
    d = {"a": (y := x * 2), **({"b": (y := y + 1)} if x.sum() > 0 else {})}
    return d, y


def walrus_in_comprehension(x):
    ys = [y for v in x if (y := v * 2) is not None]
    return ys, y


def star_of_tensors(x):
    a, *b = x
    (c, *d), e = (x, x * 2), x[2]
    return a, b, c, d, e, [*x, 1.0], max(*x)


def star_under_condition(x):
    if x.sum() > 0:
        a, *m, b = x * 1, x * 2, x * 3, x * 4
    else:
        a, *m, b = x * 4, x * 3, x * 2, x
    return a, m, b


def star_calls(x):
    def f(a, b, *c, k=1, **kw):
        return a + b * k + sum(c) + kw.get("z", 0)

    args = [x, x * 2, 3]
    return f(*args, k=2, z=x), f(*x)


def augmented(x):
    a = Box()
    a.b = [x * 1, x * 2]
    d = {"k": x}
    if x.sum() > 0:
        a.b[1] += x
        d["k"] *= 2
        a.b[0][1:] = 5.0
    a.b[1] -= 1
    return a.b[0], a.b[1], d["k"]


def augmented_deep(x):
    a = Box()
    a.b = {"i": Box()}
    a.b["i"].c = x
    for v in x:
        if v > 0:
            a.b["i"].c += v
        a.b["i"].c -= 1
    return a.b["i"].c


def swapped(x):
    a, b = x, x * 2
    for _ in range(3):
        if a.sum() > b.sum():
            a, b = b, a + 1
        else:
            a, b = b * 0.5, a
    return a, b


def chained_assignment(x):
    if x.sum() > 0:
        a = b = x * 2
    else:
        a = b = x * 3
    b = b + 1
    return a, b


def annotated(x):
    if x.sum() > 0:
        y: paddle.Tensor = x * 2
    else:
        y: paddle.Tensor = x
    return y


def nonlocal_in_branch(x):
    n = x * 0

    def inc(k):
        nonlocal n
        if k > 0:
            n = n + k

    for v in x:
        inc(v)
    return n


def global_in_branch(x):
    global COUNT
    if x.sum() > 0:
        COUNT = x.sum() * 2
    else:
        COUNT = x.sum()
    return COUNT * 2


def lambda_in_branch(x):
    if x.sum() > 0:
        f = lambda v: v * 2  # noqa: E731
        y = f(x)
    else:

        def f(v, k=3):
            return v * k

        y = f(x)
    return y


def decorated_nested(x):
    def deco(f):
        @functools.wraps(f)
        def w(*a):
            return f(*a) + 1

        return w

    @deco
    def g(v):
        if v.sum() > 0:
            return v * 2
        return v

    return g(x)


def class_inside(x):
    class Scaler:
        scale = 2

        def __init__(self, v):
            self.v = v

        def go(self):
            if self.v.sum() > 0:
                return self.v * self.scale
            return self.v

    return Scaler(x).go()


def import_inside(x):
    if x.sum() > 0:
        import math

        y = x * math.pi
    else:
        from math import e

        y = x * e
    return y


def loop_targets(x):
    a, d = Box(), {}
    for a.v in x:
        pass
    for d["k"], (p, *q) in zip(x, [(1, 2, 3), (4, 5), (6,)]):
        pass
    return a.v, d["k"], p, q


def loop_else(x):
    for _i in range(4):
        x = x + 1
        if x.sum() > 9:
            break
    else:
        x = x * 100
    return x


def deleted_names(x):
    y = x * 2
    d = {"a": x, "b": x}
    items = [1, 2, 3]
    if x.sum() > 0:
        del y
        y = x
    del d["a"], items[1:]
    return y, d, items


def deleted_items(x):
    d = {"b": x * 2, "a": x}  # behind others, "a" would come back at another position: that is refused
    if x.sum() > 0:
        v = d["a"]
        del d["a"]
        d["a"] = v + 1
    return d["a"]


def deleted_attributes(x):
    a = Box()
    a.v = x
    if x.sum() > 0:
        w = a.v * 2
        del a.v
    else:
        w = a.v
    a.v = w
    return a.v


def item_order(x):
    items = [x, x * 2]
    i = 0
    i, items[i] = 1, x * 5
    return items


def nothing(x):
    if x.sum() > 0:
        ...
    else:
        pass
    return x[..., 0]


def nonlocal_in_operands(x):
    """What runs only where an operand before it says so, by a function that others hold."""
    n, m = x[0] * 0, x[1] * 0

    def count(v):
        nonlocal n, m
        n, m = n + v * 0.5, m + 1
        return v

    later = functools.partial(count, x.max())
    held, named = [count, later], {"count": count}

    def deep():
        return (lambda: (lambda: (lambda: later())())())()

    if x.sum() <= x[0] < count(x.max()):
        x = x * 2
    a = x[0] > 0 and count(x.max()) > 1
    b = x[0] > 0 or later() > 1
    c = deep() if x[1] > 0 else x[1]
    for _ in range(2):
        if x[0] > 0:
            c = c + held[0](x[2]) + named["count"](x[0]) + held[1]()
    return x, a, b, c, n, m


CASES = [(f, ((X,), (N,), (Z,))) for f in (
    walrus_in_if, walrus_in_and, walrus_in_or, walrus_in_while, walrus_in_ternary, walrus_in_chain,
    walrus_in_chain_middle, walrus_in_call, walrus_in_dict, walrus_in_comprehension, star_of_tensors,
    star_under_condition, star_calls, augmented, augmented_deep, swapped, chained_assignment, annotated,
    nonlocal_in_branch, global_in_branch,
    lambda_in_branch, decorated_nested, class_inside, import_inside, loop_targets, loop_else, deleted_names,
    deleted_items, deleted_attributes, item_order, nothing, nonlocal_in_operands,
)]  # fmt: skip

"""More control flow: early returns anywhere, loops in loops, casts, comprehensions."""

# ruff: noqa: SIM102, C416

import vitrify as paddle

from .functions import N, X


def early1(x):
    if x.sum() > 5:
        return x
    y = x * 2
    if y.sum() > 3:
        z = y + 1
        if z[0] > 2:
            return z
        else:
            y = z * 2
    return y - 1


def early_tuple(x):
    if x.sum() > 0:
        return (x, 1)
    return (x * 2, 2)


def early_in_while(x):
    i = 0
    while x.sum() < 100:
        i += 1
        if x[0] > 4:
            return x * i
        x = x + 1
    return x


def ret_in_else(x):
    for _i in range(6):
        if x.sum() > 12:
            break
        x = x + 1
    else:
        return x * 100
    return x


def ret_both(x):
    if x.sum() > 0:
        if x[0] > 5:
            return x
        return x + 1
    else:
        return x + 2


def no_return(x):
    if x.sum() > 0:
        x = x + 1


def while_else(x):
    while x.sum() < 10:
        x = x + 1
        if x[0] > 2.5:
            break
    else:
        x = -x
    return x


def nested_break(x):
    for i in range(5):
        for j in range(5):
            if j > 2:
                break
            if x.sum() > 30:
                break
            x = x + i * j
        if i == 3:
            continue
        x = x + 0.5
    return x


def for_break_tensor(x):
    s = 0
    for v in x:
        if v > 2:
            break
        s = s + v * v
    return s


def for_t_continue(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s = s + v
    return s


def range_break_used_as_index(x):
    h = [x, x * 2, x * 3, x * 4, x * 5]
    for i in range(5):
        x = x + h[i]
        if x.sum() > 10:
            break
    return x


def while_not(x):
    done = False
    while not done:
        x = x * 2
        done = (x * x).sum() > 100
    return x


def zero_trip(x):
    y = x * 1
    while y.sum() > 1000:
        y = y * x
    return y


def zerod_loop(x):
    t = x.sum()
    while t > 1:
        t = t / 2
    return t


def collat(x):
    n = x.sum() * 0 + 27
    c = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        c += 1
    return c


def tup_swap(x):
    a, b = (x, x * 2)
    i = 0
    while a.sum() < 30 and i < 6:
        a, b = (b, a + b)
        i += 1
    return (a, b, i)


def int_loop(x):
    n = 0
    while n < 3:
        n += 1
    return x * n


def dyn_index(x):
    i = 0
    s = x[0] * 0
    while s.sum() < 2 and i < 3:
        s = s + x[i]
        i += 1
    return s


def boolret(x):
    return x.sum() > 0


def try_fin(x):
    try:
        if x.sum() > 0:
            y = x * 2
        else:
            y = x
    finally:
        x = x + 1
    return y + x


def catches(x):
    try:
        y = x + paddle.ones([5])
    except ValueError:
        y = x * 2
    return y


def with_(x):
    with paddle.no_grad():
        if x.sum() > 0:
            y = x * 2
        else:
            y = x
    return y * x


def starunpack(x):
    a, *r = [x, x * 2, x * 3]
    if a.sum() > 0:
        r[0] = r[0] + 1
    return r[0] + r[1]


def orval(x):
    a = None or x
    return a


def zip_enum(x):
    s = 0
    for i, (a, b) in enumerate(zip(x, [1, 2, 3])):
        s = s + a * b * i
    return s


def shape_loop(x):
    s = x.sum() * 0
    for i in range(x.shape[0]):
        s = s + x[i] * i
    return s


def minmax(x):
    return paddle.maximum(x, x * 2).max() if x.max() > 1 else x.min()


def float_fn(x):
    return x * float(x[0]) + int(x[1])


def item_fn(x):
    return x * x[0].item()


def int_conv(x):
    return x * int(x.sum()) + len(x.shape)


def str_cast(x):
    return x * int("3") + float("1.5")


def comp_in(x):
    if 2.0 in [1.0, 2.0] and x.sum() > 0:
        return x * 2
    return x


def slice_dyn(x):
    n = (x > 0).astype("int64").sum()
    return x[:n]


def pow_(x):
    return x**2 + 2**x


def listcomp(x):
    ys = [x * i for i in range(3) if i != 1]
    return sum(ys[1:], ys[0])


def gen(x):
    return sum(x * i for i in range(3))


def map_(x):
    return paddle.stack([v * 2 if v.sum() > 0 else v for v in [x, x + 1]])


def sorted_key(x):
    return [y for y in sorted([x, x * 2], key=lambda v: 1)]


def lam_default(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return sum(f(x) for f in fs)


def kwonly(x, *, k=3):
    return x * k if x.sum() > 0 else x


def isnone(x, y=None):
    if y is None and x.sum() > 0:
        return x * 2
    return x


def recursion(x, n):
    if n == 0:
        return x
    return recursion(x * 2 if x.sum() > 0 else x + 1, n - 1)


def fstr(x, n):
    return x if f"{n}" == "2" else x + 1


def opt(x, flag):
    if flag and x.sum() > 0:
        return x * 2
    return x


def strmeth(x, mode):
    if mode.upper() == "SUM":
        return x.sum()
    return x.mean()


def py_break_tensor_ret(x, n):
    for i in range(n):
        if i == 2:
            break
        if x[i] > 1.5:
            return x * i
    return x - 1


def mixed(x, flag, k, s):
    if flag:
        if x.sum() > k:
            return x * k
    return x if s == "a" else x - 1


def dec(f):
    import functools

    @functools.wraps(f)
    def g(*a, **k):
        return f(*a, **k) * 2

    return g


@dec
def decorated(x):
    if x.sum() > 0:
        return x
    return x * 3


CASES = [
    *[(f, ((X,), (N,))) for f in (
        early1, early_tuple, early_in_while, ret_in_else, ret_both, no_return, while_else, nested_break,
        for_break_tensor, for_t_continue, range_break_used_as_index, while_not, zero_trip, zerod_loop,
        collat, tup_swap, int_loop, dyn_index, boolret, try_fin, catches, with_, starunpack, orval,
        zip_enum, shape_loop, minmax, float_fn, item_fn, int_conv, str_cast, comp_in, slice_dyn, pow_,
        listcomp, gen, map_, sorted_key, lam_default, kwonly, isnone, decorated,
    )],
    *[(f, ((X, 2), (N, 3))) for f in (
        recursion, fstr, opt,
    )],
    *[(f, ((X, "sum"), (N, "mean"))) for f in (
        strmeth,
    )],
    *[(f, ((X, 3), (N, 2))) for f in (
        py_break_tensor_ret,
    )],
    *[(f, ((X, True, 2, "a"), (X, False, 2.0, "b"))) for f in (
        mixed,
    )],
]  # fmt: skip

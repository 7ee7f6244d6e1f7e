"""Generators as loops, builtins and other generators use them: left early, nested, with state, prints and objects."""

import itertools

import vitrify as paddle

from .deciding_generators import growing, positive
from .made_objects import Point

P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0]


def resume_py(x):
    g = (v * 2 for v in x)
    for y in g:  # noqa: B007
        break
    return y, list(g)


def resume_gen(x):
    def gen(x):
        for v in x:
            yield v * 2

    g = gen(x)
    a = next(g)
    t = a
    for y in g:
        t = t + y
    return t


def for_genexp_cond(x):
    t = 0
    for y in (v * 2 for v in x if v > 0):
        t = t + y
    return t


def for_genexp_break(x):
    t = 0
    for y in (v * 2 for v in x if v > 0):
        if y > 3:
            break
        t = t + y
    return t


def next_genexp(x):
    return next((v for v in x if v > 1), x[0] * 5)


def next_no_default(x):
    return next(v for v in x if v > 1)


def gen_two_yields(x):
    def g(x):
        yield x
        if x.sum() > 0:
            yield x * 2
        else:
            yield x * 3
            yield x
        yield x.sum()

    return [y.sum() for y in g(x)]


def gen_state(x):
    def running(x):
        t = 0
        for v in x:
            t = t + v
            if t > 1:
                yield t

    return list(running(x)), sum(running(x))


def gen_append_side(x):
    log = []

    def g(x):
        for v in x:
            if v > 0:
                log.append(v)
                yield v * 2

    t = 0
    for y in g(x):
        t = t + y
        log.append(y)
    return t, log


def gen_nonlocal(x):
    n = 0

    def g(x):
        nonlocal n
        for v in x:
            if v > 0:
                n = n + 1
                yield v

    t = 0
    for y in g(x):
        t = t + y
    return t, n


def gen_print(x):
    def g(x):
        for v in x:
            if v > 0:
                print("y", v)
                yield v

    for y in g(x):
        print("c", y)
    return x


def gen_tree(x):
    class T:
        def __init__(self, v, left=None, right=None):
            self.v = v
            self.l = left
            self.r = right

        def __iter__(self):
            if self.l is not None:
                yield from self.l
            if self.v.sum() > 0:
                yield self.v
            if self.r is not None:
                yield from self.r

    t = T(x, T(x - 2), T(x + 2, T(x * 2)))
    s = 0
    for v in t:
        s = s + v
    return s


def gen_return_value(x):
    def inner(x):
        if x.sum() > 0:
            yield x
        return x * 10

    def outer(x):
        r = yield from inner(x)
        yield r

    t = 0
    for y in outer(x):
        t = t + y
    return t


def gen_while_true(x):
    def nums():
        i = 0
        while True:
            yield i
            i += 1

    t = x
    for i in nums():
        if t.sum() > 20:
            break
        t = t + i + 1
    return t


def gen_collatz(x):
    def seq(v):
        while v > 1:
            yield v
            if v % 2 == 0:
                v = v // 2
            else:
                v = 3 * v + 1

    n = 0
    for v in seq((x.sum().abs() + 5).astype("int64")):  # noqa: B007
        n = n + 1
    return n


def gen_in_while(x):
    while x.sum() < 30:
        for y in positive(x):
            x = x + y.abs()
        x = x + 1
    return x


def gen_of_gen(x):
    def pos(it):
        for v in it:
            if v > 0:
                yield v

    def sq(it):
        for v in it:
            yield v * v

    return sum(sq(pos(x)))


def gen_chunks(x):
    def chunks(x, n):
        for i in range(0, len(x), n):
            yield x[i : i + n]

    return [c.sum() for c in chunks(x, 2)]


def gen_early_fn_return(x):
    for i, y in enumerate(positive(x)):
        if y > 3:
            return y * i
    else:
        return x.sum()


def gen_nested_for(x):
    t = 0
    for a in positive(x):
        for b in positive(x):
            if a > b:
                t = t + a * b
    return t


def gen_any_all(x):
    return any(v > 3 for v in positive(x)), all(v > 1 for v in positive(x))


def gen_set_max(x):
    return max(positive(x), default=x.sum()), min((v * 2 for v in positive(x)), default=x[0])


def gen_in_branch(x):
    if x.sum() > 0:
        t = 0
        for y in positive(x):
            t = t + y
    else:
        t = sum(growing(x))
    return t


def gen_obj(x):
    def pts(x):
        for v in x:
            if v > 0:
                yield Point(v, v * 2)

    return sum(p.total for p in pts(x))


def gen_tuple_unpack(x):
    def pairs(x):
        for i in range(len(x)):
            if x[i] > 0:
                yield i, x[i]

    t = 0
    idx = 0
    for i, v in pairs(x):
        t = t + v * i
        idx = idx + i
    return t, idx


def gen_zip2(x):
    return [a * b for a, b in zip(x, positive(x))], [a for a, b in zip(positive(x), range(2))]


def gen_map(x):
    return list(map(lambda v: v + 1, positive(x)))  # noqa: C417


def gen_dictcomp(x):
    return {k: v for k, v in zip("abc", (t * 2 for t in x))}  # noqa: C416


def gen_try_finally(x):
    log = []

    def g(x):
        try:
            for v in x:  # noqa: UP028
                yield v
        finally:
            log.append(1)

    t = 0
    for v in g(x):
        t = t + v
    return t, log


def gen_for_else(x):
    for y in positive(x):
        if y > 5:
            r = y
            break
    else:
        r = x.sum()
    return r


def gen_in(x):
    return x.sum() in positive(x), 4.0 in positive(x)


def gen_args_star(x):
    return paddle.stack([*positive(x), x.sum()])


def gen_defaults(x):
    def g(x, k=2, *, m=1):
        for v in x:
            if v > 0:
                yield v * k * m

    return sum(g(x)), sum(g(x, 3)), sum(g(x, m=4))


def genexp_in_branch(x):
    y = x
    if x.sum() > 0:
        for q in (x * k for k in range(4)):
            y = y + q
            if y.sum() > 20:
                break
    return y


def gen_from_genexp_in_branch(x):
    def some(x):
        if x.sum() > 0:
            yield from (x * k for k in range(2))
        yield x

    return list(some(x))


def body_writes_what_closures_read(x):
    n, last = 0, None

    def seen():
        return x * n if last is None else x * n + last

    for v in positive(x):
        n += 1
        last = v
    return seen()


def expression_body_writes_what_closures_read(x):
    n = 0
    for _ in (v for v in x if v > 0):
        n = n + 1
    return (lambda: n)() * x


def body_in_a_handler(x):
    y = x
    try:
        x[3]
    except IndexError:
        for v in positive(x):
            y = paddle.tanh(y + v)
    return y


def above_zero(x):
    for v in x:
        if v > 0:
            yield v * 3


def extended_by(x):
    found = [x[0]]
    found.extend(v for v in x if v > 0)
    found += (v * 2 for v in x if v > 1)
    found.extend(above_zero(x))
    found += above_zero(x)
    return found, len(found)


def while_a_tensor_says(x):
    total = x[0] * 0
    for v in itertools.takewhile(lambda v: v > 0, x):
        total = total + v
    rest = itertools.dropwhile(lambda v: v > 0, x)
    known = list(itertools.takewhile(lambda i: i < 3, itertools.count())), list(itertools.dropwhile(bool, [1, 0, 2]))
    return total, list(rest), list(itertools.filterfalse(lambda v: v > 1, x)), known


def sets_of(x):
    known = {7}
    known.update(i for i in range(3) if x[i] > 0)
    every = known | set(i for i in range(3) if x[i] < 0)  # noqa: C401 - the call is meant
    return sorted(known), sorted(every), len({9}.union(i for i in range(3) if x[i] > 1))


def dict_updated_by(x):
    known = {0: x[0]}
    known.update((i, v) for i, v in enumerate(x) if i > 0)
    return known


def counted_by_what_elements_call(x):
    calls = 0

    def positive(v, than=0.0):
        nonlocal calls
        calls += 1
        return v > than

    found = [calls, any(positive(v) for v in x), calls, all(positive(v) for v in x), calls]
    doubled = [positive(v) for v in x if v > 0]
    found += [len(doubled), calls, any(positive(v, w) for v in x if v > 0 for w in x), calls]
    return found, x


CASES = [(f, ((P,), (N,), (Z,))) for f in (
    counted_by_what_elements_call,
    while_a_tensor_says, extended_by, sets_of, dict_updated_by, resume_py, resume_gen, for_genexp_cond,
    for_genexp_break, next_genexp,
    next_no_default, gen_two_yields, gen_state, gen_append_side, gen_nonlocal, gen_print, gen_tree, gen_return_value,
    gen_while_true, gen_collatz, gen_in_while, gen_of_gen, gen_chunks, gen_early_fn_return, gen_nested_for,
    gen_any_all, gen_set_max, gen_in_branch, gen_obj, gen_tuple_unpack, gen_zip2, gen_map, gen_dictcomp,
    gen_try_finally, gen_for_else, gen_in, gen_args_star, gen_defaults, genexp_in_branch, gen_from_genexp_in_branch,
    body_writes_what_closures_read, expression_body_writes_what_closures_read, body_in_a_handler,
)]  # fmt: skip

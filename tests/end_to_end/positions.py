"""Iterators whose items are taken where a tensor decides: made there they are as in eager code, else refused."""

from .functions import N, X


def made_in_branch(x):
    if x.sum() > 0:
        it = iter([1, 2, 3])
        next(it)
        x = x * next(it)
        for a, b in zip([1, 2], iter([3, 4])):
            x = x + a * b
    return x


def made_in_loop(x):
    while x.sum() < 30:
        it = iter([1, 2, 3])
        next(it)
        x = x + next(it) + sum(list(map(abs, it)))
    return x


def _numbers():
    yield 1
    yield 2


def generator_in_loop(x):
    while x.sum() < 30:
        found = _numbers()
        x = x + next(found) + next(found) + sum(_numbers())
    return x


def in_test(x):
    it = iter([3, 2, 1, 0, 5])
    while next(it) and x.sum() < 100:
        x = x * 2 + 1
    return x


def in_branch(x):
    it = iter([3, 2, 1])
    if x.sum() > 0:
        x = x * next(it)
    return x * next(it)


def in_body(x):
    it = _numbers()
    while x.sum() < 10:
        x = x + next(it) + 2
    return x


def loop_over_it(x):
    it = iter([1, 2, 3])
    if x.sum() > 0:
        for i in it:
            x = x + i
            break
    return x + next(it)


def used_up(x):
    it = (i for i in [1, 2, 3])
    if x.sum() > 0:
        x = x + sum(it)
    return x + sum(it)


def in_operand(x):
    it = iter([3, 4, 5])
    if x.sum() > 0 and next(it) > 2:
        x = x * 2
    return x * next(it)


def unrolled(x):
    it = iter([3, 4, 5, 6, 7, 8])
    for _ in range(6):
        if x.sum() > 200:
            break
        x = x * next(it)
    return x


REFUSED = (in_body,)
CONVERTED = (
    made_in_branch, made_in_loop, generator_in_loop, in_test, in_branch, loop_over_it, in_operand, unrolled, used_up,
)  # fmt: skip
CASES = [
    *[(f, ((X,), (N,))) for f in CONVERTED],
    *[(f, ((X,), (N,)), {"full_graph": False}) for f in REFUSED],
]

"""Iterators without an end, and iterators whose end a tensor finds: the loop is one of the program."""

import itertools

from .functions import N, X


def counting(x):
    for i in itertools.count():  # noqa: B007
        x = x * 1.5
        if x.abs().sum() > 30:
            break
    return x, i


def counting_beside_a_range(x):
    for i, k in zip(itertools.count(1, 2), range(100)):  # noqa: B007
        x = x * 1.5
        if x.abs().sum() > 30:
            break
    return x, i, k


def counting_numbered(x):
    for i, k in enumerate(itertools.count(3), 10):  # noqa: B007
        x = x * 1.5
        if x.abs().sum() > 30:
            break
    return x, i, k


def going_round(x):
    for i in itertools.cycle([1, 2]):
        x = x * 1.5 + i
        if x.abs().sum() > 60:
            return x


def repeated(x):
    for y in itertools.repeat(x):
        x = x * 1.5 + y
        if x.abs().sum() > 30:
            break
    return x


def two_beside_each_other(x):
    for n, sign in zip(itertools.count(1), itertools.cycle([1, -1])):
        x = x * 1.5 + n * sign
        if x.abs().sum() > 30:
            break
    return x, n


def repeated_calls(x):
    for k in iter(lambda: 2, None):
        x = x * k
        if x.abs().sum() > 30:
            break
    return x


def counter_taken_from_later(x):
    numbers = itertools.count(1)
    first = next(numbers)
    if x.sum() > 0:
        second = next(numbers)
    else:
        second = 10
    return x * first + second, next(numbers)


def parts_of_count(x):
    return [k * x for k in itertools.takewhile(lambda k: k < 3, itertools.count())]


class Doubled:
    """Doubles until it is large."""

    def __init__(self, x, limit=30):
        self.x = x
        self.limit = limit

    def __iter__(self):
        return self

    def __next__(self):
        if self.x.abs().sum() > self.limit:
            raise StopIteration
        self.x = self.x * 2
        return self.x


def ends_by_a_tensor(x):
    total = x * 0
    for y in Doubled(x):
        total = total + y
    return total


def ends_or_is_left(x):
    total, i = x * 0, 0
    for y in Doubled(x, 50):
        i += 1
        if i == 2:
            continue
        if y.max() > 20:
            break
        total = total + y
    else:
        total = -total
    return total, i


CASES = [
    (fn, [(X,), (N,)])
    for fn in (
        counting, counting_beside_a_range, counting_numbered, going_round, repeated, two_beside_each_other,
        repeated_calls,
        counter_taken_from_later, parts_of_count, ends_by_a_tensor, ends_or_is_left,
    )
]  # fmt: skip

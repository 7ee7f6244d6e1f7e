"""itertools and tuples' methods given what a tensor decides: how many items there are, and which one is meant."""

from itertools import (
    accumulate,
    chain,
    combinations,
    compress,
    count,
    cycle,
    groupby,
    islice,
    pairwise,
    permutations,
    product,
    repeat,
    starmap,
    tee,
    zip_longest,
)

import pytest

from tests.end_to_end.differential import compare

CALLS = ([1.0, 2.0, 3.0],), ([-1.0, 2.0, -3.0],), ([3.0, 2.0, -1.0],)


def positive(x):
    return [v for v in x if v > 0]


def chained(x):
    def doubled():
        for v in x:
            if v > 0:
                yield v * 2

    total = x.sum()
    for v in chain([x[0]], positive(x), doubled()):
        total = total + v * 0.5
    return total, list(chain.from_iterable([positive(x), (x[1],)])), max(chain(positive(x), [x[0]]))


def accumulated(x):
    sums = list(accumulate(positive(x)))
    found = x
    for v in accumulate(positive(x), lambda held, v: held * 0.5 + v, initial=x[0]):
        found = found + v
        if v > 2:
            break
    return sums, found


def paired(x):
    found = x
    for a, b in product(positive(x), [x, x * 2]):
        found = found + a * b
    steps = [b - a for a, b in pairwise(positive(x))]
    return found, steps, list(combinations(positive(x), 2)), list(starmap(max, product(positive(x), repeat=2)))


def found_in_a_tuple(x):
    n = int(x[1])
    try:
        place = (5, 2).index(int(x[0]) + 1)
    except ValueError as err:
        place = str(err)
    return (1, n, 2).index(2) * x, (1, 2, 2).count(n), place


def told(x):
    for i in range(4):
        print("made", i)
        v = x.sum() * i
        if v > 6:
            return
        yield v


def one_by_one(x):
    """Items are made as they are asked for, or all before the first one, where itertools makes a copy."""
    found = x
    for total in accumulate(told(x)):
        print("got", total)
        found = found + total
    for a, b in pairwise(told(x)):
        print("got", a, b)
        if b > 3:
            break
    for a, b in product(told(x), told(x + 1)):
        found = found + a * b
    return found


def of_a_number(x):
    n = int((x > 0).sum())
    groups = [(key, list(group)) for key, group in groupby(range(n), lambda i: i // 2)]
    first, second = tee(range(n))
    around = cycle(range(n + 1))
    return [
        [*islice(range(n), 1, None)], [*islice(range(10), n)], [*islice(count(), n)],
        [*islice(positive(x), 0, None, 2)],
        [*zip_longest(range(n), range(2), fillvalue=7)], [*repeat(1, n)], [*compress(range(n), [1, 0, 1])], groups,
        [*permutations(range(n), 2)], [*combinations(range(n), 1)], [*combinations(range(n + 1), 3)],
        [*first], [*second], [next(around) for _ in range(3)],
    ]  # fmt: skip


def taken_from_an_iterator(x):
    items = told(x)
    found = [*islice(items, 1)]
    for v in islice(told(x * 2), int(x[1] > 0)):
        found.append(v)
    return found


FUNCTIONS = [chained, accumulated, paired, found_in_a_tuple, one_by_one, of_a_number, taken_from_an_iterator]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)

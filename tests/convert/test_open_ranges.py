"""Ranges, maps and zips of which a tensor says how long they are, given to what goes through all of them."""

import collections
import functools
import itertools
import operator

import pytest

import vitrify as paddle


def double(number):
    return number * 2


def is_odd(number):
    return number % 2


def extended(x, n):
    rows = [9]
    rows.extend(range(n))
    rows += map(double, range(n))
    rows[1:1] = range(n)
    return rows


def updated(x, n):
    table = {0: x[0], 7: x[1]}
    table.update(zip(range(n), x * 2))
    table.update((i, x[i]) for i in range(n - 1))
    table.update([(i + 5, x[i]) for i in range(n)])
    return table


def united(x, n):
    numbers = {1}
    numbers.update(range(n))
    numbers |= {*range(n), 8}
    return numbers | set(range(n)), numbers.union(range(n))


def at_both_ends(x, n):
    queue = collections.deque([1])
    queue.extend(range(n))
    queue.extendleft(range(n))
    return list(queue)


CALLS = {
    "display": lambda x, n: [5, *range(n), -1],
    "displays": lambda x, n: ([*zip(range(n), x)], (*enumerate(range(n), 1),), {*range(n), 7}),
    "maps": lambda x, n: paddle.stack([x, *map(functools.partial(operator.mul, x), range(n))]),
    "sum": lambda x, n: sum([*map(double, range(n)), 5]),
    "arguments": lambda x, n: max(*range(n), 2, 1),
    "sorted": lambda x, n: sorted(map(operator.neg, range(n))),
    "sets": lambda x, n: (set(range(n)), set(map(is_odd, range(n)))),
    "keys": lambda x, n: dict.fromkeys(range(n), x),
    "pairs": lambda x, n: dict(zip(range(n), x)),
    "reduced": lambda x, n: functools.reduce(lambda a, b: a * 2 + b, range(n), 1),
    "chained": lambda x, n: [*itertools.chain(range(n), [1])],
    "extended": extended,
    "updated": updated,
    "united": united,
    "at both ends": at_both_ends,
}
NOT_EMPTY = {
    "least": lambda x, n: min(range(n)),
    "most": lambda x, n: max(range(n), key=lambda i: -i),
    "reduced": lambda x, n: functools.reduce(lambda a, b: a * 2 + b, range(n)),
}


def given(function, number):
    return repr(function(paddle.arange(4, dtype="float32"), paddle.to_tensor(number)))


@pytest.mark.parametrize("name", CALLS)
def test_what_goes_through_a_range_of_a_tensor(name):
    compiled = paddle.jit.to_static(CALLS[name], full_graph=True)
    for number in (3, 0, 2):
        assert given(compiled, number) == given(CALLS[name], number)


@pytest.mark.parametrize("name", NOT_EMPTY)
def test_what_needs_an_item(name):
    compiled = paddle.jit.to_static(NOT_EMPTY[name], full_graph=True)
    for number in (3, 1):
        assert given(compiled, number) == given(NOT_EMPTY[name], number)
    with pytest.raises((ValueError, TypeError)) as eager:
        given(NOT_EMPTY[name], 0)
    with pytest.raises(type(eager.value)):
        given(compiled, 0)

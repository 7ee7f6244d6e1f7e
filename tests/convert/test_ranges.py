"""Ranges whose bounds a tensor gives are ranges: equal, shown, sliced, searched, kept as Python's."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = ([1.0, -2.0, 3.0],), ([-1.0, -2.0, 0.5],), ([-1.0, -2.0, -0.5],)


def positive(x):
    return int((x > 0).sum())


def asked(x):
    n = positive(x)
    return [
        (len(r), list(r), bool(r), r.start, r.stop, r.step, r.count(1), 1 in r, 1.5 in r, 2.0 in r, "a" in r)
        for r in (range(n), range(n, 0, -1), range(1, 2 * n, 2), range(3, n), range(0, 10, n + 1))
    ]


def sliced(x):
    n = positive(x)
    r, back = range(n + 2), range(n, -2, -1)
    found = [r[1:], r[::-1], r[-1:], r[:1], r[5:0:-2], r[n:], r[:-n], back[1:], back[:: n + 1], back[:: -n - 1]]
    return found, [list(part) for part in found], r[0], r[-1], back[n]


def compared(x):
    n = positive(x)
    r = range(n)
    alike = [range(2) == r, range(n, n) == range(0), range(0, n, 5) == range(1), r != range(2), r == r, r == [0, 1]]
    return alike, hash(r) == hash(range(2)), r in [range(2)], [r] == [range(2)], (r, 1) == (range(2), 1), r is r


def shown(x):
    n = positive(x)
    print(f"{range(n)!s:>14}|", [range(n)], {"a": range(1, n, 2)}, (range(n),))
    return str(range(n)), repr(range(1, n, 3)), f"{[range(n)]!r:>20}"


def searched(x):
    r = range(0, positive(x) * 2, 2)
    try:
        return r.index(2)
    except ValueError as err:
        return str(err)


def out_of_reach(x):
    try:
        return range(3)[positive(x) + 1], range(positive(x))[1]
    except IndexError as err:
        return str(err)


def without_a_step(x):
    try:
        return range(positive(x))[:: positive(x) - 2]
    except ValueError as err:
        return str(err)


def told_by_class(x):
    r = range(positive(x))
    match r:
        case range(start=0, stop=n):
            return n, isinstance(r, range), isinstance(r, (list, tuple)), type(r) is range, callable(r)


def chosen(x):
    r = range(positive(x))
    if x.sum() > 0:
        r = range(2)
    return list(r), len(r), r


def changed_by_a_loop(x):
    r, total = range(0), 0
    for v in x:
        if v > 0:
            r = range(len(r) + 1)
    while total < 5:
        for _ in r:
            total = total + 1
        total = total + 1
        r = r[1:]
    return r, total


def kept(x, state):
    state["r"] = range(positive(x))
    rows = [range(i) for i in range(positive(x))]
    return rows, [len(row) for row in rows], state["r"] == range(2)


def stepped_through(x):
    items = iter(range(positive(x)))
    first = next(items, -1)
    a, *rest = range(positive(x) + 1)
    return first, next(items, -1), list(items), a, rest, list(reversed(range(positive(x))))


FUNCTIONS = [
    asked, sliced, compared, shown, searched, out_of_reach, without_a_step, told_by_class, chosen, changed_by_a_loop,
    stepped_through,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("full_graph", [True, False])
def test_a_range_of_a_tensor_is_a_range(function, full_graph):
    compare(function, *CALLS, full_graph=full_graph)


@pytest.mark.parametrize("full_graph", [True, False])
def test_it_can_be_kept(full_graph):
    compare(kept, *[(*call, {"r": range(2)}) for call in CALLS], full_graph=full_graph)


def test_as_a_key_it_is_refused():
    static = paddle.jit.to_static(lambda x: {range(positive(x)): 1}, full_graph=True)
    with pytest.raises(UnsupportedError, match="a range with bounds that only a run knows"):
        static(paddle.ones([2]))

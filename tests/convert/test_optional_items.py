"""Items of lists that are None where a tensor says so: kept in tuples and dicts, too, told apart and added up."""

from itertools import zip_longest

import pytest

from tests.end_to_end.differential import compare

CALLS = ([1.0, -2.0, 3.0],), ([-1.0, -2.0, 0.5],), ([-1.0, -2.0, -0.5],)


def added_up(x):
    items = [v if v > 0 else None for v in x]
    return sum(v for v in items if v is not None), [0 if v is None else v for v in items]


def added_up_from_an_open_list(x):
    items = []
    for v in x:
        if v > 0:
            items.append(v)
        else:
            items.append(None)
    return sum(v for v in items if v is not None), [v for v in items if v is not None]


def put_in(x):
    items = []
    for v in x:
        if v > -1.5:
            items.append(v if v > 0 else None)
    return items, sum([v * 2 for v in items if v is not None]), [i for i, v in enumerate(items) if v is None]


def of_a_slice(x):
    found = []
    for v in x[: (x > 0).sum()]:
        found.append(v if v > 0 else None)
    return found


def in_a_tuple(x):
    items, total = [], 0
    for v in x:
        held = v if v > 0 else None
        if v > -1.5:
            items.append((held, 1))
    for a, b in items:
        if a is not None:
            total = total + a * b
    return items, total


def in_a_dict(x):
    items = []
    for v in x:
        number = int(v) if v > 0 else None
        if v > -1.5:
            items.append({"number": number, "v": v})
    return items, [item["v"] for item in items if item["number"] is not None]


def beside_none(x):
    items = []
    for v in x:
        if v > 0:
            items.append(None)
        if v > -1.5:
            items.append(v if v > 0 else None)
    return items, max([v for v in items if v is not None], default=0)


def popped(x):
    items, found = [v if v > 0 else None for v in x], []
    while len(items) > 0:
        item = items.pop()
        if item is not None:
            found.append(item)
        if len(found) > 1:
            break
    return items, found


def filled_up(x):
    n = int((x > 0).sum())
    return list(zip_longest(range(n), range(2))), list(zip_longest(range(n), [x, x * 2], fillvalue=0))


FUNCTIONS = [
    added_up, added_up_from_an_open_list, put_in, of_a_slice, in_a_tuple, in_a_dict, beside_none, popped, filled_up,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("full_graph", [True, False])
def test_items_that_may_be_none(function, full_graph):
    compare(function, *CALLS, full_graph=full_graph)

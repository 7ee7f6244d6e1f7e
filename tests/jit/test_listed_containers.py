"""Dicts and objects that a tensor puts into a list: where others have them, too, the list must not hold copies."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = [1.0, -2.0, 3.0], [-1.0, -2.0, 0.5]


def put_again(d, x, rows):
    for v in x:
        if v > 0:
            rows.append(d)
    return rows


def changed_later(d, x, rows):
    put_again(d, x, rows)
    d["b"] = x


def found_in_the_list(d, x, rows):
    put_again(d, x, rows)
    if len(rows) > 0:
        rows[0]["c"] = x
        return rows[0] is d
    return d


def given_back_beside(x):
    d, rows = {"a": x * 2}, []
    for v in x:
        if v > 0:
            rows.append(d)
    return rows, d


def used_inside(d, x):
    rows = []
    for v in x:
        if v > 0:
            rows.append(d)
    return sum(row["a"] for row in rows)


@pytest.mark.parametrize("function", [put_again, changed_later, found_in_the_list])
def test_the_items_are_the_callers_own(function):
    compare(function, *[({"a": [1.0]}, values, []) for values in CALLS], full_graph=False)
    with pytest.raises(UnsupportedError, match=r"in it that others have, too|a change of what a list holds"):
        paddle.jit.to_static(function, full_graph=True)({"a": paddle.ones([1])}, paddle.ones([3]), [])


def test_the_items_are_one_that_is_given_back():
    compare(given_back_beside, *[(values,) for values in CALLS], full_graph=False)


@pytest.mark.parametrize("full_graph", [True, False])
def test_what_stays_inside_may_be_a_copy(full_graph):
    compare(used_inside, *[({"a": [1.0]}, values) for values in CALLS], full_graph=full_graph)

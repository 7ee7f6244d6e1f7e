"""Lists and dicts of the caller's that a tensor loop exchanges for others: each stays the object that it is."""

import numpy as np
import pytest

from tests.end_to_end.differential import compare

X, ROWS, ENTRIES = [1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]], {"a": [1.0], "b": [2.0]}
TURNS = [np.asarray(count) for count in (3, 0)]


def exchanged_or_changed(x, rows, n):
    rows = list(rows)
    given = rows
    for turn in range(n):
        if turn % 2 == 0:
            rows = rows + [x * turn]
        else:
            rows.append(x)
    return rows, given


def window(x, rows, n):
    kept = [rows[0], rows[1]]
    others = [kept, kept]
    for turn in range(n):
        kept = kept[1:] + [x * turn]
    kept.append(x)
    return kept, others


def swapped(x, rows, n):
    a, b = [rows[0]], [rows[1]]
    both = [a, b]
    for turn in range(n):
        a, b = b, a
        a.append(x * turn)
    return a, b, both


def taken_for_another(x, rows, n):
    a, b = [rows[0]], [rows[1]]
    both = [a, b]
    for turn in range(n):
        if turn == 1:
            a = b
        a.append(x * turn)
    return a, both


def by_an_inner_function(x, rows, n):
    kept = [rows[0]]
    others = [kept]

    def grow(value):
        nonlocal kept
        if value.sum() > 1:
            kept = kept + [value]
        else:
            kept.append(value)

    for turn in range(n):
        grow(x - turn)
    return kept, others


@pytest.mark.parametrize(
    "function",
    [exchanged_or_changed, window, swapped, taken_for_another, by_an_inner_function],
    ids=lambda f: f.__name__,
)
def test_list(function):
    compare(function, *[(X, tuple(ROWS), turns) for turns in TURNS])


def another_dict(x, entries, n):
    for turn in range(n):
        if x.sum() > turn:
            entries = {"a": x.sum(), "b": entries["b"] + turn}
        entries["a"] = entries["a"] + 1
    return entries


def dict_of_all_entries(x, entries, n):
    for turn in range(n):
        entries = {key: value + turn for key, value in entries.items()}
    entries["a"] = x.sum()
    return entries


@pytest.mark.parametrize("function", [another_dict, dict_of_all_entries], ids=lambda f: f.__name__)
def test_dict(function):
    compare(function, *[(X, ENTRIES, turns) for turns in TURNS])

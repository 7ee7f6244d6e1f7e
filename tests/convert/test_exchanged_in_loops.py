"""Lists and dicts of the caller's that a tensor loop exchanges for others: each stays the object that it is."""

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.foreign import ForkedError

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


def emptied_by_a_function(n, items):
    def start_again():
        nonlocal items
        items = []

    while n > 0:
        items.append(n * 2)
        start_again()
        n = n - 1
    return n


def reversed_and_emptied_by_a_function(n, items):
    for _ in range(n):
        items.reverse()

        def start_again():
            nonlocal items
            items = []

        start_again()
    return n


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("f", [emptied_by_a_function, reversed_and_emptied_by_a_function])
def test_a_list_of_the_caller_that_a_closure_exchanges_keeps_what_was_done_to_it(f, full_graph):
    static = paddle.jit.to_static(f, full_graph=full_graph)
    for n in (1, 0, 2, 3, 1):
        lists = [[paddle.to_tensor(v) for v in (1.0, 2.0, 3.0)] for _ in range(2)]
        for function, items in zip((f, static), lists):
            function(paddle.to_tensor(n), items)
        assert [v.tolist() for v in lists[0]] == [v.tolist() for v in lists[1]]


def known_by_another_name(x):
    rows = [x]
    kept = rows

    def put():
        nonlocal rows
        rows.append(x)
        if x.sum() > 4:
            rows = []

    while x.sum() < 5:
        put()
        x = x.abs() + 1
    return rows, kept, x


def test_a_list_made_inside_that_a_closure_exchanges_keeps_what_was_done_to_it():
    compare(known_by_another_name, (X,), ([0.5, 0.25],), ([4.0, 4.0],))


class Buffer:
    def __init__(self, rows):
        self.rows = rows


def emptied_attribute(x):
    buffer = Buffer([x * 2])
    kept = buffer.rows
    while x.sum() < 5:
        buffer.rows.append(x)
        x = x.abs() + 1
        if x.sum() > 4:
            buffer.rows = [x]
    return len(buffer.rows), len(kept), x


def test_a_list_in_an_attribute_that_a_loop_changes_and_exchanges_is_refused_by_name():
    with pytest.raises(ForkedError, match=r"Buffer.rows is a list that the body of a loop changes in place and then"):
        paddle.jit.to_static(emptied_attribute, full_graph=True)(paddle.to_tensor(X))
    compare(emptied_attribute, (X,), ([0.5, 0.25],), full_graph=False)

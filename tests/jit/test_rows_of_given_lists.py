"""A row of a list of lists that the caller has is that list, whoever chose it: in segments it stays one object."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def chosen_row(rows, n, x):
    return rows[n - 1]


def row_that_moves(rows, n, x):
    row = rows[n - 1]
    rows.insert(0, [x])
    row.append(x)
    return row


def row_of_a_slice(rows, n, x):
    return rows[n - 2 :]


def row_put_again(rows, n, x):
    row = rows[n - 1]
    rows.append(row)
    return row


def grows_on_a_path(rows, n, x):
    if x.sum() > 0:
        rows.append([x])


def popped_by_a_tensor(rows, n, x):
    return rows.pop(n - 1)


WHOLE = [chosen_row, row_that_moves, row_put_again]
COPIED = [row_of_a_slice, grows_on_a_path, popped_by_a_tensor]
CASES = [*WHOLE, *COPIED]


def told(function):
    """Which of the caller's rows, by number, stand where after a call, and how long all of them are."""
    x = paddle.to_tensor([1.0, 2.0])
    rows = [[x * 1], [x * 2, x], [x * 3]]
    numbers = {id(row): i for i, row in enumerate(rows)}
    kept = list(rows)
    found = function(rows, paddle.to_tensor(np.array(2)), x)
    given = found if isinstance(found, list) and found and isinstance(found[0], list) else [found]
    return (
        [numbers.get(id(row)) for row in given],
        [numbers.get(id(row)) for row in rows],
        [[float(t.sum()) for t in row] for row in [*kept, *rows]],
    )


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_segments_keep_the_callers_rows(function):
    expected = told(function)
    static = paddle.jit.to_static(function, full_graph=False)
    for _ in range(3):
        assert told(static) == expected


@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_a_whole_function_chooses_among_the_callers_rows(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for _ in range(3):
        assert told(static) == told(function)


@pytest.mark.parametrize("function", COPIED, ids=lambda function: function.__name__)
def test_a_whole_function_refuses_what_would_be_copies(function):
    with pytest.raises(UnsupportedError, match=r"a list is changed that is also an item|an inner list in common"):
        told(paddle.jit.to_static(function, full_graph=True))

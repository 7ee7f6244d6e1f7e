"""`list(x)` of a tensor whose first size is unknown: its items are views of `x`, as rows are in eager code."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.jit import to_static

SPEC = [paddle.static.InputSpec([None], "float32", stop_gradient=False)]


def changed_behind(x):
    y = x * 1
    rows = list(y)
    y[0] = 7.0
    return y, rows


def tuple_changed_behind(x):
    y = x * 1
    rows = tuple(y)
    y[0] = y[1]
    return y, rows[0] * 2


def only_read(x):
    y = x * 2
    total = sum(list(x))
    y[0] = total
    return y


@pytest.mark.parametrize("fn", [changed_behind, tuple_changed_behind, only_read])
def test_a_list_of_rows_sees_what_is_written_later(fn):
    static = to_static(fn, full_graph=True, input_spec=SPEC)
    compare(fn, ([1.0, -2.0, 3.0],), ([1.0, -2.0],), static=static)

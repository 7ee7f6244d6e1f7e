"""Shapes, and lists of classes of the user's, of which a tensor decides which one: they are no lists of any length."""

from __future__ import annotations

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],), ([0.25, -0.5, 4.0],)]


class Row(list):
    def total(self):
        return sum(self)


def shape_of_a_rank_that_a_path_decides(x):
    y = x if x.sum() > 0 else x.reshape([1, 3])
    s = y.shape
    print(type(s).__name__, s, len(s))
    return s, s.numel(), s[-1], s + [2], s == [3], y.ndim


def shape_of_one_of_three_ranks(x):
    y = x
    if x.sum() > 0:
        y = y.unsqueeze(0)
    if x[0] > 0.5:
        y = y.unsqueeze(0)
    count = 1
    for size in y.shape:
        count = count * size
    return count, f"{y.shape}", y.shape.numel()


def list_or_shape(x):
    s = [1]
    if x.sum() > 0:
        s = x.shape
    return s, len(s)


def shape_assigned_in_a_loop(x):
    s, other, y = x.shape, [1], x
    i = paddle.zeros([])
    while i < x.sum():
        y = y * 1.5
        s = y.shape
        other = x.shape
        i = i + 1
    return s, other


def rows_of_two_lengths(x):
    row = Row([1, 2])
    if x.sum() > 0:
        row = Row([1, 2, 3])
    return row.total(), type(row).__name__, row


def row_exchanged_in_a_loop(x):
    row = Row([1.0])
    i = paddle.zeros([])
    while i < x.sum():
        row = Row([x[0]])
        i = i + 1
    return row.total(), type(row).__name__


FUNCTIONS = [shape_of_a_rank_that_a_path_decides, shape_of_one_of_three_ranks, list_or_shape, shape_assigned_in_a_loop]
FUNCTIONS += [rows_of_two_lengths, row_exchanged_in_a_loop]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_stay_what_they_are(function):
    compare(function, *CALLS, strict=True)

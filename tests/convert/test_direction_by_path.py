"""`sorted` and `sort` whose `reverse` a tensor decides."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.end_to_end.differential import compare

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


@dataclass
class Box:
    held: Any
    n: int


def of_numbers(x):
    falls = x.sum() > 0
    values = [3, 1, 2, 1]
    values.sort(reverse=falls)
    return values, sorted([], reverse=falls), sorted([5], reverse=x.sum() > 1)


def of_no_direction(x):
    return sorted([1, 2], reverse=x.sum())


def of_tensors(x):
    rows = [x * 2, x, -x]
    kept = list(rows)
    kept.sort(key=lambda row: row.sum(), reverse=(x[0] > 0))
    return kept, kept[0] is rows[0], sorted(rows, key=lambda row: 1, reverse=x[0] > 0)[0] is rows[0]


def of_pairs(x):
    return sorted([(1, x[0]), (0, x[1]), (1, x[2])], key=lambda p: (p[0], p[1]), reverse=(x.mean() < 0.5))


def of_objects(x):
    boxes = [Box(x, 2), Box(x * 2, 1)]
    boxes.sort(key=lambda box: box.n, reverse=x.sum() > 0)
    boxes[0].n = 10
    return boxes


def of_a_grown_list(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * 2)
    kept.sort(reverse=len(kept) > 2)
    return kept, sorted(kept, reverse=x[0] > 1)


def of_a_flag(x):
    kept = [x[0], x[1], x[2]]
    y = x if x.sum() > 0 else x.detach()
    kept.sort(reverse=y.stop_gradient)
    return kept


FUNCTIONS = [of_numbers, of_no_direction, of_tensors, of_pairs, of_objects, of_a_grown_list, of_a_flag]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_direction(function):
    compare(function, *ROWS)

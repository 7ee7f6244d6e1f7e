"""Tuples of tensors and texts in the order of the tensors, texts where those are equal."""

import pytest

from tests.end_to_end.differential import compare


def texts_in_order(x):
    return "".join(name for _, name in sorted((x[i], "abc"[i]) for i in range(3)))


def list_sorted(x):
    found = [(float(x[i]), "abc"[i]) for i in range(3)]
    found.sort(reverse=True)
    return found


def equal_ones(x):
    return sorted([(x[0], "z"), (x[1], "b"), (x[0] * 1, "a"), (x[1] * 1, "c")])


def behind_a_text(x):
    return sorted([("b", x[0], "z"), ("a", x[1], "y"), ("a", x[2], "x")])


@pytest.mark.parametrize("function", [texts_in_order, list_sorted, equal_ones, behind_a_text], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 0.5],), ([-1.0, -2.0, 0.5],), ([0.5, 0.5, 4.0],), ([-1.0, -1.0, -1.0],))

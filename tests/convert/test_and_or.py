"""`test and value or other` where the value is a constant: one of two texts or numbers, as in eager code."""

import pytest

from tests.end_to_end.differential import compare


def texts(x):
    positive = x.sum() > 0
    return x * len((positive and "abc") or "zz"), (positive and "abc") or "zz"


def numbers(x):
    return ((x.sum() > 0 and 3) or 0) + 1, [1.0, 2.0, 3.0, 4.0][(x.max() > 2 and x.min() > 0 and 3) or 1]


def several(x):
    return ((x.sum() > 0 and "a") or (x.max() > 0.4 and "b") or "c").upper()


def not_true(x):
    return (x.sum() > 0 and "") or "other"


def asked_once(x):
    seen = []

    def asked(value):
        seen.append(value)
        return value

    return (asked(x.sum() > 0) and "a") or asked("b"), len(seen)


@pytest.mark.parametrize("function", [texts, numbers, several, not_true, asked_once], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 0.5],), ([-1.0, -2.0, 0.5],), ([0.5, 0.25, 4.0],), ([-1.0, -1.0, -1.0],))

"""`:=` in a comprehension that stands in a `try` whose calls a tensor may let raise."""

import pytest

from tests.end_to_end.differential import compare

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


def strict(v, limit=1.0):
    if v.sum() > limit:
        raise ValueError("planned")
    return v * 0.5


def all_behind_a_call(x):
    w = x[0]
    try:
        y = strict(x)
        v = y + x * (w if all((w := i) < x.sum() for i in x) else 0.5)
    except ValueError:
        v = 3
    return v, w


def any_decides_which_call(x):
    w = x[0]
    try:
        v = strict(x) if any((w := i) > x.sum() for i in x) else strict(x * 2)
    except ValueError:
        v = 3
    return v, w


def call_raises_in_any(x):
    w = x[0]
    try:
        if any((w := strict(i, 0.5)) > x.sum() for i in x):
            return 3, w
    except ValueError:
        w = w * 2
    return w


def call_raises_behind_and(x):
    w = x[0]
    try:
        if x[0] > 0.5 and (w := strict(x, 0.5)).sum() > 0:
            return 3, w
    except ValueError:
        w = w * 2
    return w


def dict_and_text(x):
    w = x[0]
    known = dict((i, (w := v)) for i, v in enumerate(x) if v > 0)  # noqa: C402 - what is tested
    return known, ",".join(str(int(w := v)) for v in x if v < 3), w


@pytest.mark.parametrize(
    "function",
    [all_behind_a_call, any_decides_which_call, call_raises_in_any, call_raises_behind_and, dict_and_text],
)
def test_binds_as_far_as_eager_code_goes(function):
    compare(function, *ROWS)

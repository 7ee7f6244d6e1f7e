"""Containers that helpers of a trace have let go are not taken for some that others still know."""

import pytest

from tests.end_to_end.differential import compare


def dict_in_a_dict(x):
    found = {}
    if x.sum() > 0:
        found.setdefault("a", {}).setdefault("b", []).append(x)
    found.setdefault("a", {}).setdefault("b", []).append(x * 2)
    return found


def in_a_loop(x):
    found = {}
    for i in range(3):
        if x[i] > 0:
            found.setdefault("k", {}).setdefault(i % 2, []).append(x[i])
    return found


def by_a_chosen_key(x):
    found = {}
    for i in range(3):
        key = "a" if x[i] > 0 else "b"
        found.setdefault(key, []).append(x[i])
    return found


@pytest.mark.parametrize("function", [dict_in_a_dict, in_a_loop, by_a_chosen_key], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 0.5],), ([-1.0, -2.0, 0.5],), ([0.5, -0.25, 4.0],), ([-1.0, -1.0, -1.0],))

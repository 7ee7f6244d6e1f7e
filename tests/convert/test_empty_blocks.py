"""Blocks in which conversion leaves nothing, as all that stands there is a test of constants with nothing behind it."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare


def in_a_try(x):
    if x.sum() > 0:
        try:
            if False:
                pass
        finally:
            pass
    return x


def in_a_with(x):
    with paddle.no_grad():
        if 3 > 1:
            pass
    if x.sum() > 0:
        x = x + 1
    return x


def in_handlers_and_loops(x):
    try:
        y = x * 2
    except ValueError:
        if False:
            pass
    finally:
        if 0 > 1:
            pass
    for _ in range(2):
        if False:
            pass
    return y if y.sum() > 0 else x


@pytest.mark.parametrize("function", [in_a_try, in_a_with, in_handlers_and_loops], ids=lambda f: f.__name__)
def test_they_do_nothing(function):
    compare(function, ([1.0, 2.0],), ([-1.0, -2.0],))

"""`is` of tensors that a path chose and an in-place change had met before: they are the objects that they were."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

ROWS = [([0.5, 0.7, -0.2],), ([-1.0, -2.0, -3.0],)]


def a_detached_one_whose_memory_was_scaled(x):
    a = x * 2
    c = a.detach()
    a.scale_(0.5)
    b = c
    if x.sum() > 0:
        b = a
    return b is c, b is a


def one_that_was_changed_itself(x):
    a, c = x * 2, x * 3
    c.add_(x)
    b = c if x.sum() > 0 else a
    return b is c, b is a, (b + 1) is c


def a_part_of_one_that_was_changed(x):
    a = x * 2
    c = a[1:]
    a[0] = 5.0
    b = c
    if x.sum() > 0:
        b = a[1:]
    return b is c, b


def changed_before_and_behind_the_decision(x):
    a = x * 2
    c = a.detach()
    c[0] = 1.0
    b = a if x.sum() > 0 else c
    a.add_(paddle.ones([3]))
    d = b if x[0] > 0 else c
    return d is c, d is b, d is a, b is c


@pytest.mark.parametrize(
    "function",
    [
        a_detached_one_whose_memory_was_scaled,
        one_that_was_changed_itself,
        a_part_of_one_that_was_changed,
        changed_before_and_behind_the_decision,
    ],
    ids=lambda f: f.__name__,
)
def test_it_is_what_eager_code_says(function):
    compare(function, *ROWS)

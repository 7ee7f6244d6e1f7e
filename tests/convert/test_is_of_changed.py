"""`is` of tensors that a path chose and an in-place change had met before: they are the objects that they were."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from tests.jit.test_handed import of_one_object

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


def changed_on_both_sides_of_the_decision(x):
    a = x * 2
    c = a.detach()
    a.scale_(0.5)
    b = a if x.sum() > 0 else c
    a.add_(paddle.ones([3]))
    return b, c, a


def changed_on_a_path(x):
    a = x * 2
    c = a.detach()
    a.add_(x)
    b = a
    if x.sum() > 0:
        b = c
        c.add_(x)
    return b, c, a


def changed_in_each_turn(x):
    a = x * 2
    c = a.detach()
    for v in x:
        a.add_(v)
        b = c if v > 0.5 else a
    a.add_(x)
    return b, c, a


CHANGED = [changed_on_both_sides_of_the_decision, changed_on_a_path, changed_in_each_turn]


@pytest.mark.parametrize("function", CHANGED, ids=lambda f: f.__name__)
def test_what_leaves_is_the_object_that_it_was(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for (values,) in ROWS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(function(x), x)

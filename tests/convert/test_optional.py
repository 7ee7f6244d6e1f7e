"""Where a value may be None and the program cannot raise what eager code would, its use is refused."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def given_to_an_op(x):
    found = None
    if x.sum() > 0:
        found = x
    return paddle.exp(found)


def given_where_none_is_allowed(x):
    bias = None
    if x.sum() > 0:
        bias = x
    return paddle.nn.functional.linear(x, paddle.ones([2, 2]), bias)


def of_another_kind(x):
    found = None
    if x.sum() > 0:
        found = "abc"
    return x if found is None else x * 2


def test_use_is_refused():
    static = paddle.jit.to_static(given_to_an_op, full_graph=True)
    with pytest.raises(UnsupportedError) as caught:
        static(paddle.to_tensor([1.0, 2.0]))
    assert caught.value.loc is not None


@pytest.mark.parametrize("function", [given_where_none_is_allowed, of_another_kind])
def test_none_may_stand_where_it_is_allowed(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for values in ([1.0, 2.0], [-1.0, -2.0]) * 2:
        x = paddle.to_tensor(values)
        assert static(x).tolist() == function(x).tolist()


@pytest.mark.parametrize("function", [given_to_an_op, given_where_none_is_allowed, of_another_kind])
def test_the_default_mode_runs_it_as_python(function):
    static = paddle.jit.to_static(function)
    for _ in range(3):
        x = paddle.to_tensor([1.0, 2.0])
        assert static(x).tolist() == function(x).tolist()

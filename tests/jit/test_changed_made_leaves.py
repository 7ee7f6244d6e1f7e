"""A leaf that wants a gradient, made inside, cannot be changed in place, as in eager code; under no_grad it can."""

import copy

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

CALLS = ([1.0, -2.0, 3.0],), ([-1.0, -2.0, 0.5],)


def made(x):
    y = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y[0] = 1.0
    return y + x


def created(x):
    y = paddle.create_parameter([3], "float32")
    y.add_(x)
    return x


def cut_off(x):
    y = x.detach()
    y.stop_gradient = False
    y[0] = 1.0
    return y


def copied(x):
    y = copy.deepcopy(x)
    y += 1.0
    return y


def on_one_path(x):
    y = paddle.ones([3])
    y.stop_gradient = False
    if x.sum() > 0:
        y[0] = 1.0
    return y * x


def caught(x):
    y = copy.deepcopy(x)
    try:
        y[0] = 1.0
    except ValueError:
        return x * 2
    return y


def under_no_grad(x):
    y = copy.deepcopy(x)
    with paddle.no_grad():
        y[0] = 1.0
    return y * 2


def filled(x):
    y = paddle.ones([3])
    y.stop_gradient = False
    paddle.assign(x, y)
    y.set_value([1.0, 2.0, 3.0])
    return y.detach(), x


def wanted_again(x):
    y = x * 2
    y.stop_gradient = True
    y.stop_gradient = False
    y[0] = 1.0
    return y


FUNCTIONS = [made, created, cut_off, copied, on_one_path, caught, under_no_grad, filled, wanted_again]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_is_changed_where_eager_code_changes_it(function, full_graph):
    compare(function, *CALLS, full_graph=full_graph)

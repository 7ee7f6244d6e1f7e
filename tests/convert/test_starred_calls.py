"""`f(*values, **named)` where a tensor decides how many values there are, or which names."""

import pytest

import vitrify as paddle
from tests.support.constructs import Box
from vitrify.core.errors import UnsupportedError


def add(a, b, c=0.0):
    return a * 2 + b * 3 + c


def gather(a, *rest, k=1.0, **others):
    return a * k + sum(rest) + sum(others.values()) * 10, len(rest), list(others)


def one_name(x):
    named = {}
    if x[0] > 0:
        named["c"] = x[1]
    return add(x[0], x[2], **named)


def needed_name(x):
    named = {"b": x[1]} if x[0] > 0 else {}
    return add(x[0], c=1.0, **named)


def wrong_name_caught(x):
    named = {"c": x[1]}
    if x[0] > 0:
        named["d"] = 1
    try:
        return add(x, x, **named)
    except TypeError as err:
        return str(err)


def names_of_rest(x):
    named = {"e": x[2]}
    if x[0] > 0:
        named["k"] = 3.0
    if x[1] > 0:
        named["d"] = x[0]
    return gather(x, x, **named)


def many_names(x):
    named = {}
    for place, name in enumerate(["keepdim", "scale", "bias", "power", "flip"]):
        if x.sum() > place - 2:
            named[name] = place
    return options(x, **named)


def options(x, *, scale=1.0, bias=None, power=None, flip=False, keepdim=None):
    x = x * scale
    x = x if bias is None else x + bias
    x = x if power is None else x**power
    return (-x if flip else x), keepdim


def of_library(x):
    named = {"axis": 0} if x[0] > 0 else {"keepdim": True}
    return x.sum(**named)


def as_dict(x):
    named = {}
    if x[0] > 0:
        named["b"] = x
    named["a"] = 1
    return dict(z=2, **named)


def counted(x):
    return add(*[v for v in x if v > 0])


def counted_caught(x):
    values = [v for v in x if v > 0]
    try:
        return add(*values)
    except TypeError:
        return x.sum()


def counted_rest(x):
    return gather(*[v for v in x if v > 0], k=2)


def of_class(x):
    return Box(*[v for v in x if v > 1]).value


def of_size(x):
    return add(*x)


def one_of_two(x):
    values = (x, x) if x.sum() > 0 else (x, x + 1, x * 2)
    return add(*values)


FUNCTIONS = [one_name, needed_name, wrong_name_caught, names_of_rest, many_names, of_library, as_dict, counted]
FUNCTIONS += [counted_caught, counted_rest, of_class, one_of_two]
VALUES = [[1.0, 2.0, -3.0], [-1.0, 2.0, 3.0], [2.0, -1.0, -3.0], [-1.0, -2.0, -4.0], [3.0, 1.0, 4.0, 1.5]]


def outcome(fn, values):
    x = paddle.to_tensor(values, stop_gradient=False)
    try:
        found = fn(x)
    except TypeError as err:
        return "TypeError", str(err).splitlines()[0]
    tensors = [t for t in paddle.utils.flatten(found) if isinstance(t, paddle.Tensor) and not t.stop_gradient]
    if tensors:
        sum(t.sum() for t in tensors).backward()
    return paddle.utils.map_structure(shown, found), None if x.grad is None else x.grad.tolist()


def shown(value):
    return value.tolist() if isinstance(value, paddle.Tensor) else value


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_each_path_calls_what_eager_code_calls(fn):
    static = paddle.jit.to_static(fn, full_graph=True)
    for values in VALUES + VALUES[:1]:
        assert outcome(static, values) == outcome(fn, values)


def test_a_size_that_only_the_run_knows():
    static = paddle.jit.to_static(of_size, input_spec=[paddle.static.InputSpec([None])], full_graph=True)
    for count in (1, 2, 3, 4):
        values = [1.0, 2.0, 4.0, 8.0][:count]
        assert outcome(static, values)[0] == outcome(of_size, values)[0]


def test_more_numbers_than_there_may_be_paths():
    def many(*, x):
        values = [v for v in x if v > 0]
        return (lambda a, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1, j=1, k=1, m=1, n=1: a)(*values)

    with pytest.raises(UnsupportedError, match="there are 14 numbers of them"):
        paddle.jit.to_static(many, full_graph=True)(x=paddle.ones([2]))


def test_a_name_given_twice():
    def twice(x):
        named = {"b": x} if x.sum() > 0 else {}
        return add(x, b=x, **named)

    static = paddle.jit.to_static(twice, full_graph=True)
    for values in ([1.0], [-1.0]):
        assert outcome(static, values) == outcome(twice, values)

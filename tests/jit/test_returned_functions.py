"""Functions that a call makes and gives back hold the tensors of that call, as in eager code."""

from dataclasses import dataclass
from functools import partial, wraps

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


@dataclass
class Held:
    function: object


class Adder:
    def __init__(self, value):
        self.value = value

    def add(self, v):
        return v + self.value


def closure(x):
    y = x * 2
    return lambda v: v + y


def default(x):
    return Held(lambda v, w=x * 2: v + w)


def keyword_default(x):
    return {"f": lambda v, *, w=x * 2: v + w}


def an_argument(x):
    def inner(v):
        """Adds."""
        return v + x

    return [inner]


def number(x):
    n = x.sum().item()
    return lambda v: v + n


def after_a_branch(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    return lambda v: v + y


def in_a_closure(x):
    def add(v):
        return v + x * 3

    return lambda v: add(v) * 2


def of_partial(x):
    return partial(paddle.add, x * 2)


def keyword_of_partial(x):
    return partial(scaled, by=x * 2)


def scaled(v, by):
    return v * by


def method(x):
    return Adder(x * 2).add


def with_attributes(x):
    def inner(v):
        return v + x

    @wraps(inner)
    def outer(v):
        return inner(v) * 2

    outer.weight = x * 5
    return outer


def function_in(value):
    if isinstance(value, Held):
        return value.function
    if isinstance(value, dict):
        return value["f"]
    return value[0] if isinstance(value, list) else value


FUNCTIONS = [
    closure, default, keyword_default, an_argument, number, after_a_branch, in_a_closure, of_partial,
    keyword_of_partial, method, with_attributes,
]  # fmt: skip


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_computes_with_the_tensors_of_its_call(f, full_graph):
    static = paddle.jit.to_static(f, full_graph=full_graph)
    v = paddle.to_tensor([10.0, 20.0])
    made = []
    for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 4.0]):
        found, wanted = (function_in(run(paddle.to_tensor(values))) for run in (static, f))
        made.append((found, wanted))
        assert getattr(found, "__name__", None) == getattr(wanted, "__name__", None)
        assert getattr(found, "__doc__", None) == getattr(wanted, "__doc__", None)
        if hasattr(wanted, "weight"):
            assert found.weight.tolist() == wanted.weight.tolist()
    for found, wanted in made:  # later calls leave what earlier ones made alone
        assert found(v).tolist() == wanted(v).tolist()


@pytest.mark.parametrize("f", [closure, default, method])
def test_gradients_reach_what_it_holds(f):
    x, v = (paddle.to_tensor(values, stop_gradient=False) for values in ([1.0, 2.0], [3.0, 4.0]))
    made = function_in(paddle.jit.to_static(f, full_graph=True)(x))
    (made(v) ** 2).sum().backward()
    assert x.grad.tolist() == [20.0, 32.0] and v.grad.tolist() == [10.0, 16.0]


def test_functions_share_their_variable():
    def counter(x):
        total = x * 2

        def add(v):
            nonlocal total
            total = total + v

        return add, lambda: total

    static = paddle.jit.to_static(counter, full_graph=True)
    first, second = static(paddle.ones([2])), static(paddle.zeros([2]))
    first[0](paddle.ones([2]))
    assert first[1]().tolist() == [3.0, 3.0] and second[1]().tolist() == [0.0, 0.0]


def test_one_function_in_two_places_is_one():
    def twice(x):
        f = lambda v: v + x  # noqa: E731
        return [f, {"f": f}]

    first, second = paddle.jit.to_static(twice, full_graph=True)(paddle.ones([2]))
    assert first is second["f"]


def test_it_may_be_kept_in_an_object():
    holder = Held(None)

    @paddle.jit.to_static(full_graph=True)
    def keep(x):
        holder.function = lambda v: v + x
        return x

    for value in (1.0, 2.0):
        keep(paddle.full([1], value))
        assert holder.function(paddle.zeros([1])).item() == value


def test_one_that_calls_itself_is_refused():
    @paddle.jit.to_static(full_graph=True)
    def made(x):
        def down(v):
            return v if v.sum() < 0 else down(v - x)

        return down

    with pytest.raises(UnsupportedError, match="holds itself"):
        made(paddle.ones([1]))

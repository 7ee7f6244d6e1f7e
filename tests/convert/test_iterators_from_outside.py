"""Iterators that were there before a call give other items at each call, whoever takes them: no trace takes any."""

import itertools

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def one_by_one(items):
    for item in items:
        yield item * 1


TAKERS = {
    "generator": lambda items: next(one_by_one(items)),
    "next": next,
    "islice": lambda items: list(itertools.islice(items, 2)),
    "enumerate": lambda items: next(enumerate(items)),
    "zip": lambda items: list(zip(range(2), items)),
    "accumulate": lambda items: next(itertools.accumulate(items)),
    "pairwise": lambda items: next(itertools.pairwise(items)),
    "tee": lambda items: next(itertools.tee(items)[0]),
    "cycle": lambda items: next(itertools.cycle(items)),
    "dropwhile": lambda items: next(itertools.dropwhile(lambda v: v < 3, items)),
    "filterfalse": lambda items: next(itertools.filterfalse(lambda v: v < 3, items)),
    "in": lambda items: 3 in items,
    "sum": lambda items: sum(itertools.islice(items, 2)),
}


class Counting(paddle.nn.Layer):
    def __init__(self, take):
        super().__init__()
        self.items, self.take = iter(range(20)), take

    def forward(self, x):
        return self.take(self.items), x * 2


def of_argument(take):
    items = iter(range(20))
    return lambda x, items=items: (take(items), x * 2), items


def of_closure(take):
    items = iter(range(20))
    return lambda x: (take(items), x * 2), items


def of_dict(take):
    held = {"items": [iter(range(20))]}
    return lambda x: (take(held["items"][0]), x * 2), held["items"][0]


def of_helper(take):
    items = iter(range(20))

    def taken():
        return take(items)

    return lambda x: (taken(), x * 2), items


def of_layer(take):
    layer = Counting(take)
    return layer.forward, layer.items


@pytest.mark.parametrize("make", [of_argument, of_closure, of_dict, of_helper, of_layer], ids=lambda f: f.__name__)
@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_each_call_takes_the_next_items(take, make):
    x = paddle.to_tensor([1.0])
    (function, items), (other, left) = make(take), make(take)
    static = paddle.jit.to_static(other)
    for _ in range(3):
        assert static(x)[0] == function(x)[0]
    assert list(left) == list(items)


@pytest.mark.parametrize("make", [of_closure, of_dict, of_helper, of_layer], ids=lambda f: f.__name__)
@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_a_whole_function_takes_none(take, make):
    function, items = make(take)
    with pytest.raises(UnsupportedError, match="from outside is taken here"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0]))
    assert list(items) == list(range(20))


def test_iterators_of_the_function_itself_are_taken():
    def function(x):
        items = iter([1.0, 2.0, 3.0])

        def following():
            return next(items)

        first = following()
        return x * first, list(itertools.islice(items, 1)), following()

    x = paddle.to_tensor([1.0])
    static = paddle.jit.to_static(function, full_graph=True)
    for _ in range(2):
        found = static(x)
        assert (found[0].tolist(), *found[1:]) == ([1.0], [2.0], 3.0)

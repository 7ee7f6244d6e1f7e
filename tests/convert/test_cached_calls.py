"""Functions with `functools.lru_cache`: what they give is asked again by each call."""

import functools

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

SETTINGS = {"scale": 2}
MADE = []


@functools.lru_cache(maxsize=8)
def scale(number):
    MADE.append(number)
    return number * SETTINGS["scale"]


@functools.lru_cache(maxsize=8)
def table(size):
    return paddle.arange(size).astype("float32") * SETTINGS["scale"]


def scaled(x):
    return x * scale(3)


def added(x):
    return x + table(2)


def cleared(x):
    y = x * scale(3)
    scale.cache_clear()
    return y + scale(3)


@pytest.fixture(autouse=True)
def fresh():
    yield
    SETTINGS["scale"] = 2
    for function in (scale, table):
        function.cache_clear()


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [scaled, added])
def test_a_cache_that_was_cleared_is_filled_again(function, full_graph):
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for number in (2, 2, 5, 5, 2):
        SETTINGS["scale"] = number
        for _ in range(2):
            assert static(x).tolist() == function(x).tolist()
        scale.cache_clear(), table.cache_clear()


def test_what_is_in_the_cache_stays():
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(scaled, full_graph=True)
    static(x)
    del MADE[:]
    SETTINGS["scale"] = 7
    assert static(x).tolist() == [6, 12]
    assert MADE == []


def test_it_is_cleared_outside_of_programs():
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match="cache_clear"):
        paddle.jit.to_static(cleared, full_graph=True)(x)
    static = paddle.jit.to_static(cleared, full_graph=False)
    for _ in range(4):
        assert static(x).tolist() == cleared(x).tolist()

"""Dicts some of whose keys one path sets, where only Python's own view of them would do: refused, never wrong."""

import json

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def made(x):
    d = {"a": x}
    if x.sum() > 0:
        d["c"] = x * 2
    return d


def printed(x):
    print(made(x))
    return x


def compared(x):
    return x if made(x) == {"a": x} else x * 2


def unpacked(x):
    _first, *rest = made(x)
    return x * len(rest)


def as_tuple(x):
    return x * len(tuple(made(x)))


def as_keywords(x):
    return len(dict(**made(x))) * x


def of_library(x):
    return json.dumps(made(x)), x


def popped_last(x):
    d = made(x)
    d.popitem()
    return d


def in_a_growing_list(x):
    found = []
    while x.sum() < 30:
        found.append(made(x))
        x = x + 3
    return found


def order_decided(x):
    d = {}
    if x.sum() > 0:
        d["p"], d["q"] = x, x + 1
    else:
        d["q"], d["p"] = x, x + 1
    return list(d.values())


def order_given_back(x):
    d = made(x)
    d["e"] = x
    d["c"] = x
    return d


def order_looped(x):
    d = {"a": x, "b": x * 2}
    while d["a"].sum() < 30:
        d["b"] = d["b"] + d.pop("a")
        d["a"] = d["b"]
    return list(d)


@pytest.mark.parametrize(
    "f",
    [
        printed, compared, unpacked, as_tuple, as_keywords, of_library, popped_last, in_a_growing_list, order_decided,
        order_given_back, order_looped,
    ],
)  # fmt: skip
def test_it_is_refused(f):
    static = paddle.jit.to_static(f, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"tensor( that)?('s)? deci|dict some of"):
        static(paddle.ones([2]))


class Keeper:
    """An object of the user's, with a dict that converted code did not make."""

    def __init__(self):
        self.cache = {"a": 1.0, "mode": "q"}


def one_key(keeper, x):
    if x.sum() > 0:
        keeper.cache["c"] = x
    return list(keeper.cache)


def two_orders(keeper, x):
    if x.sum() > 0:
        keeper.cache["p"], keeper.cache["q"] = x, x + 1
    else:
        keeper.cache["q"], keeper.cache["p"] = x, x + 1
    return list(keeper.cache)


def one_deleted(keeper, x):
    if x.sum() > 0:
        del keeper.cache["a"]
    return len(keeper.cache)


def set_by_a_loop(keeper, x):
    while x.sum() < 20:
        keeper.cache["last"] = x
        x = x + 2
    return list(keeper.cache)


def test_an_order_of_keys_that_the_path_decides_is_refused():
    with pytest.raises(UnsupportedError, match="a tensor decides"):
        paddle.jit.to_static(two_orders, full_graph=True)(Keeper(), paddle.ones([2]))


@pytest.mark.parametrize(
    ("f", "full_graph"),
    [(two_orders, False), *((f, full) for f in (one_key, one_deleted, set_by_a_loop) for full in (False, True))],
)
def test_dicts_that_converted_code_did_not_make(f, full_graph):
    static = paddle.jit.to_static(f, full_graph=full_graph)
    for value in (1.0, -1.0, 30.0, 1.0, -1.0):
        here, there = Keeper(), Keeper()
        assert static(here, paddle.full([2], value)) == f(there, paddle.full([2], value))
        assert list(here.cache) == list(there.cache)


def same_keys(keeper, x):
    if x.sum() > 0:
        keeper.cache["c"], keeper.cache["mode"], n = x, "a", 3
    else:
        keeper.cache["c"], keeper.cache["mode"], n = x * 2, "b", 4
    keeper.cache["mode"] = "known"
    return keeper.cache["c"], list(keeper.cache), n


def test_the_same_keys_on_both_paths():
    static = paddle.jit.to_static(same_keys, full_graph=True)
    for value in (1.0, -1.0):
        here, there = Keeper(), Keeper()
        made, wanted = static(here, paddle.full([2], value)), same_keys(there, paddle.full([2], value))
        assert made[0].tolist() == wanted[0].tolist() and made[1:] == wanted[1:]
        assert list(here.cache) == list(there.cache) and here.cache["mode"] == "known"

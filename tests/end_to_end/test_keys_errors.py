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


@pytest.mark.parametrize(
    "f",
    [printed, compared, unpacked, of_library, popped_last, in_a_growing_list],
)
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


@pytest.mark.parametrize(
    ("f", "full_graph"),
    [(f, full) for f in (two_orders, one_key, one_deleted, set_by_a_loop) for full in (False, True)],
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

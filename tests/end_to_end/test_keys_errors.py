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

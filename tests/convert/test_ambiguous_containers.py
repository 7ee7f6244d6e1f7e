"""Containers in containers whose order a tensor decides: changed where that is clear, refused where it is not."""

from collections import Counter

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = ([1.0, 2.0],), ([-1.0, -2.0],)


def reversed_then_changed(x):
    xs = [[x], [x * 2]]
    if x.sum() > 0:
        xs.reverse()
    xs[0].append(x)
    return xs


def swapped_then_changed(x):
    xs = [[x], [x * 2]]
    if x.sum() > 0:
        xs[0], xs[1] = xs[1], xs[0]
    xs[0][0] = x * 5
    xs[1].append(x)
    return xs


def made_on_both_paths(x):
    if x.sum() > 0:
        xs = [[x], [x * 2]]
    else:
        xs = [[x * 3], [x]]
    xs[0].append(x)
    return xs


def swapped_in_dict(x):
    d = {"a": [x], "b": [x * 2]}
    if x.sum() > 0:
        d["a"], d["b"] = d["b"], d["a"]
    d["a"].append(x)
    return d


def taken_from_either_end(x):
    xs = [[x], [x * 2], [x * 3]]
    if x.sum() > 0:
        xs.pop(0)
    else:
        xs.pop()
    xs[0].append(x)
    return xs


@pytest.mark.parametrize(
    "function",
    [reversed_then_changed, swapped_then_changed, made_on_both_paths, swapped_in_dict, taken_from_either_end],
    ids=lambda f: f.__name__,
)
def test_change_of_what_nobody_else_knows(function):
    compare(function, *CALLS)


def changed_by_another_name(x):
    xs = [[x], [x * 2]]
    ys = xs[0]
    if x.sum() > 0:
        xs.reverse()
    ys[0] = x * 7
    return xs


def changed_in_the_list(x):
    xs = [[x], [x * 2]]
    ys = xs[0]
    if x.sum() > 0:
        xs.reverse()
    xs[0].append(x * 7)
    return xs, ys


def given_back_beside_it(x):
    xs = [[x], [x * 2]]
    ys = xs[0]
    if x.sum() > 0:
        xs.reverse()
    return xs, ys


def value_of_dict(x):
    d = {"a": [x], "b": [x * 2]}
    held = d["a"]
    if x.sum() > 0:
        d["a"], d["b"] = d["b"], d["a"]
    held[0] = x * 9
    return d


def in_tuple(x):
    a, b = [x], [x * 2]
    pair = (a, b)
    if x.sum() > 0:
        pair = (b, a)
    a.append(x)
    return pair


def reversed_in_loop(x):
    xs = [[x], [x * 2]]
    ys = xs[0]
    while x.sum() < 3:
        xs.reverse()
        x = x + 1
    ys[0] = x
    return xs


def longer_on_a_path(x):
    xs = [[x], [x * 2]]
    ys = xs[1]
    if x.sum() > 0:
        xs.append([x])
    ys.append(x)
    return xs


def one_list_twice_on_a_path(x):
    xs = [x * 2]
    if x.sum() > 0:
        return xs, xs
    return [v * 0.5 for v in xs], [v * 3 for v in xs]


def one_list_by_two_decisions(x):
    xs = [x * 2]
    first = xs if x.sum() > 0 else [x]
    second = xs if x[0] > 0 else [x * 3]
    return first, second


def two_lists_on_each_path(x):
    a, b = [x], [x * 2]
    if x.sum() > 0:
        a, b = b, a
    return list(a), (list(b), 1)


def test_lists_that_are_never_one():
    compare(two_lists_on_each_path, *CALLS)


@pytest.mark.parametrize(
    "function",
    [
        one_list_twice_on_a_path, one_list_by_two_decisions, changed_by_another_name, changed_in_the_list,
        given_back_beside_it, value_of_dict, in_tuple, reversed_in_loop,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_change_of_what_others_know(function):
    compare(function, *CALLS)


def test_change_of_what_others_know_by_a_place_in_a_list_whose_length_a_tensor_decides():
    static = paddle.jit.to_static(longer_on_a_path, full_graph=True)
    with pytest.raises(UnsupportedError):
        static(paddle.to_tensor([1.0, 2.0]))


def in_a_list(u):
    return [u, u * 2]


def in_a_dict(u):
    return {"held": [(u,)]}


def put_in_front(w, u):
    w.insert(0, in_a_list(u))


@pytest.mark.parametrize(
    "put",
    [
        lambda w, u: w.append(in_a_list(u)),
        lambda w, u: w.append(in_a_dict(u)),
        lambda w, u: w.extend([in_a_list(u)]),
        put_in_front,
    ],
    ids=["append a list", "append a dict", "extend", "insert"],
)
def test_what_is_deep_inside_an_item_of_unknown_place_is_not_changed_in_place(put):
    def function(x):
        held = []
        for v in x:
            u = v * 1
            if v > 0:
                put(held, u)
            u.add_(paddle.to_tensor(1.0))
        return held

    with pytest.raises(UnsupportedError, match="a change of what a list holds"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0, -2.0]))


@pytest.mark.parametrize("changed", [lambda c: c.update("ac"), lambda c: c.subtract("c")])
def test_counters_are_changed_on_one_path_only(changed):
    """Its methods are Python of the standard library, not C, and change it all the same."""

    def f(x):
        found = Counter("aab")
        if x.sum() > 0:
            changed(found)
        return x * found["a"]

    compare(f, ([1.0, -3.0],), ([1.0, 3.0],))

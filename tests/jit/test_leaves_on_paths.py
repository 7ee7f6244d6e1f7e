"""Leaves that are made on the paths of a tensor's decision, and backward() behind it."""

from __future__ import annotations

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],)]


def leaf(values):
    return paddle.to_tensor(values, stop_gradient=False)


def made_on_both(x):
    if x.sum() > 0:
        p = leaf([1.0, 2.0, 3.0])
    else:
        p = leaf([3.0, 2.0, 3.0])
    (p * p * x.detach()).sum().backward()
    return p.grad


def chosen_among_three(x):
    p = leaf([1.0, 1.0, 1.0]) if x.sum() > 3 else leaf([2.0, 2.0, 2.0]) if x.sum() > 0 else leaf([3.0, 3.0, 3.0])
    (p * p * x.detach()).sum().backward()
    return p.grad


def made_and_used(x):
    if x.sum() > 0:
        p = leaf([1.0, 2.0, 3.0])
        y = p * 2
    else:
        p = leaf([3.0, 2.0, 3.0])
        y = p * 3
    (y * x.detach()).sum().backward()
    return p.grad


def leaf_or_result(x):
    p = leaf([1.0, 2.0, 3.0]) if x.sum() > 0 else x * 2
    return (p * p).sum()


def leaf_or_result_given_back(x):
    return leaf([1.0, 2.0, 3.0]) if x.sum() > 0 else x * 2


@pytest.mark.parametrize("fn", [made_on_both, chosen_among_three, leaf_or_result])
def test_a_leaf_of_every_path_is_a_leaf(fn):
    compare(fn, *CALLS)


@pytest.mark.parametrize(
    ("fn", "says"),
    [(made_and_used, "backward() to a leaf made in a branch"), (leaf_or_result_given_back, "is a leaf on one path")],
)
def test_other_leaves_are_refused_by_name(fn, says):
    with pytest.raises(UnsupportedError) as caught:
        paddle.jit.to_static(fn, full_graph=True)(leaf(CALLS[0][0]))
    assert says in caught.value.message and caught.value.hint
    compare(fn, *CALLS, full_graph=False)


def made_in_each_turn(x, n):
    w = leaf([1.0, 2.0, 3.0])
    z, i = x.detach() * 1, 0
    while i < n:
        z = z.detach()
        z.stop_gradient = False
        (z**2).sum().backward()
        with paddle.no_grad():
            step = z.grad * 0.5
        z = z * w + step
        i += 1
    return z.detach()


def test_the_gradient_of_a_leaf_made_of_what_a_loop_carries_counts_once():
    """What the loop carries wants a gradient on some paths: that made the leaf two, each of which was given it."""
    compiled = paddle.jit.to_static(made_in_each_turn, full_graph=True)
    x = paddle.to_tensor([1.0, -1.0, 2.0])
    for n in (1, 3, 0):
        n = paddle.to_tensor(n)
        assert compiled(x, n).tolist() == made_in_each_turn(x, n).tolist()

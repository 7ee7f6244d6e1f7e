"""`stop_gradient` of results that is set, and set back, on the paths of a tensor's decision."""

from __future__ import annotations

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],)]


class Holder:
    """Something with attributes."""


def set_back_behind_a_branch(x):
    y = x * 2
    if x.sum() > 0:
        y.stop_gradient = True
    y.stop_gradient = False
    return y


def wanted_on_a_path(x):
    y = x.detach() * 2
    if x.sum() > 0:
        y.stop_gradient = False
    return y


def stopped_on_a_path_and_used(x):
    y = x * 2
    if x.sum() > 0:
        y.stop_gradient = True
    return y + x, y.clone()


def detached_and_wanted_on_a_path(x):
    y = x * 2
    if x.sum() > 0:
        y = y.detach()
        y.stop_gradient = False
    return y * 2


def stopped_on_a_path_and_written(x):
    y = x * 2
    if x.sum() > 0:
        y.stop_gradient = True
    y[0] = x[1]
    return y


def stopped_where_it_is_made(x):
    if x.sum() > 0:
        z = x * 2
        z.stop_gradient = True
    else:
        z = x * 3
    z.stop_gradient = False
    return (z * z).sum()


def stopped_on_both_paths_where_made(x):
    if x.sum() > 0:
        z = x * 2
        z.stop_gradient = True
    else:
        z = x * 3
        z.stop_gradient = True
    w = z * 2
    z.stop_gradient = False
    return (z * z).sum() + w.sum()


def stopped_and_set_back_in_turns(x):
    z = x * 2
    for i in range(3):
        if x[i] > 0:
            z.stop_gradient = True
        w = z * x
        z.stop_gradient = False
    return (z * z).sum() + w.sum()


def stopped_in_a_loop(x):
    z = x * 2
    i = 0
    while i < 3 and x.sum() > -10:
        if x[i] > 0:
            z.stop_gradient = True
        i += 1
    z.stop_gradient = False
    return (z * z).sum()


def stopped_in_each_turn(x):
    z = x * 2
    n = (x > 0).sum()
    for _ in range(n):
        z.stop_gradient = True
    w = z * x
    z.stop_gradient = False
    return (z * z).sum() + w.sum()


def view_of_what_a_path_stops(x):
    y = x * 2
    v = y[0]
    if x.sum() > 0:
        y.stop_gradient = True
    return v * v, y * x


def view_of_what_a_loop_stops(x):
    y = x * 2
    v = y[0]
    for _ in range((x > 0).sum()):
        y.stop_gradient = True
    return v * v, y * x


def changed_and_stopped_on_a_path(x):
    y = x * 2
    if x.sum() > 0:
        y.add_(x)
        y.stop_gradient = True
    a = y * x
    y.stop_gradient = False
    return a, y * y


def set_back_on_a_path(x):
    y = x * 2
    y.stop_gradient = True
    if x.sum() > 0:
        y.stop_gradient = False
    return y * x


def set_back_in_a_loop(x):
    y = x * 2
    y.stop_gradient = True
    for _ in range((x > 0).sum()):
        y.stop_gradient = False
    return y * x


def detached_in_place_on_a_path(x):
    y = x * 2
    if x.sum() > 0:
        y.detach_()
    y.stop_gradient = False
    return y * x


def one_of_several_is_stopped(x):
    y = x * 2
    z = y if x.sum() > 0 else x * 3
    z.stop_gradient = True
    a = z * x + y * x
    return a


def stopped_by_another_name(x):
    y = x * 2
    z = y
    if x.sum() > 0:
        z.stop_gradient = True
    return y * x


def held_by_an_object(x):
    b = Holder()
    b.t = x * 2
    if x.sum() > 0:
        b.t.stop_gradient = True
    a = b.t * x
    b.t.stop_gradient = False
    return a + b.t * b.t


def held_by_a_list(x):
    ys = [x * 2, x * 3]
    if x.sum() > 0:
        ys[0].stop_gradient = True
    a = ys[0] * x
    for y in ys:
        y.stop_gradient = False
    return a + ys[0] * ys[1]


def view_stopped_on_a_path(x):
    y = x * 2
    v = y[0:2]
    if x.sum() > 0:
        v.stop_gradient = True
    return y * x, v * v


def view_stopped_and_set_back(x):
    y = x * 2
    v = y[0:2]
    if x.sum() > 0:
        v.stop_gradient = True
    v2 = v * 3
    v.stop_gradient = False
    return y * x, v * v, v2


def stopped_two_branches_deep(x):
    y = x * 2
    if x.sum() > 0:
        y = y * x
        if x[0] > 0:
            y.stop_gradient = True
    y.stop_gradient = False
    return y * x


def detached_copy_or_itself(x):
    y = x * 2
    d = y.detach() if x.sum() > 0 else y
    d.stop_gradient = False
    return d * x, y * y


def stopped_by_a_function(x):
    y = x * 2

    def f(t):
        t.stop_gradient = True
        return t

    d = f(y) if x.sum() > 0 else y
    d.stop_gradient = False
    return d * x, y * y


def seen_through_a_reshape(x):
    y = x * 2
    v = y.reshape([3, 1])
    if x.sum() > 0:
        y.stop_gradient = True
    y.stop_gradient = False
    y.add_(x)
    return v * v, y * y


def source_of_a_choice_is_stopped(x):
    y = x * 2
    z = y if x.sum() > 0 else x * 3
    y.stop_gradient = True
    return z * x + y * x


def choice_is_stopped_and_set_back(x):
    y = x * 2
    z = y if x.sum() > 0 else x * 3
    z.stop_gradient = True
    a = z * x + y * x
    z.stop_gradient = False
    return a, y * x, z * x


def choice_is_detached(x):
    y = x * 2
    z = y if x.sum() > 0 else x * 3
    z = z.detach()
    return z * x + y * x


def choice_is_detached_in_place(x):
    y = x * 2
    z = y if x.sum() > 0 else x * 3
    z.detach_()
    return z * x + y * x


def choice_of_two_is_stopped(x):
    y = x * 2
    w = x * 5
    z = y if x.sum() > 0 else w
    z.stop_gradient = True
    return z * x + y * x + w * x


def result_of_a_loop_is_stopped(x):
    h = x * 2
    for _ in range((x > 0).sum()):
        h = h * x
    h.stop_gradient = True
    return h * x


def itself_or_result_of_a_loop(x):
    y = x * 2
    h = y
    for _ in range((x > 0).sum() - 1):
        h = h * x
    h.stop_gradient = True
    return h * x, y * x


def stopped_and_set_back_in_each_turn(x):
    y = x * 2
    w = y * 3
    for _ in range((x > 0).sum()):
        w = w + y * x
        y.stop_gradient = True
        w = w + y * x
        y.stop_gradient = False
    return y * x, w


def stopped_by_calls(x):
    def g(t, c):
        if c:
            t.stop_gradient = True
            return t * 2
        return t * 3

    y = x * 2
    a = g(y, x.sum() > 0)
    b = g(y, x.sum() < 0)
    y.stop_gradient = False
    return a * x, b * x, y * x


CASES = [
    set_back_behind_a_branch,
    wanted_on_a_path,
    stopped_on_a_path_and_used,
    detached_and_wanted_on_a_path,
    stopped_on_a_path_and_written,
    stopped_where_it_is_made,
    stopped_on_both_paths_where_made,
    stopped_and_set_back_in_turns,
    stopped_in_a_loop,
    stopped_in_each_turn,
    view_of_what_a_path_stops,
    view_of_what_a_loop_stops,
    changed_and_stopped_on_a_path,
    set_back_on_a_path,
    set_back_in_a_loop,
    detached_in_place_on_a_path,
    one_of_several_is_stopped,
    stopped_by_another_name,
    held_by_an_object,
    held_by_a_list,
    view_stopped_on_a_path,
    view_stopped_and_set_back,
    stopped_two_branches_deep,
    detached_copy_or_itself,
    stopped_by_a_function,
    seen_through_a_reshape,
    source_of_a_choice_is_stopped,
    choice_is_stopped_and_set_back,
    choice_is_detached,
    choice_is_detached_in_place,
    choice_of_two_is_stopped,
    result_of_a_loop_is_stopped,
    itself_or_result_of_a_loop,
    stopped_and_set_back_in_each_turn,
    stopped_by_calls,
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_the_path_taken_decides_where_gradients_flow(fn):
    compare(fn, *CALLS)


def exchanged_and_stopped_in_turns(x):
    h = x * 2
    for _ in range((x > 0).sum()):
        h = h * x
        h.stop_gradient = True
    h.stop_gradient = False
    return h * x


def test_what_turns_exchange_and_stop_is_refused_with_a_way_out():
    with pytest.raises(UnsupportedError) as caught:
        paddle.jit.to_static(exchanged_and_stopped_in_turns, full_graph=True)(paddle.to_tensor(CALLS[0][0]))
    assert "a tensor that a loop made" in caught.value.message and "detach()" in caught.value.hint


def added_on_a_path(x, y):
    if x.sum() > 0:
        y.add_(x)
    return x * 1


def set_by_items(x, y):
    for i in range(3):
        if x[i] > 0:
            y[i] = x[i]
    return x * 1


def added_in_a_loop(x, y):
    while y.sum() < x.sum():
        y.add_(x)
    return x * 1


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", [added_on_a_path, set_by_items, added_in_a_loop], ids=lambda fn: fn.__name__)
def test_an_argument_that_the_path_leaves_alone_stays_off_the_tape(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]) * 3:
        found = []
        for call in (fn, static):
            x, y = paddle.to_tensor(values, stop_gradient=False), paddle.zeros([3])
            call(x, y)
            found.append((y.stop_gradient, y.is_leaf, y.tolist()))
        assert found[0] == found[1]

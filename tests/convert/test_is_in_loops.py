"""`is` between tensors that a loop hands on: what was there before it, and what an iteration has made."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.foreign import ForkedError

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, 3.0],), ([2.0, 3.0, 4.0],), ([0.3, 0.4, 0.5],)]


def the_one_before(x):
    before, now, n = None, x, 0
    while n < 4 and now.sum() < 6:
        if before is now:
            n += 10
        before = now
        now = now + 1 if now.sum() > 1 else now
        n += 1
    return n, before is now


def asked_behind_it(x):
    before, now, n = x, x * 1, 0
    while n < 4 and now.sum() < 6:
        before = now
        now = now + 1 if n < 2 else now
        n += 1
    return before is now, before is x, n


def asked_by_the_test(x):
    before = now = x
    n = x.sum() * 0
    while n < 3 and (before is now or n < 2):
        before = now
        now = now + 1 if now.sum() > 1 else now
        n = n + 1
    return n, now


def exchanged(x):
    a, b, c = x, x * 2, x * 3
    found = []
    n = x.sum() * 0
    while n < 4:
        found.append((a is b, b is c, a is c, a is x))
        if a.sum() > n:
            a, b, c = b, c, b + 1
        else:
            a, b, c = c, c, a
        n = n + 1
    return found, a, b, c


def in_two_loops(x):
    a, b = x, x * 2
    n, same = x.sum() * 0, 0
    while n < 3:
        m = n * 0
        while m < 2:
            if a is b:
                same += 1
            a, b = (b, a) if a.sum() > m else (b, b)
            if a is x:
                same += 10
            m = m + 1
        if b is a:
            same += 100
        if b.sum() > 1:
            a = b + 1
        n = n + 1
    return same, a is b, a is x


def taken_up_by_the_loop_around(x):
    found, a, b = 0, x * 1, x
    n = x.sum() * 0
    while n < 2:
        m = x.sum() * 0
        while m < 1:
            found += (b is x) * 100
            b = a
            m = m + 1
        n = n + 1
    return found, b is x


def on_a_path_around_the_inner_loop(x):
    found = 0
    a = b = c = x
    n = x.sum() * 0
    while n < 1:
        b, a = (c if x[1] > 0 else b), c
        if n % 2 == 0:
            m = x.sum() * 0
            while m < 2 and x[1] > 0:
                found += (c is not x) * 3
                c, a, b = (b if a is b else c), (c + 1 if n % 2 == 1 else a), x
                m = m + 1
        n = n + 1
    return found, a is b, b is c, a is c, a is x, b is x, c is x, a, b, c


def one_new_tensor_for_two(x):
    a = b = c = x
    n = x.sum() * 0
    while n < 1:
        if a.sum() > 0.3:
            c = b
        else:
            a = a * 0.5
            b = a
        n = n + 1
    return a is b, b is c, a, b, c


def swapped_by_the_inner_loop(x):
    a, b = x, x * 2
    n = x.sum() * 0
    while n < 3:
        m = x.sum() * 0
        while m < 3:
            if x[0] > 0:
                b, a = a, b
            m = m + 1
        n = n + 1
    return a is b, a is x


def none_before(x):
    last, n, turn = None, 0, 0
    while x.sum() < 6 and turn < 5:
        if last is not None and last is x:
            n += 1
        last = x
        if x[0] < 1:
            x = x.abs() + 1
        turn += 1
    return n, last is x


def in_a_set(x):
    kept, n = {x}, 0
    while x.sum() < 4:
        if x in kept:
            n += 1
        x = x.abs() + 1
    return n, x in kept


def one_new_tensor_from_the_turn_before(x):
    a, b, c = x * 1, x, x
    n, turns = x.sum() * 0, 0
    while n < 3:
        if a is not b:
            b = b * 0.5 + 0.1
            turns += 1
        else:
            a = a * 0.5 + 0.1
            c = a + 1 if c.sum() > -0.5 else a
            if c.sum() > -0.5:
                b = a
        b, a, c = (c if c.sum() > 1 else b), b, a * 0.5 + 0.1
        n = n + 1
    return turns, a is b, b is c, a is c, a, b, c


def ended_as_one(x):
    a, b, n, turns = x * 1, x, x.sum() * 0, 0
    while n < 3:
        if a is not b:
            b = b * 0.5 + 0.1
            turns += 1
        a = b
        n = n + 1
    return turns, a is b


def made_on_a_path(x):
    a = b = c = x
    n, same = x.sum() * 0, 0
    while n < 2:
        if b.sum() > 0.3:
            a = c * 0.5 + 0.1
            if a.sum() > 1:
                b = x
            if n % 2 == 1:
                c = x
        else:
            c, b = (b + 1 if x[2] > 0 else b), b
            b = c
        same += (b is c) * 3
        n = n + 1
    return same, a is b, b is c, a, b, c


FUNCTIONS = [
    one_new_tensor_from_the_turn_before,
    ended_as_one,
    made_on_a_path,
    the_one_before,
    asked_behind_it,
    asked_by_the_test,
    exchanged,
    in_two_loops,
    taken_up_by_the_loop_around,
    on_a_path_around_the_inner_loop,
    one_new_tensor_for_two,
    swapped_by_the_inner_loop,
    none_before,
    in_a_set,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_which_tensor_it_is(function):
    compare(function, *ROWS)


def merged_twice(x):
    y = x * 2
    made = x + 1 if x.sum() > 0 else y
    first = made if x[0] > 0 else x
    second = made if x[1] > 0 else x
    return first is second, first is y, second is made


def test_what_paths_made_before_paths_chose_it():
    compare(merged_twice, *ROWS)


def changed_in_place(x):
    found, a, b = 0, x * 1, x * 2
    c = a
    n = x.sum() * 0
    while n < 2:
        found += c is a
        c = b
        a.add_(paddle.ones([3]))
        n = n + 1
    return found, a, b, c


def test_what_is_changed_in_place_is_refused():
    with pytest.raises(ForkedError, match="one operand of `is` is"):
        paddle.jit.to_static(changed_in_place, full_graph=True)(paddle.ones([3]))
    compare(changed_in_place, *ROWS, full_graph=False)

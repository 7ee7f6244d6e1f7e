"""`is` of what was read from a list whose length a tensor decides: known where the other tensor was never put there."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.foreign import ForkedError

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


def popped_in_a_loop(x):
    waiting = [x * 0.5]
    while waiting and len(waiting) < 4:
        last = waiting.pop()
        if last.sum() > 0.1:
            waiting.append(last * 0.5)
    other = x * 2 if x.sum() > 0 else x
    return last is other, x is last


def asked_in_the_loop(x):
    waiting, seen = [(x, 0)], x * 1
    while len(waiting) > 0:
        v, depth = waiting.pop()
        if v is seen:
            depth = depth + 100
        if depth < 3 and v.sum() < 5:
            waiting.append((v.abs() + 1, depth + 1))
    return v, depth


def asked_in_a_comprehension(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    return [v is x for v in kept]


def parts_of_a_tensor(x):
    kept, whole = [], x * 3
    for v in x:
        kept.append(v if v > 0 else whole[0])
    return 1 if kept[-1] is whole else 2


@pytest.mark.parametrize("function", [popped_in_a_loop, asked_in_the_loop, asked_in_a_comprehension, parts_of_a_tensor])
def test_another_tensor(function):
    compare(function, *ROWS)


def test_tensors_of_the_caller():
    def function(x, y):
        kept = [x]
        while x.sum() < 4:
            kept.append(x * 2)
            x = x.abs() + 1
        return kept[0] is y

    compare(function, ([1.0, 2.0], [1.0, 3.0]), ([-1.0, 2.0], [1.0, 3.0]))
    static = paddle.jit.to_static(function)
    x, y = paddle.ones([2]), paddle.zeros([2])
    assert [bool(static(a, b)) for a, b in ((x, y), (x, x), (x, y))] == [False, True, False]


def put_there(x):
    kept, whole = [], x * 3
    for v in x:
        if v > 0:
            kept.append(whole)
    return len(kept) > 0 and kept[-1] is whole


def changed_in_place(x):
    kept, whole = [], x * 3
    whole.add_(paddle.ones([3]))
    for v in x:
        if v > 0:
            kept.append(whole)
    return len(kept) > 0 and kept[-1] is whole


def added_by_a_later_turn(x):
    kept, first = [x * 2], x
    while x.sum() < 5:
        if kept[-1] is first:
            x = x + 5
        kept.append(x)
        x = x.abs() + 1
    return x, len(kept)


def one_of_those_put_there(x):
    kept, twice = [], x * 2
    for v in x:
        if v > 0:
            kept.append(twice)
    other = twice if x.sum() > 0 else x
    return len(kept) > 0 and kept[0] is other


@pytest.mark.parametrize("function", [put_there, changed_in_place, added_by_a_later_turn, one_of_those_put_there])
def test_one_that_may_be_there_is_refused(function):
    with pytest.raises(ForkedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(ROWS[0][0]))

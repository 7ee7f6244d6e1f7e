"""Arrays of NumPy that only a run knows, changed where others see it: refused in a whole program, right in segments."""

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError
from vitrify.jit import to_static


def through_a_view(x):
    a = x.numpy()
    part = a[:1]
    part += 5
    return paddle.to_tensor(a)


def with_a_view_of_it(x):
    a = x.numpy()
    part = a.reshape([2, 1])
    a.sort()
    return paddle.to_tensor(part)


def by_path(x):
    a = x.numpy()
    if x.sum() > 2:
        np.add(a, 1, out=a)
    return paddle.to_tensor(a)


def of_python(x):
    made = np.zeros(2, "float32")
    np.add(made, x.numpy(), out=made)
    return paddle.to_tensor(made)


def a_list(x):
    items = x.tolist()
    items.sort()
    items.append(1.0)
    return paddle.to_tensor(items)


def resized(x):
    a = x.numpy()
    a.resize(4)
    return paddle.to_tensor(a)


@pytest.mark.parametrize("fn", [through_a_view, with_a_view_of_it, a_list, resized])
def test_refused_or_run_by_python(fn):
    static = to_static(fn)
    for value in ([2.0, 1.0], [0.5, 0.25], [2.0, 1.0]):
        np.testing.assert_array_equal(static(paddle.to_tensor(value)).numpy(), fn(paddle.to_tensor(value)).numpy())
    with pytest.raises(UnsupportedError, match=r"array|NumPy value"):
        to_static(fn, full_graph=True)(paddle.to_tensor([2.0, 1.0]))


@pytest.mark.parametrize("fn", [by_path, of_python])
def test_in_whole_programs_as_well(fn):
    for static in (to_static(fn), to_static(fn, full_graph=True)):
        for value in ([2.0, 1.0], [0.5, 0.25], [2.0, 1.0]):
            np.testing.assert_array_equal(static(paddle.to_tensor(value)).numpy(), fn(paddle.to_tensor(value)).numpy())


def test_arrays_of_others_stay_as_they_are():
    """What a call would write to an array from outside, it writes in no trace."""
    outside = np.zeros(2, "float32")

    def add(x):
        np.copyto(outside, x.numpy())
        return x

    with pytest.raises(UnsupportedError, match="copyto writes"):
        to_static(add, full_graph=True)(paddle.to_tensor([2.0, 1.0]))
    assert outside.tolist() == [0.0, 0.0]


def written_item(x):
    made = np.array([1.0, 2.0, 3.0], "float32")
    made[0] = 9
    return made


def written_between_uses(x):
    made = np.array([1.0, 2.0, 3.0], "float32")
    first = x * made
    made[0] = 9
    return first + made, made


def added_between_uses(x):
    made = np.array([1.0, 2.0, 3.0], "float32")
    first = x * made
    made += 1
    return first + made, made


def written_behind_a_branch(x):
    made = np.ones(3, "float32")
    if x.sum() > 0:
        x = x + made
    made[0] = 9
    return x + made, made


def list_between_uses(x):
    made = [1.0, 2.0, 3.0]
    first = paddle.add(x, paddle.to_tensor(made))
    made[0] = 9.0
    return first + paddle.to_tensor(made), made


WRITTEN = [written_item, written_between_uses, added_between_uses, written_behind_a_branch, list_between_uses]


@pytest.mark.parametrize("full_graph", [False, True])
@pytest.mark.parametrize("function", WRITTEN)
def test_arrays_made_inside_are_what_they_are_when_they_are_used(function, full_graph):
    compare(function, ([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],), full_graph=full_graph)

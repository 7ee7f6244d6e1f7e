"""Arrays of NumPy that only a run knows, changed where others see it: refused in a whole program, right in segments."""

import numpy as np
import pytest

import vitrify as paddle
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


@pytest.mark.parametrize("fn", [through_a_view, with_a_view_of_it, by_path, of_python, a_list, resized])
def test_refused_or_run_by_python(fn):
    static = to_static(fn)
    for value in ([2.0, 1.0], [0.5, 0.25], [2.0, 1.0]):
        np.testing.assert_array_equal(static(paddle.to_tensor(value)).numpy(), fn(paddle.to_tensor(value)).numpy())
    with pytest.raises(UnsupportedError, match=r"array|NumPy value"):
        to_static(fn, full_graph=True)(paddle.to_tensor([2.0, 1.0]))


def test_arrays_of_others_stay_as_they_are():
    """What a call would write to an array from outside, it writes in no trace."""
    outside = np.zeros(2, "float32")

    def add(x):
        np.copyto(outside, x.numpy())
        return x

    with pytest.raises(UnsupportedError, match="copyto writes"):
        to_static(add, full_graph=True)(paddle.to_tensor([2.0, 1.0]))
    assert outside.tolist() == [0.0, 0.0]

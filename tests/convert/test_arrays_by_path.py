"""NumPy arrays, and lists of a tensor's numbers, that one path makes: as in eager code, or refused where not sure."""

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

ROWS = [([1.0, 2.0],), ([-1.0, -2.0],), ([5.0, 6.0],)]


def made_on_both(x):
    a = x.numpy() if x.sum() > 0 else (x * 3).numpy()
    return a, paddle.to_tensor(np.sort(a)), a.shape, float(a[0])


def an_array_of_python(x):
    a = np.zeros(2, "float32")
    if x.sum() > 0:
        a = (x * 2).numpy()
    b = a.sum()
    return x * float(b), b > 3, paddle.to_tensor(a * 2)


def of_other_sizes(x):
    a = x.numpy() if x.sum() > 0 else np.ones(4, "float32")
    return a.sum(), len(a), paddle.to_tensor(a)


def in_an_attribute_and_a_dict(x):
    class Box:
        pass

    box, found = Box(), {"a": np.zeros(2, "float32")}
    box.value = np.zeros(2, "float32")
    if x.sum() > 0:
        box.value = x.numpy() + 1
        found["a"] = (x * 2).numpy()
    return x * float(box.value.mean()), paddle.to_tensor(found["a"])


def returned_early(x):
    if x.sum() > 4:
        return x.numpy()
    if x.sum() > 0:
        return np.zeros(2, "float32")
    return (x * 2).numpy()


def a_list_beside_one(x):
    if x.sum() > 0:
        a = x.tolist()
        b = a
    else:
        a = [1.5]
        b = a
    a.append(3.0)
    return a, b, a is b, sum(a), len(a)


def gone_through(x):
    a = []
    if x.sum() > 0:
        a = x.tolist()
    for v in a:
        x = x + v
    return x, [v * 2 for v in a]


@pytest.mark.parametrize(
    "function",
    [
        made_on_both, an_array_of_python, of_other_sizes, in_an_attribute_and_a_dict, returned_early,
        a_list_beside_one, gone_through,
    ],
)  # fmt: skip
def test_one_path_makes_them(function):
    compare(function, *ROWS)


def _writes_an_item(m, a):
    m[0] = 7


def _writes_where_it_is_shown(m, a):
    a[0] = 7


def _fills(m, a):
    m.fill(3)


def _adds(m, a):
    np.add(m, 1, out=m)


@pytest.mark.parametrize("change", [_writes_an_item, _writes_where_it_is_shown, _fills, _adds])
@pytest.mark.parametrize("view", [False, True])
def test_changes_of_what_may_be_the_same_array_are_refused(change, view):
    def function(x):
        m = np.zeros(4, "float32")
        a = np.tile(x.numpy(), 2) if x.sum() > 0 else m[:] if view else m
        change(m, a)
        return paddle.to_tensor(a) + x.sum(), paddle.to_tensor(m)

    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0, 2.0]))


def test_changes_of_an_array_of_the_run_that_may_be_another_are_refused():
    def function(x):
        n = (x * 1).numpy()
        a = n if x.sum() > 0 else (x * 2).numpy()
        n[0] = 7
        return paddle.to_tensor(n) + x, paddle.to_tensor(a)

    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0, 2.0]))


def test_no_copy_stands_for_an_array_of_the_caller():
    def function(x, given):
        return given if x.sum() > 0 else x.numpy()

    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0, 2.0]), np.ones(2, "float32"))


def of_two_lengths(x):
    kept = np.array([1, 2, 3])
    if x[0] > 0:
        kept = kept[1:]
    return x[: len(kept)], kept.sum()


def test_arrays_of_two_lengths_are_refused_or_run_as_they_are():
    static = paddle.jit.to_static(of_two_lengths)
    for value in (1.0, -1.0, 1.0):
        x = paddle.to_tensor([value, 2.0, 3.0])
        assert [v.tolist() for v in static(x)] == [v.tolist() for v in of_two_lengths(x)]
    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(of_two_lengths, full_graph=True)(paddle.ones([3]))


def number_of_numpy_beside(x):
    found = []
    if x[0] > 0:
        found.append(x)
    found.append((x, x.numpy().max()))
    return found


def ufunc_on_a_path(x):
    if x[0] > 0:
        return np.sqrt(x.abs())  # which tensors refuse
    return x


def test_what_numpy_computes_is_no_item_of_a_list_that_a_tensor_decides():
    compare(number_of_numpy_beside, ([1.0, 2.0],), ([-1.0, 2.0],), full_graph=False)
    with pytest.raises(UnsupportedError, match="an item of a list whose length a tensor decides"):
        paddle.jit.to_static(number_of_numpy_beside, full_graph=True)(paddle.ones([2]))


def test_what_numpy_refuses_is_raised_on_the_path_alone():
    compare(ufunc_on_a_path, ([-1.0, 2.0],), ([1.0, 2.0],), ([-1.0, 2.0],))
    compare(ufunc_on_a_path, ([-1.0, 2.0],), ([1.0, 2.0],), ([-1.0, 2.0],), full_graph=False)

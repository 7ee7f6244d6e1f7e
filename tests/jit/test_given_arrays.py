"""NumPy's arrays among the arguments of a call: they stay arrays, the caller's own, on first and repeated calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vitrify as paddle
from vitrify.jit.split import SMALLEST_PART


def told(value: Any) -> Any:
    """A value with its class."""
    if isinstance(value, (tuple, list)):
        return [told(item) for item in value]
    held = value.numpy() if isinstance(value, paddle.Tensor) else value
    return type(value).__name__, np.asarray(held).tolist()


def given_back(x: Any, a: Any) -> Any:
    return a, a * 2, x * a, type(a), len(a), a.dtype


def changed(x: Any, a: Any) -> Any:
    a += 1
    np.multiply(a, 2, out=a)
    a[0] = 7
    return x * paddle.to_tensor(a), a


def kept_on_a_path(x: Any, a: Any) -> Any:
    y = x + paddle.to_tensor(a) if x.sum() > 0 else x
    return y, x @ a, isinstance(a, np.ndarray)


def in_containers(x: Any, a: Any) -> Any:
    held = {"a": [a]}
    held["a"][0][1] = 9
    return held["a"][0], x * paddle.to_tensor(a)


def with_a_break(x: Any, a: Any) -> Any:
    y = (x * 3 + 1) * 2
    b = y.numpy()
    with open("/dev/null"):
        y = y + 1
    y = (y * 3 + paddle.to_tensor(b)) * 2
    b[0] = 5
    return a, b, b * 2, y


FUNCTIONS = [given_back, changed, kept_on_a_path, in_containers]


@pytest.mark.parametrize(
    ("fn", "full_graph"), [(fn, flag) for fn in FUNCTIONS for flag in (True, False)] + [(with_a_break, False)]
)
def test_arrays_stay_arrays(fn: Any, full_graph: bool) -> None:
    with SMALLEST_PART.scope(0):
        static = paddle.jit.to_static(fn, full_graph=full_graph)
        for values in ([1, 2, 3], [4, 5, 6], [4, 0, 6]):
            x = paddle.to_tensor([1.0, 2.0, 3.0])
            ours, theirs = np.array(values, "float32"), np.array(values, "float32")
            found, wanted = static(x, ours), fn(x, theirs)
            assert told(found) == told(wanted)
            assert ours.tolist() == theirs.tolist()
            assert [v is ours for v in found] == [v is theirs for v in wanted]


@pytest.mark.parametrize("full_graph", [True, False])
def test_arrays_on_one_memory(full_graph: bool) -> None:
    def f(a: Any, b: Any) -> Any:
        a[0] = 9
        return paddle.to_tensor(b) * 2

    static = paddle.jit.to_static(f, full_graph=full_graph)
    for _ in range(2):
        a = np.array([1.0, 2.0, 3.0], "float32")
        assert static(a, a).tolist() == [18, 4, 6]
        assert static(a[:2], a[::2]).tolist() == [18, 6]
        assert static(a, a.copy()).tolist() == [18, 4, 6]


def test_a_change_stands_before_what_is_raised() -> None:
    def f(x: Any, a: Any) -> Any:
        a[0] = 9
        return x + paddle.to_tensor(a[:2])

    static = paddle.jit.to_static(f, full_graph=True)
    a = np.array([1.0, 2.0, 3.0], "float32")
    with pytest.raises(ValueError, match="broadcast"):
        static(paddle.ones([3]), a)
    assert a.tolist() == [9, 2, 3]


def test_views_are_pythons_between_segments() -> None:
    def f(x: Any, a: Any) -> Any:
        return a[1:], x * 2 + 1

    static = paddle.jit.to_static(f, full_graph=False)
    for _ in range(3):
        a = np.array([1.0, 2.0, 3.0], "float32")
        static(paddle.ones([3]), a)[0][0] = 8
        assert a.tolist() == [1, 8, 3]


def test_arrays_of_objects_and_texts() -> None:
    static = paddle.jit.to_static(lambda x, names: (x * 2, names[0]), full_graph=True)
    assert static(paddle.ones([1]), np.array(["a", "b"]))[1] == "a"
    assert static(paddle.ones([1]), np.array([None, 2], object))[1] is None


def test_what_only_tensors_have_makes_a_tensor_of_an_array() -> None:
    static = paddle.jit.to_static(lambda a: a.unsqueeze(0) * 2, full_graph=True)
    assert static(np.ones(2, "float32")).tolist() == [[2, 2]]
    given = paddle.jit.to_static(lambda a: a * 2, input_spec=[paddle.static.InputSpec([None], "float32")])
    assert isinstance(given(np.ones(2, "float32")), paddle.Tensor)


def test_arrays_and_tensors_have_programs_of_their_own() -> None:
    static = paddle.jit.to_static(lambda a: a * 2, full_graph=True)
    array, tensor = np.ones(2, "float32"), paddle.ones([2])
    assert [type(static(v)) for v in (array, tensor, array, tensor)] == [np.ndarray, paddle.Tensor] * 2

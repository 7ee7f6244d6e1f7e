"""paddle.jit.marker: functions that are left as Python, and dimensions that are said to vary."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError
from vitrify.jit import marker


def negative(x):
    return -1 * x if x.sum() < 0 else x


def test_a_unified_function_is_not_converted():
    marked = marker.unified(lambda x: [x.shape, 1][0] and x * 2)
    whole = paddle.jit.to_static(lambda x: marked(x) + 1, full_graph=True)
    assert whole(paddle.ones([2])).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("given", [{"for_ast": False}, {"for_ast": False, "for_sot": True}])
def test_a_function_unified_for_the_other_converter_alone_is_converted(given):
    def pick(x):
        if x.sum() < 0:
            return -x
        return x

    marked = marker.unified(**given)(pick)
    assert marked is pick
    whole = paddle.jit.to_static(lambda x: marked(x), full_graph=True)
    assert [whole(paddle.to_tensor([v])).tolist() for v in (-3.0, 2.0)] == [[3.0], [2.0]]


def test_control_flow_is_captured_anyway():
    assert marker.capture_control_flow(negative) is negative
    assert marker.capture_control_flow()(negative) is negative


@pytest.mark.parametrize("mark", [marker.force_dynamic, lambda f: marker.force_dynamic()(f)])
def test_a_dynamic_function_runs_as_python_at_each_call(mark):
    seen = []

    @mark
    def largest(x):
        seen.append(x.shape)
        return max(x.tolist())

    @paddle.jit.to_static
    def scaled(x):
        y = x * 2
        return (y * largest(y)).sum()

    for n in range(3):
        x = paddle.to_tensor([1.0, 2.0 + n], stop_gradient=False)
        scaled(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), [2 * 2 * (2.0 + n)] * 2)
    assert len(seen) == 3


def test_a_dynamic_layer_runs_as_python():
    seen = []

    @marker.force_dynamic
    class Counted(paddle.nn.Layer):
        def forward(self, x):
            seen.append(1)
            return x * 2 if float(x.sum()) > 0 else x

    layer = Counted()
    after = paddle.jit.to_static(lambda x: layer(x + 1) + 1)
    assert [after(paddle.to_tensor([v])).tolist() for v in (1.0, -3.0)] == [[5.0], [-1.0]]
    assert len(seen) == 2
    with pytest.raises(UnsupportedError, match=r"Counted.*force_dynamic"):
        paddle.jit.to_static(lambda x: layer(x), full_graph=True)(paddle.ones([1]))


def test_a_wrapper_of_a_dynamic_function_has_no_mark():
    import functools

    @marker.force_dynamic
    def plain(x):
        return x

    @functools.wraps(plain)
    def wrapper(x):
        return x * 2

    assert paddle.jit.to_static(lambda x: wrapper(x), full_graph=True)(paddle.ones([1])).item() == 2


def test_dimensions_that_will_vary_need_one_program():
    double = paddle.jit.to_static(lambda x, y: x * 2 + y.sum())
    x, y = paddle.ones([2, 3]), paddle.ones([4])
    marker.dynamic_dims(x, [0, -1])
    double(x, y)
    for rows, columns in ((5, 3), (2, 7), (1, 4)):
        assert double(paddle.ones([rows, columns]), y).shape == [rows, columns]
    assert len(double.program_cache) <= 2  # a size of 1 may have a program of its own
    assert double.program_cache.keys()[0].specs[0].shape == (-1, -1)
    assert double.program_cache.keys()[0].specs[1].shape == (4,)


def test_a_marked_size_that_python_needs_is_known():
    def fill(x):
        return paddle.to_tensor(list(range(x.shape[0])))

    whole = paddle.jit.to_static(fill, full_graph=True)
    x = paddle.ones([3])
    marker.dynamic_dims(x, 0)
    assert whole(x).tolist() == [0, 1, 2]
    assert whole(paddle.ones([2])).tolist() == [0, 1]


def test_what_cannot_be_marked():
    x = paddle.ones([2, 3])
    with pytest.raises(ValueError, match="2 dimensions, got axis 2"):
        marker.dynamic_dims(x, 2)
    for tensor, dims in ((3, 0), (x, 0.5), (x, True), (x, ["a"])):
        with pytest.raises(TypeError, match="expects a tensor and an int or ints"):
            marker.dynamic_dims(tensor, dims)

"""InputSpec: what is fixed about a tensor argument."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.static import InputSpec


def test_shape_dtype_name():
    spec = InputSpec([None, 784], "float32", name="image")
    assert (spec.shape, spec.dtype, spec.name, spec.stop_gradient) == ((-1, 784), paddle.float32, "image", False)
    assert repr(spec) == "InputSpec(shape=(-1, 784), dtype=paddle.float32, name=image, stop_gradient=False)"


def test_from_tensor_and_numpy():
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    spec = InputSpec.from_tensor(x, name="x")
    assert (spec.shape, spec.dtype, spec.name, spec.stop_gradient) == ((2, 3), paddle.float32, "x", False)
    spec = InputSpec.from_numpy(np.ones([2, 2], "int64"), "y")
    assert (spec.shape, spec.dtype, spec.name) == ((2, 2), paddle.int64, "y")


def test_batch_and_unbatch():
    spec = InputSpec([3])
    assert spec.batch(4) is spec and spec.shape == (4, 3)
    assert spec.unbatch().shape == (3,)
    assert spec.batch([5]).shape == (5, 3)
    with pytest.raises(ValueError, match="one size"):
        spec.batch([1, 2])
    with pytest.raises(TypeError, match="must be an int"):
        spec.batch("4")
    with pytest.raises(ValueError, match="no dimension"):
        InputSpec([]).unbatch()


def test_equality_and_hash():
    a, b = InputSpec([None, 3], name="x"), InputSpec((-1, 3), paddle.float32, name="x")
    assert a == b and hash(a) == hash(b)
    for other in (InputSpec([None, 3]), InputSpec([2, 3], name="x"), InputSpec([None, 3], "int32", name="x"), 3):
        assert a != other


def test_accepts():
    spec = InputSpec([None, 3])
    assert spec.accepts([7, 3], paddle.float32)
    assert not spec.accepts([7, 4], paddle.float32)
    assert not spec.accepts([7, 3, 1], paddle.float32)
    assert not spec.accepts([7, 3], paddle.float64)


@pytest.mark.parametrize("shape", [[-2], ["a"], [1.5]])
def test_bad_dimensions(shape):
    with pytest.raises(ValueError, match="a dimension must be"):
        InputSpec(shape)

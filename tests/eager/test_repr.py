"""Tensors as text, compared with what Paddle 3.3 prints."""

import ml_dtypes
import numpy as np
import pytest

from vitrify.core.errors import ArgumentError
from vitrify.eager.parameter import Parameter
from vitrify.eager.repr_ import set_printoptions
from vitrify.eager.tensor import to_tensor

HEAD = "Tensor(shape={}, dtype={}, place=Place(cpu), stop_gradient=True,\n       {})"

TEXTS = [
    (np.float32(1.5), [], "float32", "1.50000000"),
    (np.array([9, 11], "float32"), [2], "float32", "[9. , 11.]"),
    (np.array([9.5, 11, 1e-3], "float32"), [3], "float32", "[9.50000000, 11.       , 0.00100000]"),
    (np.array([1e10, 1], "float32"), [2], "float32", "[10000000000., 1.          ]"),
    (np.array([], "float32"), [0], "float32", "[]"),
    (np.zeros((0, 3), "int32"), [0, 3], "int32", "[]"),
    (np.array([True, False]), [2], "bool", "[True , False]"),
    (np.array([1, -20, 300]), [3], "int64", "[ 1 , -20, 300]"),
    (np.array([np.nan, 2.0, -1.0]), [3], "float64", "[nan,  2., -1.]"),
    (np.array([1 + 2j], "complex64"), [1], "complex64", "[(1.00000000+2.00000000j)]"),
    (np.array([0.1, 3], ml_dtypes.bfloat16), [2], "bfloat16", "[0.10009766, 3.        ]"),
    (np.arange(4.0).reshape(2, 2), [2, 2], "float64", "[[0., 1.],\n        [2., 3.]]"),
    (
        np.arange(8).reshape(2, 2, 2),
        [2, 2, 2],
        "int64",
        "[[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]]",
    ),
    (np.arange(2000), [2000], "int64", "[0   , 1   , 2   , ..., 1997, 1998, 1999]"),
    (
        np.zeros((1100, 2), "int64"),
        [1100, 2],
        "int64",
        "[[0, 0],\n        [0, 0],\n        [0, 0],\n        ...,\n        [0, 0],\n        [0, 0],\n        [0, 0]]",
    ),
    (
        np.arange(20),
        [20],
        "int64",
        "[0 , 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10, 11, 12, 13, 14, 15, 16, 17,\n        18, 19]",
    ),
]


@pytest.mark.parametrize(("data", "shape", "dtype", "text"), TEXTS)
def test_text(data, shape, dtype, text):
    assert repr(to_tensor(data)) == str(to_tensor(data)) == HEAD.format(shape, dtype, text)


def test_parameters_say_so():
    text = repr(Parameter(to_tensor([1.0])))
    assert text.startswith("Parameter containing:\nTensor(shape=[1]") and "stop_gradient=False" in text


def test_options():
    x = to_tensor([1.23456, 100.0])
    try:
        set_printoptions(precision=2)
        assert repr(x).endswith("[1.23, 100.])")
        set_printoptions(sci_mode=True)
        assert "1.23e+00" in repr(x)
        set_printoptions(sci_mode=False, threshold=4, edgeitems=1, linewidth=20)
        assert repr(to_tensor(list(range(9)))).endswith("[0, ..., 8])")
    finally:
        set_printoptions(8, 1000, 3, False, 80)
    with pytest.raises(ArgumentError, match="precision must be a non-negative int"):
        set_printoptions(precision=-1)

"""Tensors under names that other libraries use; small methods that ask about a tensor or change its size."""

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import ArgumentError, DTypeError

DTYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_named_by_dtype(name):
    make = getattr(paddle, name)
    assert make([1, 0]).dtype == getattr(paddle, DTYPES[name]) and make([1, 0]).tolist() == [1, 0]
    assert make(2, 3).shape == [2, 3] and make().shape == [0]
    assert make(np.ones(2)).dtype == getattr(paddle, DTYPES[name])


def test_is_tensor():
    things = [paddle.ones([1]), paddle.nn.Linear(1, 1).weight, 1, None, np.ones(1), [paddle.ones([1])]]
    assert [paddle.is_tensor(x) for x in things] == [True, True, False, False, False, False]


def test_is_tensor_in_a_program():
    def fn(x):
        return x * 2 if paddle.is_tensor(x) and not paddle.is_tensor(3) else x

    compare(fn, (paddle.ones([2]),))


def test_conversions_copy():
    array = np.arange(3.0)
    tensors = [paddle.from_numpy(array), paddle.as_tensor(array), paddle.asarray(array)]
    array[0] = 9
    assert [paddle.tolist(t) for t in tensors] == [[0.0, 1.0, 2.0]] * 3
    assert not paddle.as_tensor([1.0], requires_grad=True).stop_gradient
    with pytest.raises(DTypeError, match="from_numpy"):
        paddle.from_numpy([1])


def test_other_names_of_dtypes_and_constants():
    assert paddle.float is paddle.float32 and paddle.half is paddle.float16 and paddle.double is paddle.float64
    assert paddle.cfloat is paddle.complex64 and paddle.cdouble is paddle.complex128
    assert (paddle.pi, paddle.e, paddle.inf) == (np.pi, np.e, np.inf) and paddle.nan != paddle.nan


def test_apply():
    x = paddle.to_tensor([1.0, 2.0])
    assert x.apply(lambda v: v + 1).tolist() == [2.0, 3.0]
    assert x.apply_(lambda v: v * 3) is x and x.tolist() == [3.0, 6.0]
    with pytest.raises(ArgumentError, match="wants a gradient"):
        paddle.to_tensor([1.0], stop_gradient=False).apply(lambda v: v)


def test_resize_in_place():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.resize_([3]) is x and x.tolist() == [1.0, 2.0, 3.0]
    assert x.resize_([2, 2]).tolist() == [[1.0, 2.0], [3.0, 0.0]]
    assert x.resize_([0, 2]).shape == [0, 2]


def test_what_a_tensor_is():
    x = paddle.ones([2])
    assert x.get_device() == -1 and x.is_dense()
    assert not (x.is_dist() or x.is_sparse() or x.is_sparse_coo() or x.is_sparse_csr() or x.is_selected_rows())


def test_functions_at_the_top():
    x = paddle.to_tensor(np.arange(8.0).reshape(2, 2, 2))
    np.testing.assert_allclose(paddle.softmax(x, 0).sum(0).numpy(), np.ones((2, 2)))
    np.testing.assert_allclose(paddle.softmax(x[0]).sum(1).numpy(), np.ones(2))
    assert paddle.layer_norm is paddle.nn.functional.layer_norm and paddle.conv2d is paddle.nn.functional.conv2d

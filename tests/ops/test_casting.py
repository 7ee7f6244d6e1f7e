"""Casts by name and questions about dtypes, for tensors and for variables of a program alike."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import DTypeError
from vitrify.testing.paths import metas_of, record

CASTS = {
    "bool": "bool", "byte": "uint8", "short": "int16", "int": "int32", "long": "int64", "half": "float16",
    "float": "float32", "double": "float64", "bfloat16": "bfloat16", "cfloat": "complex64", "int8": "int8",
}  # fmt: skip
ARRAYS = {"floating": np.ones(2), "integer": np.ones(2, "int8"), "complex": np.ones(2) * 1j}


@pytest.mark.parametrize("method, dtype", CASTS.items())
def test_a_method_casts_to_its_dtype(method, dtype):
    assert getattr(paddle.to_tensor([0, 1]), method)().dtype.name == dtype


def test_a_cast_to_the_same_dtype_is_the_tensor_itself():
    x = paddle.to_tensor([1.0])
    assert x.float() is x


@pytest.mark.parametrize("kind, array", ARRAYS.items())
def test_questions_about_the_dtype(kind, array):
    asked = {"floating": paddle.is_floating_point, "integer": paddle.is_integer, "complex": paddle.is_complex}
    tensor = paddle.to_tensor(array)
    assert [name for name, ask in asked.items() if ask(tensor)] == [kind]
    record(lambda inputs: [inputs[0] * (2 if asked[kind](inputs[0]) else None)], metas_of([array]))


def test_a_question_about_no_tensor_raises():
    with pytest.raises(DTypeError, match="is_integer: expects a Tensor, got int"):
        paddle.is_integer(3)


def test_dim_is_the_number_of_dimensions():
    assert paddle.ones([2, 3]).dim() == paddle.ones([2, 3]).ndimension() == 2

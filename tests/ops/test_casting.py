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


TOO_LARGE = {
    "plus": (lambda u, i8, i: u + (-1), [49, 199]),
    "minus": (lambda u, i8, i: -1 - u, [205, 55]),
    "times": (lambda u, i8, i: i8 * 2**40, [0, 0]),
    "quotient": (lambda u, i8, i: u // -1, [0, 0]),
    "bits": (lambda u, i8, i: u & 300, [32, 8]),
    "beyond 64 bits": (lambda u, i8, i: i + 2**70 + 1, [6, -2]),
    "in place": (lambda u, i8, i: (u + 0).add_(-1), [49, 199]),
    "filled": (lambda u, i8, i: (i8 + 0).fill_(300), [44, 44]),
    "full": (lambda u, i8, i: paddle.full([1], -1, "uint8"), [255]),
    "masked": (lambda u, i8, i: paddle.masked_fill(i8, i8 > 0, 300), [44, -3]),
    "where": (lambda u, i8, i: paddle.where(i8 > 0, i8, 300), [50, 44]),
    "scaled": (lambda u, i8, i: paddle.scale(i8, 1, bias=300), [94, 41]),
    "less": (lambda u, i8, i: u < 300, [True, True]),
    "greater": (lambda u, i8, i: u > -1, [True, True]),
    "equal": (lambda u, i8, i: u == 306, [False, False]),
    "beyond any": (lambda u, i8, i: i < 2**70, [True, True]),
    "logic": (lambda u, i8, i: paddle.logical_and(u, paddle.to_tensor(True)) & (u != 256), [True, True]),
    "bounds": (lambda u, i8, i: paddle.clip(u, -5, 300), [50, 200]),
}


@pytest.mark.parametrize(("call", "expected"), TOO_LARGE.values(), ids=TOO_LARGE)
@pytest.mark.parametrize("static", [False, True])
def test_ints_that_a_dtype_does_not_hold_are_its_lowest_bits_and_compared_as_they_are(call, expected, static):
    run = paddle.jit.to_static(call, full_graph=True) if static else call
    u, i8, i = (paddle.to_tensor(v, dtype=d) for v, d in (([50, 200], "uint8"), ([50, -3], "int8"), ([5, -3], "int64")))
    assert run(u, i8, i).tolist() == expected

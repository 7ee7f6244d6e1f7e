"""ONNX files of earlier versions of ours load and give what they gave (make_golden.py made them)."""

import numpy as np
import pytest

import vitrify as paddle
from tests.onnx.make_golden import BESIDE, DATA
from tests.paddle_program.models import models


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.onnx")))
def test_a_file(name):
    _, _, given = models()[name]
    found = paddle.jit.load(str(DATA / f"{name}.onnx"))(*map(paddle.to_tensor, given))
    np.testing.assert_allclose(found.numpy(), np.load(DATA / f"{name}.npy"), rtol=1e-5, atol=1e-6)


def test_there_is_one_of_each_model():
    assert {path.stem for path in DATA.glob("*.onnx")} == set(models())


def test_a_file_with_tensors_beside_it():
    found = paddle.jit.load(BESIDE / "model.onnx")(paddle.ones([1, 32]))
    np.testing.assert_allclose(found.numpy(), np.load(BESIDE / "model.npy"), rtol=1e-5, atol=1e-6)

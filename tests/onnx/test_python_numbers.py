"""Arithmetic among Python numbers that only a run knows, in ONNX: values as in Python, errors where Python raises."""

import numpy as np
import pytest

import vitrify as paddle
from tests.onnx.harness import check_model, session
from vitrify.core.errors import UnsupportedError

OPEN = [paddle.static.InputSpec([None, None])]


def sizes(*shapes):
    return [[np.random.default_rng(0).standard_normal(shape).astype("float32")] for shape in shapes]


def divided(x):
    a, c = x.shape[0], x.shape[1] - 3
    whole = x.sum() + a // c, x.sum() + a % c, x.sum() + (-a) // c, x.sum() + (-a) % c
    return *whole, x.sum() + a / c, x.sum() + (a + 0.5) // c, x.sum() + (a + 0.5) % -c


def raised(x):
    rows, columns = x.shape
    return x * rows**-0.5, x + float(columns) ** 0.5, x.sum() + (-float(rows)) ** 3.0


def windows(x, size=2):
    """Swin's: the batch is what the windows of an image divide."""
    height, width = x.shape
    cut = x.reshape([height // size, size, width // size, size]).transpose([0, 2, 1, 3]).reshape([-1, size, size])
    count = cut.shape[0] // (height * width // size // size)
    return cut.reshape([count, height // size, width // size, size, size])


@pytest.mark.parametrize("function", [divided, raised, windows])
def test_numbers_are_pythons(function, tmp_path):
    check_model(function, tmp_path / "model", OPEN, *sizes((6, 4), (4, 8), (8, 6)), opset_version=17)


@pytest.mark.parametrize(
    ("function", "shape"),
    [(divided, (2, 3)), (lambda x: x.sum() + float(x.shape[0] - 2) ** -0.5, (2, 3)),
     (lambda x: x.sum() + float(x.shape[0] - 3) ** 0.5, (2, 3)),
     (lambda x: x.sum() + float(x.shape[0] + 8) ** (x.shape[1] * 200.0), (2, 3))],
)  # fmt: skip
def test_what_python_raises_is_an_error_of_the_runtime(function, shape, tmp_path):
    paddle.onnx.export(function, tmp_path / "model", input_spec=OPEN, opset_version=17)
    running = session(tmp_path / "model.onnx")
    with pytest.raises(Exception, match="out of data bounds"):
        running.run(None, {running.get_inputs()[0].name: np.ones(shape, "float32")})


def test_powers_of_ints_are_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="write the power with floats"):
        paddle.onnx.export(lambda x: x.sum() + 2 ** x.shape[0], tmp_path / "model", input_spec=OPEN)

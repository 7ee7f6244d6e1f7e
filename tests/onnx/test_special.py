"""Functions that ONNX has no operator for, written of others: the gamma family, Bessel functions, erfinv."""

import numpy as np
import pytest

import vitrify as paddle
from tests.onnx.harness import check_model

EVERYWHERE = np.concatenate(
    [np.linspace(-6.3, 12, 301), [0, -0.0, -1, 1, 2, 1e-3, 1e4, 1e8, np.inf, -np.inf, np.nan, -100.3, 60, 8, -8]]
)
SHARES = np.concatenate([np.linspace(-1, 1, 101), [2, -3, np.nan, 0.85, 1 - 1e-7]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["lgamma", "digamma", "i0", "i0e", "i1", "i1e", "erfinv"])
def test_special_functions(name, dtype, tmp_path):
    x = (SHARES if name == "erfinv" else EVERYWHERE).astype(dtype)
    spec = paddle.static.InputSpec([None], dtype)
    check_model(getattr(paddle, name), str(tmp_path / "m"), [spec], [x], tol=1e-5 if dtype == "float32" else 1e-11)

"""Elementwise expressions of large arrays: block by block they give what they give at once; erf in float32."""

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import vitrify as paddle
from vitrify.ops.blocks import in_blocks
from vitrify.ops.error_function import error_function

RNG = np.random.default_rng(0)
LARGE = RNG.standard_normal((7, 50, 201))


def expression(x: Any, y: Any, *, factor: float) -> Any:
    """Some passes over two arrays."""
    return np.exp(x) * factor > y


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (LARGE, LARGE + 1),
        (LARGE.transpose(2, 0, 1), (LARGE + 1).transpose(2, 0, 1)),
        (LARGE.transpose(2, 0, 1), LARGE.transpose(2, 0, 1).copy()),
        (LARGE, (LARGE + 1).astype("float32")),
        (LARGE[:, ::2], LARGE[:, 1::2]),
        (LARGE, LARGE[0]),
        (LARGE, 0.5),
        (0.5, LARGE),
        (LARGE[0, 0], LARGE[0, 1]),
    ],
)
def test_blocks_change_nothing(x: Any, y: Any) -> None:
    found = in_blocks(expression)(x, y, factor=2.0)
    expected = expression(x, y, factor=2.0)
    assert found.dtype == expected.dtype and np.array_equal(found, expected)


def test_error_function_in_float32() -> None:
    x = np.concatenate([np.linspace(-6, 6, 100_001), [0.0, 1e-30, 1e30, np.inf, -np.inf]]).astype("float32")
    found, expected = error_function(x), sp.erf(x.astype("float64"))
    assert found.dtype == np.float32 and np.abs(found).max() == 1
    np.testing.assert_allclose(found, expected, rtol=4e-7)
    assert np.isnan(error_function(np.array([np.nan], "float32")))[0]


@pytest.mark.parametrize("approximate", [False, True])
def test_second_and_third_derivative_of_gelu(approximate: bool) -> None:
    def derivatives(at: Any) -> list[Any]:
        x = paddle.to_tensor(at, stop_gradient=False)
        found = [paddle.nn.functional.gelu(x, approximate)]
        for _ in range(3):
            found += paddle.grad(found[-1].sum(), x, create_graph=True)
        return [f.numpy() for f in found]

    at, step = np.linspace(-3, 3, 13), 1e-5
    here, left, right = derivatives(at), derivatives(at - step), derivatives(at + step)
    for order in range(3):
        slope = (right[order] - left[order]) / (2 * step)
        np.testing.assert_allclose(here[order + 1], slope, rtol=1e-6, atol=1e-8)

"""`where` on large arrays, which are chosen by bit masks: the same bits as np.where, whatever broadcasts."""

from typing import Any

import numpy as np
import pytest

import vitrify as paddle
from vitrify.ops.scalar import NUMPY

RNG = np.random.default_rng(0)
CONDITION = RNG.random((40, 80)) > 0.5
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)


def values(dtype: str) -> np.ndarray[Any, Any]:
    """Numbers of that dtype, special ones among them."""
    found = (9 * RNG.standard_normal(CONDITION.shape)).astype(dtype)
    if found.dtype.kind == "f":
        found[0, : len(SPECIAL)] = SPECIAL
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "float16"])
@pytest.mark.parametrize("condition", [CONDITION, CONDITION.T.copy().T, CONDITION[:, ::-1], CONDITION[None]])
def test_chooses_as_numpy(dtype: str, condition: Any) -> None:
    x, y = values(dtype), values(dtype)
    for a, b in ((x, y), (x, 0), (0, x), (x, 1), (x, y[:1]), (x[:, :1], 0), (np.asarray(x[0, 3]), y)):
        found, expected = NUMPY.where(condition, a, b), np.where(condition, a, b)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("dtype", "number", "expected"),
    [
        ("float16", 0.0, "float32"),
        ("bfloat16", -1e4, "float32"),
        ("float16", np.float16(1), "float16"),
        ("float32", np.float64(2), "float64"),
        ("float64", 0.5, "float64"),
        ("float32", float("-inf"), "float32"),
    ],
)
def test_a_fraction_has_a_dtype_of_its_own_as_in_paddle(dtype: str, number: Any, expected: str) -> None:
    condition, x = paddle.to_tensor([True, False]), paddle.to_tensor([1.0, 2.0]).astype(dtype)

    def chosen(c: Any, x: Any) -> Any:
        return paddle.where(c, x, number), paddle.where(c, number, x), c.where(x, number)

    for fn in (chosen, paddle.jit.to_static(chosen, full_graph=True)):
        first, second, third = fn(condition, x)
        assert [t.dtype.name for t in (first, second, third)] == [expected] * 3
        assert first.astype("float64").tolist() == [1.0, float(paddle.to_tensor(number).astype(expected))]
        assert second.astype("float64").tolist() == [float(paddle.to_tensor(number).astype(expected)), 2.0]


def test_what_is_chosen_in_place_keeps_its_dtype() -> None:
    x = paddle.to_tensor([1.0, 2.0]).astype("float16")
    assert paddle.where_(paddle.to_tensor([True, False]), x, 0.5).dtype is paddle.float16 and x.tolist() == [1.0, 0.5]

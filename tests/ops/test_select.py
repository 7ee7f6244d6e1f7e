"""`where` on large arrays, which are chosen by bit masks: the same bits as np.where, whatever broadcasts."""

from typing import Any

import numpy as np
import pytest

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

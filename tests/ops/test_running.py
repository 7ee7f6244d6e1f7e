"""Running results where the array library has no accumulate of its own."""

import types

import numpy as np
import pytest

from vitrify.ops.cumulative import running

# NumPy under another name, so that the way for other array libraries is taken.
OTHER = types.SimpleNamespace(moveaxis=np.moveaxis, maximum=np.maximum, minimum=np.minimum, logaddexp=np.logaddexp)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp"])
def test_both_ways_agree(name, size):
    x = np.random.default_rng(size).normal(size=(2, size, 3))
    for axis in (0, 1, 2):
        np.testing.assert_allclose(running(OTHER, name, x, axis), running(np, name, x, axis), rtol=1e-12)

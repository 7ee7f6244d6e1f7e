"""Lists of arrays that NumPy gives when the program runs, of several sizes, and arrays as long as a mask says."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import vitrify as paddle
from tests.end_to_end.differential import compare

ROWS = np.random.default_rng(0).standard_normal((3, 5, 4)).astype("float32")


def scaled(x):
    parts = np.split(x.numpy(), [1, 3], 0)
    return [paddle.to_tensor(part * 2) for part in parts], len(parts)


def unpacked(x):
    left, right = np.split(x.numpy(), [3], -1)
    return paddle.to_tensor(left) + 1, paddle.to_tensor(right)


def turned(x):
    parts = np.split(x.numpy(), np.cumsum([1, 2]), 0)
    return paddle.to_tensor(np.concatenate(parts[::-1])), [paddle.to_tensor(p) for p in reversed(parts)]


def named(x):
    return {name: paddle.to_tensor(part) for name, part in zip("abc", np.split(x.numpy(), [1, 3], 0))}


def matched(x):
    """Detectors match what they found in each image with what there is."""
    total = x.sum() * 0
    for i, (rows, columns) in enumerate([linear_sum_assignment(c) for c in np.split(x.detach().numpy(), [2], 0)]):
        total = total + x[paddle.to_tensor(rows + 2 * i), paddle.to_tensor(columns)].sum()
    return total


def masked(x):
    return [paddle.to_tensor(row[row > 0]) for row in list(x.numpy())]


@pytest.mark.parametrize("function", [scaled, unpacked, turned, named, matched, masked])
def test_parts(function):
    compare(function, [(x,) for x in ROWS])

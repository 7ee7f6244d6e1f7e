"""Runs that find a shape which no sample of a NumPy value had, or an empty list, are done again, eagerly."""

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare


def halves(x):
    a = x.numpy()
    return paddle.to_tensor(np.split(a[a > 0.5], 2)[0])


def flattened(x):
    count = int((x > 0.5).sum().item())
    return paddle.to_tensor(np.zeros((count, 3)).reshape(count * 3))


def after_a_change(x):
    found = []
    found.append(x.sum())
    x.add_(paddle.to_tensor(1.0))
    a = x.numpy()
    return x, found, paddle.to_tensor(np.split(a[a > 1.5], 2)[0])


def listed(x):
    return paddle.to_tensor([float(v) for v in x if v > 0.5]), paddle.to_tensor([i for i in range(4) if x[i] > 0.5])


def drawn(x):
    noise = paddle.rand([2])
    a = x.numpy()
    return noise, paddle.to_tensor(np.split(a[a > 0.5], 2)[0])


@pytest.mark.parametrize("function", [halves, flattened, after_a_change, listed, drawn], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    calls = ([0.1, 0.9, 0.7, -1.0],), ([0.9, 0.8, 0.7, 0.6],), ([0.0, 0.0, 0.0, 0.0],), ([0.1, 0.9, 0.7, -1.0],)
    compare(function, calls)

"""Euclidean distances by a product of the matrices: as exact as from the differences, eagerly and in programs."""

import numpy as np
import pytest
import scipy.spatial.distance

import vitrify as paddle
from vitrify.ops import distance

ALWAYS, NEVER = "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"


def rows(count, size, seed):
    return np.random.default_rng(seed).standard_normal((count, size)).astype("float32") * 10


def distances(x, y, mode=ALWAYS):
    return paddle.cdist(x, y, compute_mode=mode)


def with_gradients(fn, a, b):
    x, y = paddle.to_tensor(a, stop_gradient=False), paddle.to_tensor(b, stop_gradient=False)
    found = fn(x, y)
    (found * paddle.arange(found.size, dtype="float32").reshape(found.shape)).sum().backward()
    return [t.numpy() for t in (found, x.grad, y.grad)]


@pytest.mark.parametrize("size", [1, 3, 64])
@pytest.mark.parametrize(("n", "k"), [(40, 30), (2, 30), (3, 2)])
def test_they_are_those_of_the_differences(n, k, size):
    a, b = rows(n, size, 0), rows(k, size, 1)
    b[0] = a[1]  # the same place
    compiled = paddle.jit.to_static(distances, full_graph=True)
    wanted = with_gradients(lambda x, y: distances(x, y, NEVER), a, b)
    for fn in (distances, compiled):
        found = with_gradients(fn, a, b)
        np.testing.assert_allclose(found[0], scipy.spatial.distance.cdist(*map(np.float64, (a, b))), rtol=3e-7)
        assert found[0][1, 0] == 0
        for got, want in zip(found[1:], wanted[1:]):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


def test_many_rows_of_float32_take_a_product(monkeypatch):
    taken = []
    made = distance._by_product
    monkeypatch.setattr(distance, "_by_product", lambda x, y: taken.append(len(x)) or made(x, y))
    for count, dtype, p in ((25, "float32", 2.0), (26, "float32", 2.0), (26, "float64", 2.0), (26, "float32", 1.0)):
        x = paddle.ones([count, 3], dtype)
        paddle.cdist(x, x, p)
    assert taken == [26]


def test_batches_open_sizes_and_nan():
    a, b = rows(60, 4, 2).reshape([2, 30, 4]), rows(10, 4, 3).reshape([2, 5, 4])
    spec = [paddle.static.InputSpec([None, None, 4], "float32")] * 2
    compiled = paddle.jit.to_static(distances, full_graph=True, input_spec=spec)
    x, y = paddle.to_tensor(a), paddle.to_tensor(b)
    x[1, 2, 3] = float("nan")
    wanted = distances(x, y, NEVER).numpy()
    for fn in (distances, compiled):
        np.testing.assert_allclose(fn(x, y).numpy(), wanted, rtol=1e-6)
    assert np.isnan(wanted[1, 2]).all() and distances(x[:, :0], y).shape == [2, 0, 5]

"""Resizing by factors and to sizes that only a run knows."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("factor", [2.0, [1.5, 0.5], [1.5, 1.5]])
def test_a_factor_that_only_a_run_knows(factor, mode):
    def resized(x, by):
        return F.interpolate(x, scale_factor=by, mode=mode)

    compiled = paddle.jit.to_static(resized, full_graph=True)
    for times in (1, 2):  # the same program
        found = []
        for run in (resized, compiled):
            x = paddle.to_tensor(np.random.default_rng(0).random((1, 2, 4, 6)), stop_gradient=False)
            y = run(x, paddle.to_tensor(factor) * times)
            (y * y).sum().backward()
            found.append((y.numpy(), x.grad.numpy()))
        for eager, ours in zip(*found):
            np.testing.assert_allclose(ours, eager)
    assert len(compiled.program_cache) == 1


def test_factors_in_a_list():
    resized = paddle.jit.to_static(lambda x, s: F.interpolate(x, scale_factor=[s, 3]), full_graph=True)
    assert resized(paddle.ones([1, 1, 2, 2]), paddle.to_tensor(2.0)).shape == [1, 1, 4, 6]


def test_a_factor_that_leaves_nothing():
    resized = paddle.jit.to_static(lambda x, s: F.interpolate(x, scale_factor=s), full_graph=True)
    with pytest.raises(ValueError, match="must be at least 1"):
        resized(paddle.ones([1, 1, 2, 2]), paddle.to_tensor(0.1))


def test_means_over_areas_that_a_tensor_says():
    resized = paddle.jit.to_static(lambda x, s: F.interpolate(x, scale_factor=s, mode="area"), full_graph=True)
    image = paddle.arange(4, dtype="float32").reshape([1, 1, 2, 2])
    found = resized(image, paddle.to_tensor(2.0))
    assert found.tolist() == F.interpolate(image, scale_factor=2.0, mode="area").tolist()


@pytest.mark.parametrize(
    ("mode", "rank"), [("linear", 1), ("nearest", 2), ("nearest", 3), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3)]
)
@pytest.mark.parametrize("factor", [1.3, 1.25])
def test_factors_that_leave_all_sizes_alone_change_nothing_as_in_paddle(mode, rank, factor):
    x = np.random.default_rng(0).random((1, 2, 3, 2, 3)[: 2 + rank])
    spec = [paddle.static.InputSpec([None] * x.ndim, "float64")]
    for settings in ({}, {"align_mode": 1}) if mode.endswith("linear") else ({},):

        def resized(x, settings=settings):
            return F.interpolate(x, scale_factor=factor, mode=mode, **settings)

        for run in (resized, *(paddle.jit.to_static(resized, full_graph=True, input_spec=s) for s in (None, spec))):
            given = paddle.to_tensor(x, stop_gradient=False)
            y = run(given)
            (y * y).sum().backward()
            np.testing.assert_array_equal(y.numpy(), x)
            np.testing.assert_allclose(given.grad.numpy(), 2 * x)
            assert run(paddle.to_tensor(np.tile(x, 3))).shape[-1] == int(3 * x.shape[-1] * factor)

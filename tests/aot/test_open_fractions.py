"""Fractions of open sizes, which are no polynomials of them, and tables of heights and widths that may be equal."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import aot
from vitrify.static import InputSpec

IMAGES = [InputSpec([None, 3, None, None], "float32", "x")]
SHAPES = [(1, 3, 16, 16), (2, 3, 7, 31), (3, 3, 23, 5), (1, 3, 64, 65), (1, 3, 1, 1)]


def numbers(shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def anchors(x):
    h, w = x.shape[2:]
    gy, gx = paddle.meshgrid(paddle.arange(h, dtype="float32"), paddle.arange(w, dtype="float32"))
    return x.mean(1).unsqueeze(-1) + (paddle.stack([gx, gy], -1) + 0.5) / paddle.to_tensor([w, h]).astype("float32")


def boxes(x):
    h, w = x.shape[2:]
    sides = paddle.to_tensor([w, h, w, h]).astype("float32")
    return x.flatten(2).transpose([0, 2, 1])[:, :, :1] * sides / 2.0 - sides / 3.0


def scaled(x):
    sides = paddle.to_tensor([x.shape[2], x.shape[3]]).astype("float32")
    return x * (1.0 / sides[0]) + paddle.sqrt(sides).sum()


def by_python_numbers(x):
    h, w = x.shape[2:]
    return x * (1.0 / h) + x.mean() / (h * w) ** 0.5


def of_half_the_size(x):
    h, w = x.shape[2:]
    return paddle.nn.functional.interpolate(x, size=[int(h * 0.5) + 1, int(w * 0.5) + 1], mode="nearest")


@pytest.mark.parametrize("function", [anchors, boxes, scaled, by_python_numbers])
def test_fractions_of_open_sizes(function, tmp_path):
    paddle.jit.save(function, tmp_path / "net", input_spec=IMAGES, format="native")
    program = aot.load(tmp_path / "net")
    for x in map(numbers, SHAPES):
        found = np.asarray(program(x)[0])
        np.testing.assert_allclose(found, function(paddle.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)


def test_sizes_that_fractions_give(tmp_path):
    paddle.jit.save(of_half_the_size, tmp_path / "net", input_spec=IMAGES, format="native")
    program = aot.load(tmp_path / "net")
    for x in map(numbers, SHAPES[:-1]):
        np.testing.assert_array_equal(np.asarray(program(x)[0]), of_half_the_size(paddle.to_tensor(x)).numpy())


def test_a_division_by_zero_is_at_a_size_that_is_refused(tmp_path):
    def function(x):
        return x * (1.0 / (x.shape[2] - 1))

    paddle.jit.save(function, tmp_path / "net", input_spec=IMAGES, format="native")
    program = aot.load(tmp_path / "net")
    x = numbers((1, 3, 7, 31))
    np.testing.assert_allclose(np.asarray(program(x)[0]), function(paddle.to_tensor(x)).numpy(), rtol=1e-6)
    with pytest.raises(paddle.core.errors.ShapeError, match="dimension 2 must be at least 2, got 1"):
        program(numbers((1, 3, 1, 1)))


def test_the_best_places_of_images_that_have_so_many(tmp_path):
    """Which images have five of them depends on both sizes: neither may be 1, if the other one may be small."""

    def function(x):
        return paddle.topk(x.flatten(1), 5 * 3, axis=1)[0]

    paddle.jit.save(function, tmp_path / "net", input_spec=IMAGES, format="native")
    program = aot.load(tmp_path / "net")
    for shape in [(1, 3, 3, 3), (2, 3, 9, 40), (1, 3, 300, 3)]:
        x = numbers(shape)
        np.testing.assert_array_equal(np.asarray(program(x)[0]), function(paddle.to_tensor(x)).numpy())
    with pytest.raises(paddle.core.errors.ShapeError, match="must be at least"):
        program(numbers((1, 3, 2, 2)))

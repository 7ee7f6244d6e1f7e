"""Linear systems, folds, regions and distinct elements in ONNX files: where ONNX has no such operator, by others."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from tests.onnx.harness import check_model

RNG = np.random.default_rng(8)
L = paddle.linalg


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


MATRICES = floats(3, 4, 4)
POSITIVE = MATRICES @ MATRICES.swapaxes(1, 2) + np.eye(4, dtype="float32")
SIDES, IMAGES, LINES = floats(3, 4, 2), floats(2, 3, 8, 9), floats(2, 3, 9)
BOXES = np.array([[0, 0, 4, 4], [1, 1, 6, 3], [2, 2, 5, 5]], "float32")
CASES = {
    "inverse": (L.inv, MATRICES),
    "inverse of exchanged rows": (L.inv, np.eye(4, dtype="float32")[[2, 0, 3, 1]]),
    "inverse of doubles": (L.inv, MATRICES[0].astype("float64")),
    "slogdet": (L.slogdet, MATRICES),
    "slogdet of a singular matrix": (L.slogdet, np.array([[1, 2], [2, 4]], "float32")),
    "solve": (L.solve, MATRICES, SIDES),
    "solve for several": (L.solve, MATRICES[0], SIDES),
    "solve of a triangle": (lambda x, y: L.triangular_solve(x, y, upper=False), POSITIVE, SIDES),
    "solve of a triangle with ones": (
        lambda x, y: L.triangular_solve(x, y, transpose=True, unitriangular=True), POSITIVE, SIDES),
    "cholesky": (L.cholesky, POSITIVE),
    "cholesky above": (lambda x: L.cholesky(x, upper=True), POSITIVE),
    "matrix_power": (lambda x: L.matrix_power(x, -2), POSITIVE),
    "places of maxima": (lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True), IMAGES),
    "places of maxima of lines": (lambda x: F.max_pool1d(x, 2, return_mask=True), LINES),
    "maxima put back": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_mask=True), 2), IMAGES[..., :8]),
    "maxima put back to a size": (
        lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_mask=True), 2, output_size=[9]), LINES),
    "fold": (lambda x: F.fold(x, [6, 7], [2, 3], 1, 0, 1), floats(2, 12, 25)),
    "fold with strides and gaps": (
        lambda x: F.fold(F.unfold(x, [3, 2], [2, 3], [1, 2], [2, 1]), [8, 9], [3, 2], [2, 3], [1, 2], [2, 1]), IMAGES),
    "diagonal_scatter": (lambda x, y: paddle.diagonal_scatter(x, y, -2, 0, 2), floats(3, 4, 5), floats(4, 1)),
    "roi_align": (
        lambda x, b, n: paddle.vision.ops.roi_align(x, b, n, [2, 3]), IMAGES, BOXES, np.array([1, 2], "int32")),
    "affine_grid": (lambda t: F.affine_grid(t, [2, 3, 4, 5]), floats(2, 2, 3)),
    "unique": (lambda x: paddle.unique(x, True, True, True), np.array([3, 1, 1, 2])),
    "unique columns": (lambda x: paddle.unique(x, axis=1), np.array([[3, 1, 3], [1, 1, 1]])),
    "unique_consecutive": (lambda x: paddle.unique_consecutive(x, True, True), np.array([3, 1, 1, 2, 2, 1])),
    "unique_consecutive rows": (lambda x: paddle.unique_consecutive(x, axis=0), np.array([[3, 1], [3, 1], [1, 1]])),
    "bicubic to one element": (lambda x: F.interpolate(x, [1, 4], mode="bicubic"), IMAGES),
    "bicubic by factors": (lambda x: F.interpolate(x, scale_factor=[0.125, 0.5], mode="bicubic"), IMAGES[:, :, :8, :8]),
}  # fmt: skip
SIZED = {"maxima put back to a size", "bicubic by factors", "diagonal_scatter"}


@pytest.mark.parametrize("name", CASES)
def test_of_known_sizes(name, tmp_path):
    function, *arrays = CASES[name]
    specs = [paddle.static.InputSpec(a.shape, str(a.dtype)) for a in arrays]
    check_model(function, str(tmp_path / "m"), specs, arrays, opset_version=18)


@pytest.mark.parametrize("name", sorted(set(CASES) - SIZED))
def test_of_open_sizes(name, tmp_path):
    function, *arrays = CASES[name]
    specs = [paddle.static.InputSpec([None] * a.ndim, str(a.dtype)) for a in arrays]
    check_model(function, str(tmp_path / "m"), specs, arrays, opset_version=18)

"""Pooling, resizing and pairs in ONNX files where sizes are open: windows, bins and places that the run decides."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from tests.onnx.harness import check_model

RNG = np.random.default_rng(12)
SIZES = [(7, 9), (5, 6), (3, 3)]


def images(*sizes):
    return [RNG.normal(size=(2, 3, *size)).astype("float32") for size in sizes]


CASES = {
    "maxima with a last window": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "a window in the padding alone": lambda x: F.max_pool2d(x, 2, 3, [(0, 0), (0, 0), (0, 1), (1, 0)], ceil_mode=True),
    "places of maxima with a last window": lambda x: F.max_pool2d(x, 2, 3, 1, ceil_mode=True, return_mask=True),
    "means with a last window": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "means that count the padding": lambda x: F.avg_pool2d(x, [3, 2], 2, 1, ceil_mode=True, exclusive=False),
    "sums over a divisor": lambda x: F.avg_pool2d(x, 3, 2, 0, ceil_mode=True, divisor_override=5),
    "means, channels last": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, data_format="NHWC"),
    "means of bins": lambda x: F.adaptive_avg_pool2d(x, [2, 5]),
    "means of bins of one dimension": lambda x: F.adaptive_avg_pool2d(x, [None, 2]),
    "means of bins, channels last": lambda x: F.adaptive_avg_pool2d(x, 2, data_format="NHWC"),
    "maxima of bins": lambda x: F.adaptive_max_pool2d(x, [2, 4]),
    "places of maxima of bins": lambda x: F.adaptive_max_pool2d(x, [2, None], return_mask=True),
    "places of equal maxima": lambda x: F.adaptive_max_pool2d(paddle.round(x), 2, return_mask=True),
    "bicubic to smaller sizes": lambda x: F.interpolate(x, scale_factor=[0.5, 0.4], mode="bicubic"),
    "bicubic of channels that are last": lambda x: F.interpolate(
        x, scale_factor=[0.4, 2], mode="bicubic", data_format="NHWC"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_of_open_sizes(name, tmp_path):
    spec = paddle.static.InputSpec([None] * 4, "float32")
    check_model(CASES[name], str(tmp_path / "m"), [spec], *[[x] for x in images(*SIZES)], opset_version=18)


def test_counts_of_bins_that_the_run_decides(tmp_path):
    specs = [paddle.static.InputSpec([None] * 4, "float32"), paddle.static.InputSpec([None], "float32")]
    pooled = lambda x, like: (F.adaptive_avg_pool2d(x, [like.shape[0], 2]), F.adaptive_max_pool2d(x, like.shape[0]))  # noqa: E731
    x = images((7, 9))[0]
    check_model(pooled, str(tmp_path / "m"), specs, [x, np.ones(3, "float32")], [x, np.ones(2, "float32")])


@pytest.mark.parametrize("sizes", [(8, 8), (2, 5)])
def test_a_single_element_of_known_sizes(sizes, tmp_path):
    x = images(sizes)[0].transpose(0, 2, 3, 1).copy()
    resized = lambda x: F.interpolate(x, scale_factor=0.5, mode="bicubic", data_format="NHWC")  # noqa: E731
    check_model(resized, str(tmp_path / "m"), [paddle.static.InputSpec(x.shape, "float32")], [x])


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_factors_that_leave_all_sizes_alone(mode, tmp_path):
    x = images((3, 3))[0]

    def resized(x):
        return F.interpolate(x, scale_factor=1.3, mode=mode) * 2

    check_model(resized, str(tmp_path / "m"), [paddle.static.InputSpec(x.shape, "float32")], [x])


def test_windows_of_known_sizes_that_lie_in_the_padding(tmp_path):
    x = images((5, 5))[0]
    pooled = lambda x: (F.max_pool2d(x, 2, 3, 1, ceil_mode=True), F.avg_pool2d(x, 1, 3, 0, ceil_mode=True))  # noqa: E731
    check_model(pooled, str(tmp_path / "m"), [paddle.static.InputSpec(x.shape, "float32")], [x])


def test_triangles_of_open_sizes(tmp_path):
    def triangles(x):
        rows, columns = x.shape
        return *(fn(rows, columns, k) for fn in (paddle.tril_indices, paddle.triu_indices) for k in (-1, 0, 2)), x + 1

    found = [np.zeros(sizes, "float32") for sizes in ((4, 3), (2, 5), (1, 1))]
    check_model(
        triangles, str(tmp_path / "m"), [paddle.static.InputSpec([None, None], "float32")], *[[x] for x in found]
    )


def test_distances_of_pairs_of_rows_of_open_number(tmp_path):
    found = [np.random.default_rng(0).normal(size=(n, 3)).astype("float32") for n in (4, 6)]
    spec = paddle.static.InputSpec([None, 3], "float32")
    check_model(
        lambda x: (paddle.pdist(x), paddle.combinations(x[:, 0])), str(tmp_path / "m"), [spec], *[[x] for x in found]
    )

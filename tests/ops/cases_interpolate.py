"""Resizing, and patches of images as columns."""

import numpy as np
import scipy.ndimage

from vitrify.nn import functional as F
from vitrify.testing import Case, floats

HALVES = ("float32", "float16", "bfloat16")


def corner_to_corner(x, size, order):
    """SciPy's spline interpolation between the first and the last element, for two spatial dimensions."""
    at = np.meshgrid(*[np.linspace(0, n - 1, m) for n, m in zip(x.shape[2:], size)], indexing="ij")
    flat = [scipy.ndimage.map_coordinates(image, at, order=order) for image in x.reshape(-1, *x.shape[2:])]
    return np.stack(flat).reshape(*x.shape[:2], *size)


def middles(x, size):
    """Linear interpolation between the middles of elements, for two spatial dimensions."""
    at = [np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1) for n, m in zip(x.shape[2:], size)]
    grid = np.meshgrid(*at, indexing="ij")
    flat = [scipy.ndimage.map_coordinates(image, grid, order=1) for image in x.reshape(-1, *x.shape[2:])]
    return np.stack(flat).reshape(*x.shape[:2], *size)


def repeated(x, *factors):
    for axis, factor in enumerate(factors, start=2):
        x = x.repeat(factor, axis)
    return x


def patches(x, kernel, stride, pads, dilation):
    """unfold by loops."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    kh, kw = kernel
    columns = []
    for i in range(0, x.shape[2] - dilation * (kh - 1), stride):
        for j in range(0, x.shape[3] - dilation * (kw - 1), stride):
            patch = x[:, :, i : i + dilation * kh : dilation, j : j + dilation * kw : dilation]
            columns.append(patch[:, :, :kh, :kw].reshape(x.shape[0], -1))
    return np.stack(columns, axis=-1)


def windows(total, kernel):
    """How many windows of `kernel` cover each place of a line."""
    return np.convolve(np.ones(total - kernel + 1), np.ones(kernel))


X = floats(2, 3, 4, 5)
RAMP = np.arange(24.0).reshape(1, 1, 4, 6) ** 1.5

CASES = [
    Case("nearest by a factor", F.interpolate, (X,), {"scale_factor": 2}, ref=lambda x: repeated(x, 2, 2), second=True),
    Case("nearest to sizes", F.interpolate, (X, [2, 5]), ref=lambda x, size: x[:, :, ::2]),
    Case(
        "nearest in three dimensions",
        F.interpolate,
        (floats(1, 2, 2, 3, 2),),
        {"scale_factor": [1, 2, 3]},
        ref=lambda x: repeated(x, 1, 2, 3),
    ),
    Case(
        "bilinear between middles",
        F.interpolate,
        (X, [7, 3]),
        {"mode": "bilinear"},
        ref=middles,
        second=True,
        dtypes=HALVES,
    ),
    Case(
        "bilinear corner to corner",
        lambda x, size: F.interpolate(x, size, mode="bilinear", align_corners=True),
        (X, [7, 9]),
        ref=lambda x, size: corner_to_corner(x, size, 1),
    ),
    Case(
        "bilinear by a factor that does not divide",
        F.interpolate,
        (X,),
        {"scale_factor": [1.7, 2.3], "mode": "bilinear", "align_mode": 1},
    ),
    Case(
        "bilinear, channels last",
        lambda x: F.interpolate(x, [6, 4], mode="bilinear", data_format="NHWC"),
        (floats(2, 3, 4, 2),),
        ref=lambda x: middles(x.transpose(0, 3, 1, 2), [6, 4]).transpose(0, 2, 3, 1),
    ),
    Case("linear", lambda x: F.interpolate(x, [7], mode="linear"), (floats(2, 3, 4),), second=True),
    Case("trilinear", lambda x: F.interpolate(x, [3, 4, 2], mode="trilinear"), (floats(1, 2, 2, 3, 3),)),
    Case("bicubic", lambda x: F.interpolate(x, [9, 3], mode="bicubic"), (X,), second=True),
    Case("bicubic corner to corner", lambda x: F.interpolate(x, [9, 7], mode="bicubic", align_corners=True), (X,)),
    Case(
        "area",
        lambda x: F.interpolate(x, [2, 1], mode="area"),
        (X,),
        ref=lambda x: x.reshape(2, 3, 2, 2, 1, 5).mean(axis=(3, 5)),
    ),
    Case(
        "area, one size for all",
        lambda x: F.interpolate(x, 2, mode="area"),
        (floats(2, 3, 4, 6),),
        ref=lambda x: x.reshape(2, 3, 2, 2, 2, 3).mean(axis=(3, 5)),
    ),
    Case(
        "area, channels last",
        lambda x: F.interpolate(x, scale_factor=0.5, mode="area", data_format="NHWC"),
        (floats(2, 4, 6, 3),),
        ref=lambda x: x.reshape(2, 2, 2, 3, 2, 3).mean(axis=(2, 4)),
    ),
    Case(
        "the factor that rounded sizes have",
        lambda x: F.interpolate(x, scale_factor=1.7, recompute_scale_factor=True, mode="bilinear"),
        (X,),
        ref=lambda x: middles(x, [6, 8]),
    ),
    Case(
        "bilinear without aliases",
        lambda x: F.interpolate(x, [2, 3], mode="bilinear", antialias=True),
        (RAMP,),
        ref=lambda x: np.array(
            [
                [
                    [
                        [14.32713617098771, 20.33219827948357, 27.398683612562465],
                        [56.66140330138463, 67.05463084222146, 78.01179742323684],
                    ]
                ]
            ]
        ),
        second=True,
    ),
    Case(
        "bicubic without aliases",
        lambda x: F.interpolate(x, [2, 4], mode="bicubic", antialias=True),
        (RAMP,),
        ref=lambda x: np.array(
            [
                [
                    [
                        [9.600545801611869, 13.682143220672174, 19.24637845512098, 24.943503287465592],
                        [57.51879149052019, 65.90252661450675, 75.66334867210594, 84.8103028392554],
                    ]
                ]
            ]
        ),
    ),
    Case(
        "bilinear without aliases, to more elements",
        lambda x: F.interpolate(x, [7, 9], mode="bilinear", antialias=True),
        (X,),
        ref=lambda x: middles(x, [7, 9]),
    ),
    Case(
        "linear to one", lambda x: F.interpolate(x, [1], mode="linear"), (floats(1, 2, 5),), ref=lambda x: x[..., 2:3]
    ),
    Case("upsample", F.upsample, (X,), {"scale_factor": 3}, ref=lambda x: repeated(x, 3, 3)),
    Case("to one element", lambda x: F.interpolate(x, [1, 1], mode="bilinear"), (X,), ref=lambda x: x[:, :, :1, :1]),
    Case("unfold", F.unfold, (X, 2), ref=lambda x, k: patches(x, (k, k), 1, (0,) * 4, 1), second=True),
    Case(
        "unfold with everything",
        lambda x: F.unfold(x, [2, 3], 2, [1, 0, 2, 1], 2),
        (floats(2, 3, 6, 7),),
        ref=lambda x: patches(x, (2, 3), 2, (1, 0, 2, 1), 2),
    ),
    Case(
        "fold counts how many patches cover each place",
        lambda x: F.fold(x, [4, 5], [2, 3]),
        (np.ones((1, 6, 9)),),
        ref=lambda x: np.outer(windows(4, 2), windows(5, 3))[None, None],
    ),
    Case(
        "fold of distinct patches",
        lambda x: F.fold(x, 4, 2, 2),
        (floats(2, 12, 4),),
        ref=lambda x: x.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 4),
        second=True,
    ),
]

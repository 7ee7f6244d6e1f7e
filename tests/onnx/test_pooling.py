"""Pooling of ONNX files: what our own ops have, and windows with gaps, norms and ends in the padding."""

import numpy as np
import pytest

from .nodes import agrees, saved

RNG = np.random.default_rng(3)
X = {"x": RNG.normal(size=(2, 3, 9, 8)).astype("float32")}
LINE = {"x": RNG.normal(size=(2, 3, 11)).astype("float32")}
SOLID = {"x": RNG.normal(size=(1, 2, 5, 6, 5)).astype("float32")}
CASES = {
    "MaxPool with gaps": ("MaxPool", X, {"kernel_shape": [3, 2], "dilations": [2, 3], "strides": [2, 1]}),
    "MaxPool with gaps and pads": (
        "MaxPool", X, {"kernel_shape": [3, 3], "dilations": [2, 2], "pads": [1, 2, 2, 1], "outputs": 2}),
    "MaxPool with gaps of equals": (
        "MaxPool", {"x": np.round(X["x"])}, {"kernel_shape": [2, 2], "dilations": [2, 2], "outputs": 2}),
    "MaxPool with gaps, by columns": (
        "MaxPool", X, {"kernel_shape": [2, 2], "dilations": [1, 2], "outputs": 2, "storage_order": 1}),
    "MaxPool of lines with gaps": ("MaxPool", LINE, {"kernel_shape": [3], "dilations": [3], "outputs": 2}),
    "MaxPool of solids with gaps": (
        "MaxPool", SOLID, {"kernel_shape": [2, 2, 2], "dilations": [2, 1, 2], "outputs": 2, "ceil_mode": 1}),
    "MaxPool of places": ("MaxPool", X, {"kernel_shape": [2, 2], "strides": [2, 2], "outputs": 2}),
    "MaxPool whose end is in the padding": (
        "MaxPool", X, {"kernel_shape": [1, 2], "strides": [2, 3], "ceil_mode": 1, "pads": [0, 0, 0, 1]}),
    "MaxPool of bytes": (
        "MaxPool", {"x": RNG.integers(-9, 9, (1, 1, 5, 6)).astype("int8")}, {"kernel_shape": [2, 2]}),
    **{f"AveragePool with gaps {whole} {ceil}": (
        "AveragePool", X, {"kernel_shape": [2, 3], "dilations": [2, 2], "pads": [1, 1, 0, 2], "strides": [2, 2],
                           "count_include_pad": whole, "ceil_mode": ceil, "opset": 19})
       for whole in (0, 1) for ceil in (0, 1)},
    "LpPool": ("LpPool", X, {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 0, 1, 1]}),
    "LpPool of lines": ("LpPool", LINE, {"kernel_shape": [3], "p": 3}),
    "GlobalLpPool": ("GlobalLpPool", X, {"p": 3}),
}  # fmt: skip


@pytest.mark.parametrize("open_dims", [(), (0, 2, 3)], ids=["known", "open"])
@pytest.mark.parametrize("name", CASES)
def test_pooling(name, open_dims, tmp_path):
    type_, fed, attrs = CASES[name]
    agrees(saved(tmp_path, type_, fed, {}, open_dims=open_dims, **attrs), fed)

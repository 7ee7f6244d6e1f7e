"""Nodes of recurrent networks, losses and images, as other frameworks write them, give what ONNX Runtime gives."""

import numpy as np
import pytest
from onnx import TensorProto

import vitrify as paddle
from tests.onnx.nodes import agrees, saved
from vitrify.core.errors import FileFormatError, UnsupportedError

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


def weights(type_, directions, size=3, inner=4):
    gates = GATES[type_]
    return {"w": floats(directions, gates * inner, size), "r": floats(directions, gates * inner, inner)}


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("type_", ["LSTM", "GRU", "RNN"])
def test_networks(type_, direction, tmp_path):
    many = 1 + (direction == "bidirectional")
    kept = {**weights(type_, many), "b": floats(many, 2 * GATES[type_] * 4), "n": None, "h": floats(many, 2, 4)}
    attrs = {"linear_before_reset": 1} if type_ == "GRU" else {}
    fed = {"x": floats(5, 2, 3)}
    count = 3 if type_ == "LSTM" else 2
    agrees(saved(tmp_path, type_, fed, kept, count, hidden_size=4, direction=direction, **attrs), fed)


@pytest.mark.parametrize("type_", ["LSTM", "GRU", "RNN"])
def test_lengths_and_open_sizes(type_, tmp_path):
    kept = {**weights(type_, 2), "b": None, "n": np.array([5, 2], "int32")}
    attrs = {"linear_before_reset": 1} if type_ == "GRU" else {}
    fed = {"x": floats(5, 2, 3)}
    path = saved(tmp_path, type_, fed, kept, 2, (0,), hidden_size=4, direction="bidirectional", **attrs)
    agrees(path, fed)


def test_relu_and_what_is_refused(tmp_path):
    fed = {"x": floats(5, 2, 3)}
    agrees(saved(tmp_path, "RNN", fed, weights("RNN", 1), 2, hidden_size=4, activations=["Relu"]), fed)
    for type_, attrs in {
        "GRU": {"linear_before_reset": 0},
        "LSTM": {"clip": 1.0},
        "RNN": {"activations": ["Sigmoid"]},
    }.items():
        path = saved(tmp_path, type_, fed, weights(type_, 1), 2, hidden_size=4, **attrs)
        with pytest.raises(UnsupportedError, match="cannot be read"):
            paddle.onnx.load(path)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction, tmp_path):
    fed = {"x": floats(3, 4, 2), "y": np.array([[0, 3], [1, 1], [2, 0]])}
    for kept in ({}, {"w": np.array([1, 2, 0.5, 3], "float32")}):
        attrs = {"reduction": reduction, "ignore_index": 1}
        agrees(saved(tmp_path, "SoftmaxCrossEntropyLoss", fed, kept, 2, **attrs), fed)
        agrees(saved(tmp_path, "NegativeLogLikelihoodLoss", fed, kept, 1, **attrs), fed)


def test_images_and_matrices(tmp_path):
    fed = {"x": floats(2, 8, 4, 6)}
    for mode in ("DCR", "CRD"):
        agrees(saved(tmp_path, "DepthToSpace", fed, {}, blocksize=2, mode=mode), fed)
    agrees(saved(tmp_path, "SpaceToDepth", fed, {}, blocksize=2), fed)
    matrix = {"x": floats(3, 4)}
    agrees(saved(tmp_path, "EyeLike", matrix, {}), matrix)
    agrees(saved(tmp_path, "EyeLike", matrix, {}, k=1, dtype=TensorProto.INT64, open_dims=(0,)), matrix)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_images_read_at_places(padding, tmp_path):
    fed = {"x": floats(2, 3, 5, 6), "g": np.clip(floats(2, 4, 4, 2), -1.4, 1.4)}
    for corners in (0, 1):
        agrees(saved(tmp_path, "GridSample", fed, {}, align_corners=corners, padding_mode=padding), fed)


def test_gathering_within_batches(tmp_path):
    fed = {"x": floats(2, 3, 4, 5)}
    for dims, index in ((1, [[[0, 1], [2, 3]], [[1, 1], [0, 0]]]), (2, [[[3], [1], [0]], [[0], [2], [1]]])):
        kept = {"i": np.array(index)}
        agrees(saved(tmp_path, "GatherND", fed, kept, open_dims=(3,), batch_dims=dims), fed)


def test_axes_are_counted_from_either_end_and_none_beyond(tmp_path):
    fed = {"x": floats(2, 3, 4)}
    for axis in (-3, -1, 0, 2, 3):
        agrees(saved(tmp_path, "Flatten", fed, {}, axis=axis), fed)
    for type_ in ("Softmax", "Flatten", "ArgMax"):
        for axis in (-4, 4, 1 << 40):
            with pytest.raises(FileFormatError, match=f"axis {axis} is none of 3 dimensions"):
                paddle.onnx.load(saved(tmp_path, type_, fed, {}, axis=axis))

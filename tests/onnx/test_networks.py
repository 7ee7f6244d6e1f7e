"""Nodes of recurrent networks, losses and images, as other frameworks write them, give what ONNX Runtime gives."""

import numpy as np
import onnxruntime
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


# What our own cells have not: other orders, functions, bounds, peepholes and batches first.
OTHER_CELLS = {
    "relu": ("RNN", {"activations": ["Relu"]}),
    "one function for each direction": (
        "RNN", {"direction": "bidirectional", "activations": ["Affine", "LeakyRelu"],
                "activation_alpha": [0.5, 0.2], "activation_beta": [0.1]}),
    "reset before": ("GRU", {"linear_before_reset": 0}),
    "reset before, both ways": ("GRU", {"direction": "bidirectional"}),
    "other functions": ("GRU", {"activations": ["HardSigmoid", "Softsign"], "clip": 0.5}),
    "reset after and clipped": ("GRU", {"linear_before_reset": 1, "clip": 0.3}),
    "clipped": ("LSTM", {"clip": 0.4, "direction": "bidirectional"}),
    "scaled": ("LSTM", {"activations": ["Sigmoid", "ScaledTanh", "Elu"], "activation_alpha": [1.5, 0.7],
                        "activation_beta": [0.8]}),
}  # fmt: skip


@pytest.mark.parametrize("open_dims", [(), (0, 1)], ids=["known", "open"])
@pytest.mark.parametrize("name", OTHER_CELLS)
def test_cells_of_other_kinds(name, open_dims, tmp_path):
    type_, attrs = OTHER_CELLS[name]
    many = 1 + (attrs.get("direction") == "bidirectional")
    kept = {**weights(type_, many), "b": floats(many, 2 * GATES[type_] * 4), "n": np.array([5, 3], "int32")}
    fed = {"x": floats(5, 2, 3)}
    agrees(saved(tmp_path, type_, fed, kept, 2, open_dims, hidden_size=4, **attrs), fed)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_peepholes(direction, tmp_path):
    many = 1 + (direction == "bidirectional")
    kept = {
        **weights("LSTM", many), "b": None, "n": None, "h": floats(many, 2, 4), "c": floats(many, 2, 4),
        "p": floats(many, 12),
    }  # fmt: skip
    fed = {"x": floats(5, 2, 3)}
    agrees(saved(tmp_path, "LSTM", fed, kept, 3, hidden_size=4, direction=direction), fed)


@pytest.mark.parametrize("type_", ["LSTM", "GRU", "RNN"])
def test_batches_first(type_, tmp_path):
    kept, fed = weights(type_, 2), {"x": floats(5, 2, 3)}
    more = {"hidden_size": 4, "direction": "bidirectional"}
    usual = paddle.onnx.load(saved(tmp_path, type_, fed, kept, 2, **more))(paddle.to_tensor(fed["x"]))
    turned = {"x": fed["x"].swapaxes(0, 1)}  # ONNX Runtime has no such networks
    path = saved(tmp_path, type_, turned, kept, 2, layout=1, **more)
    out, last = paddle.onnx.load(path)(paddle.to_tensor(turned["x"]))
    np.testing.assert_allclose(out, usual[0].transpose([2, 0, 1, 3]), rtol=1e-6)
    np.testing.assert_allclose(last, usual[1].transpose([1, 0, 2]), rtol=1e-6)


def test_a_function_that_is_none_is_refused(tmp_path):
    path = saved(tmp_path, "RNN", {"x": floats(5, 2, 3)}, weights("RNN", 1), 2, hidden_size=4, activations=["Sine"])
    with pytest.raises(UnsupportedError, match="the activation 'Sine' cannot be read"):
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


def test_what_a_layer_puts_into_its_attributes_is_no_output(tmp_path):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.loss = None

        def forward(self, x):
            self.loss = x.square().mean()
            return x + 1, self.loss * 2

    net = Net()
    with pytest.warns(UserWarning, match="loss"):
        paddle.onnx.export(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, 2])])
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    assert len(session.get_outputs()) == 2
    found = session.run(None, {session.get_inputs()[0].name: np.ones((3, 2), "float32")})
    assert [a.tolist() for a in found] == [[[2.0, 2.0]] * 3, 2.0]

"""Layers and models to ONNX and back: values, parameters, names of sizes, external tensors, damaged files."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

import vitrify as paddle
from tests.onnx.harness import check_model, close
from vitrify import nn
from vitrify.core.errors import ArgumentError, FileFormatError, UnsupportedError
from vitrify.core.lazy import MissingPackageError
from vitrify.ops.registry import get_op
from vitrify.vision import models

SPEC = paddle.static.InputSpec


def numbers(*shape, scale=1.0):
    return (np.random.default_rng(0).standard_normal(shape) * scale).astype("float32")


class TinyGPT(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.places = nn.Embedding(16, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation="gelu")
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 11)

    def forward(self, ids):
        n = ids.shape[1]
        hidden = self.tokens(ids) + self.places(paddle.arange(n))
        mask = paddle.triu(paddle.full([n, n], -1e9), 1)
        return self.head(self.blocks(hidden, mask))


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, num_layers=2)
        self.gru = nn.GRU(6, 3, direction="bidirect")

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.gru(y)[0], h, c


LAYERS = {
    "linear": (lambda: nn.Linear(4, 2), [SPEC([None, 4])], [[numbers(3, 4)], [numbers(1, 4)]]),
    "gpt": (TinyGPT, [SPEC([None, None], "int64")], [[np.arange(6).reshape(2, 3)], [np.arange(5).reshape(1, 5)]]),
    "recurrent": (Recurrent, [SPEC([2, 3, 4])], [[numbers(2, 3, 4)]]),
    "lstm of any length": (lambda: nn.LSTM(4, 3), [SPEC([None, None, 4])], [[numbers(2, 3, 4)], [numbers(1, 5, 4)]]),
    "lenet": (models.LeNet, [SPEC([None, 1, 28, 28])], [[numbers(2, 1, 28, 28)]]),
}


def test_layers(tmp_path):
    for make, specs, calls in LAYERS.values():
        layer = make()
        if isinstance(layer, nn.LSTM):
            layer = nn.Sequential(layer, _First())
        check_model(layer, tmp_path / "model", specs, *calls)


class _First(nn.Layer):
    def forward(self, pair):
        return pair[0]


VISION = {
    "alexnet": 224, "densenet121": 32, "googlenet": 224, "inception_v3": 96, "mobilenet_v1": 32, "mobilenet_v2": 32,
    "mobilenet_v3_small": 32, "resnet18": 32, "resnext50_32x4d": 32, "shufflenet_v2_x0_25": 64, "squeezenet1_1": 64,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", VISION)
def test_vision_models(name, tmp_path):
    size = VISION[name]
    images = numbers(1, 3, size, size, scale=0.5)
    net = getattr(models, name)(num_classes=7)
    check_model(net, tmp_path / name, [SPEC([None, 3, size, size])], [images], tol=2e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype, tmp_path):
    layer = nn.Linear(4, 2)
    layer.to(dtype=dtype)
    x = paddle.to_tensor(numbers(3, 4)).astype(dtype)
    calls = [] if dtype == "bfloat16" else [[x.numpy()]]  # ONNX Runtime has no bfloat16 on CPUs
    back = check_model(layer, tmp_path / "model", [SPEC([None, 4], dtype)], *calls, tol=1e-2)
    close(back(x).numpy(), layer(x).numpy(), 1e-2)


def test_integers_and_tensors_without_dimensions(tmp_path):
    def counts(ids, k):
        return ids * k, ids.sum(), ids > k, k + 1

    specs = [SPEC([None], "int64", "ids"), SPEC([], "int64", "k")]
    check_model(counts, tmp_path / "model", specs, [np.arange(4), np.asarray(2)])


class Structured(nn.Layer):
    def forward(self, pair, scale=2.0):
        return {"sum": pair[0] + pair[1] * scale, "rest": [pair[0], None, 3]}


def test_one_size_alone_is_still_a_size(tmp_path):
    def numbered(x):
        return x * paddle.arange(x.shape[1] + 1, dtype="float32")[1:]

    check_model(numbered, tmp_path / "model", [SPEC([2, None])], [numbers(2, 3)])


def test_structures_and_saving_by_jit(tmp_path):
    paddle.jit.save(Structured(), tmp_path / "model", input_spec=[[SPEC([2]), SPEC([2])]], format="onnx")
    x = paddle.ones([2])
    found = paddle.onnx.load(tmp_path / "model")([x, x])
    assert found["sum"].tolist() == [3.0, 3.0] and found["rest"][0].tolist() == [1.0, 1.0]
    assert found["rest"][1:] == [None, 3]
    with pytest.raises(ArgumentError, match="no format is called 'tflite'"):
        paddle.jit.save(Structured(), tmp_path / "model", format="tflite")


def test_what_was_read_trains_and_is_saved(tmp_path):
    layer = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
    back = check_model(layer, tmp_path / "model", [SPEC([None, 4])], [numbers(2, 4)])
    assert sorted(dict(back.named_parameters())) == sorted(dict(layer.named_parameters()))
    optimizer = paddle.optimizer.SGD(0.1, parameters=back.parameters())
    x, losses = paddle.to_tensor(numbers(8, 4)), []
    for _ in range(3):
        loss = (back(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[2] < losses[0]
    check_model(back, tmp_path / "again", [SPEC([None, 4])], [numbers(2, 4)])


def test_names_of_sizes(tmp_path):
    layer, path = nn.Linear(4, 2), tmp_path / "model"
    paddle.onnx.export(layer, path, [SPEC([None, 4], "float32", "x")])
    paddle.onnx.export(layer, tmp_path / "named", [SPEC([None, 4], "float32", "x")], dynamic_axes={"x": {0: "batch"}})
    found = [onnx.load(f"{p}.onnx").graph.input[0].type.tensor_type.shape.dim for p in (path, tmp_path / "named")]
    assert [d[0].dim_param for d in found] == ["x_dim_0", "batch"] and found[0][1].dim_value == 4
    with pytest.raises(ArgumentError, match="dynamic_axes names"):
        paddle.onnx.export(layer, path, [SPEC([None, 4], "float32", "x")], dynamic_axes={"y": {0: "batch"}})
    with pytest.raises(ArgumentError, match="no setting is called"):
        paddle.onnx.export(layer, path, [SPEC([None, 4])], quantize=True)
    with pytest.raises(ArgumentError, match="opset_version"):
        paddle.onnx.export(layer, path, [SPEC([None, 4])], opset_version=11)


def _damaged(data):
    """Files cut short and with bits turned."""
    random = np.random.default_rng(0)
    for _ in range(60):
        yield data[: random.integers(1, len(data))]
        turned = bytearray(data)
        for place in random.integers(0, len(data), 3):
            turned[place] ^= 1 << random.integers(0, 8)
        yield bytes(turned)


def test_damaged_files_raise_one_kind_of_error(tmp_path):
    paddle.onnx.export(nn.Linear(4, 2), tmp_path / "model", [SPEC([None, 4])])
    for data in _damaged((tmp_path / "model.onnx").read_bytes()):
        (tmp_path / "bad.onnx").write_bytes(data)
        try:
            paddle.onnx.load(tmp_path / "bad")
        except (FileFormatError, UnsupportedError):
            pass


def test_sizes_are_checked_before_anything_is_allocated(tmp_path):
    paddle.onnx.export(nn.Linear(4, 2), tmp_path / "model", [SPEC([None, 4])])
    model = onnx.load(tmp_path / "model.onnx")
    model.graph.initializer[0].dims[0] = 1 << 50
    (tmp_path / "bad.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(FileFormatError, match="bytes for sizes"):
        paddle.onnx.load(tmp_path / "bad")


def test_zeros_with_a_part_written(tmp_path):
    """What setting a column is made of where its value goes through a condition."""
    spread = get_op("getitem_adjoint")

    def function(part, like):
        return spread(part, like, index=(slice(None), 2))

    part, like = numbers(3), numbers(3, 4)
    paddle.onnx.export(paddle.jit.to_static(function), tmp_path / "spread", [SPEC([None]), SPEC([None, 4])])
    session = onnxruntime.InferenceSession(str(tmp_path / "spread.onnx"), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), (part, like))})
    wanted = np.zeros((3, 4), "float32")
    wanted[:, 2] = part
    close(found, wanted)


def test_boxes_are_suppressed_and_counted(tmp_path):
    """NonMaxSuppression with and without scores, and by category; boxes of a detector, and numbers that are counted."""
    x1y1 = numbers(40, 2) * 4
    boxes = np.concatenate([x1y1, x1y1 + 1 + np.abs(numbers(40, 2))], 1).astype("float32")
    scores, counted = numbers(40), np.array([3, 0, 3, 5], "int64")
    kinds = (np.arange(40) % 3).astype("int64")

    def function(boxes, scores, x, weights, kinds):
        kept = paddle.vision.ops.nms(boxes, 0.3, scores)
        apart = [paddle.vision.ops.nms(boxes, 0.3, scores, kinds, [0, 2], top_k=k) for k in (None, 5)]
        counts = paddle.bincount(x), paddle.bincount(x, weights, minlength=9)
        return kept, paddle.vision.ops.nms(boxes, 0.5), *counts, *apart

    arrays = (boxes, scores, counted, numbers(4), kinds)
    specs = [SPEC([None, *a.shape[1:]], str(a.dtype)) for a in arrays]
    paddle.onnx.export(paddle.jit.to_static(function), tmp_path / "boxes", specs)
    session = onnxruntime.InferenceSession(str(tmp_path / "boxes.onnx"), providers=["CPUExecutionProvider"])
    wanted = [t.numpy() for t in function(*map(paddle.to_tensor, arrays))]
    found = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays)})
    read = [t.numpy() for t in paddle.onnx.load(tmp_path / "boxes")(*map(paddle.to_tensor, arrays))]
    for outputs in (found, read):
        for a, b in zip(outputs, wanted):
            close(np.asarray(a), b)
    assert len(wanted[0]) < 40


def test_what_constants_give_is_computed_by_the_run_where_it_is_large(tmp_path):
    """A file of a few bytes asks for a tebibyte: reading it takes no memory for that."""
    helper, array = onnx.helper, onnx.numpy_helper.from_array
    nodes = [
        helper.make_node("Expand", ["one", "sizes"], ["large"]),
        helper.make_node("Add", ["large", "one"], ["larger"]),
        helper.make_node("Gather", ["larger", "places"], ["few"]),
        helper.make_node("Cast", ["few"], ["real"], to=1),
        helper.make_node("Add", ["x", "real"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(n, 1, [3]) for n in ("x", "y")]
    constants = {"one": np.array([1]), "sizes": np.array([1 << 38]), "places": np.array([0, 1, 2])}
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos[:1], infos[1:], [array(v, n) for n, v in constants.items()]),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    (tmp_path / "large.onnx").write_bytes(model.SerializeToString())
    layer = paddle.onnx.load(tmp_path / "large.onnx")
    assert "expand" in str(layer.program())
    model.graph.initializer[1].CopyFrom(array(np.array([5]), "sizes"))
    (tmp_path / "small.onnx").write_bytes(model.SerializeToString())
    layer = paddle.onnx.load(tmp_path / "small.onnx")
    assert "expand" not in str(layer.program())
    close(layer(paddle.zeros([3])).numpy(), np.full(3, 2.0, "float32"))


def test_a_file_of_another_exporter(tmp_path):
    """Constants in nodes, names with slashes, operators that we never write."""
    helper, array = onnx.helper, onnx.numpy_helper.from_array
    nodes = [
        helper.make_node("Gemm", ["x", "/fc/w", "/fc/b"], ["h"], transB=1, alpha=0.5),
        helper.make_node("LeakyRelu", ["h"], ["a"], alpha=0.1),
        helper.make_node("Constant", [], ["shape"], value=array(np.array([0, -1, 1]))),
        helper.make_node("Reshape", ["a", "shape"], ["r"]),
        helper.make_node("Clip", ["r", "low"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", ["n", 4]), ("y", ["n", 2, 1]))]
    w, b = numbers(2, 4), numbers(2)
    tensors = [array(v, n) for n, v in (("/fc/w", w), ("/fc/b", b), ("low", np.asarray(-0.05, "float32")))]
    model = helper.make_model(helper.make_graph(nodes, "g", infos[:1], infos[1:], tensors),
                              opset_imports=[helper.make_opsetid("", 17)])  # fmt: skip
    (tmp_path / "other.onnx").write_bytes(model.SerializeToString())
    layer = paddle.onnx.load(tmp_path / "other.onnx")
    x = numbers(3, 4)
    h = 0.5 * x @ w.T + b
    close(layer(paddle.to_tensor(x)).numpy(), np.maximum(np.where(h >= 0, h, 0.1 * h), -0.05)[..., None])
    assert {name for name, _ in layer.named_parameters()} == {"_fc_w", "_fc_b"}
    model.graph.node[1].op_type = "MaxRoiPool"
    (tmp_path / "other.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UnsupportedError, match="'MaxRoiPool' cannot be read"):
        paddle.onnx.load(tmp_path / "other.onnx")


def test_the_note_of_the_file_is_data_only(tmp_path):
    paddle.onnx.export(nn.Linear(4, 2), tmp_path / "model", [SPEC([None, 4])])
    model = onnx.load(tmp_path / "model.onnx")
    for note in model.metadata_props:
        json.loads(note.value)
        note.value = '{"object": ["os", "system"]}'
    (tmp_path / "bad.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(FileFormatError):
        paddle.onnx.load(tmp_path / "bad")


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr("vitrify.core.lazy.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"vitrify\[onnx\]"):
        paddle.onnx.export(nn.Linear(4, 2), tmp_path / "model", [SPEC([None, 4])])
    with pytest.raises(MissingPackageError, match=r"vitrify\[onnx\]"):
        paddle.onnx.load(tmp_path / "model")

"""ONNX models whose tensors lie in a file beside them: places, lengths, checksums, and kills while they are written."""

import os
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import vitrify as paddle
from tests.kill import killed_and_whole
from tests.onnx.harness import check_model
from vitrify import nn
from vitrify.core import mapped_file
from vitrify.core.errors import FileFormatError

SPEC = paddle.static.InputSpec


def net(value):
    layer = nn.Linear(32, 16)
    layer.weight.set_value(np.full([32, 16], value, "float32"))
    return layer


def save(path, value, **configs):
    paddle.onnx.export(net(value), path, [SPEC([None, 32])], **{"external_data": True, **configs})
    return f"{path}.onnx"


def held(file):
    """The value of the weights, here and in ONNX Runtime."""
    given = np.full([1, 32], 1 / 32, "float32")
    found = [paddle.onnx.load(file)(paddle.to_tensor(given)).numpy()]
    found += ort.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"input": given})
    (value,) = set(np.concatenate(found, axis=None).round(4).tolist())
    return value


def entries(model):
    (tensor,) = [t for t in model.graph.initializer if t.external_data]
    return {entry.key: entry for entry in tensor.external_data}


@pytest.fixture
def model(tmp_path):
    return onnx.load(save(tmp_path / "model", 1.0), load_external_data=False)


def loaded(folder, proto):
    (folder / "bad.onnx").write_bytes(proto.SerializeToString())
    return paddle.onnx.load(folder / "bad")


def test_large_tensors_lie_beside_the_file(tmp_path):
    layer, given = nn.Linear(32, 16), [np.ones([2, 32], "float32")]
    check_model(layer, tmp_path / "model", [SPEC([None, 32])], given, external_data=True)
    assert (tmp_path / "model.onnx.data").stat().st_size == 4 * 32 * 16


def test_tensors_start_where_they_can_be_mapped(tmp_path):
    layer = nn.Sequential(nn.Linear(33, 33), nn.Linear(33, 601), nn.Linear(601, 601))
    check_model(layer, tmp_path / "model", [SPEC([None, 33])], [np.ones([2, 33], "float32")], external_data=True)
    proto = onnx.load(tmp_path / "model.onnx", load_external_data=False)
    places = {}
    for tensor in proto.graph.initializer:
        said = {e.key: e.value for e in tensor.external_data}
        if said:
            places[int(said["length"])] = int(said["offset"])
    assert len(places) == 4 and all(at % 64 == 0 for at in places.values())
    assert places[4 * 601 * 601] % 65536 == 0


@pytest.mark.parametrize(
    "place", ["../model.onnx.data", "/etc/hostname", "", ".", "a/../model.onnx.data", "c:x", "a\\b"]
)
def test_only_files_in_the_folder_are_read(model, place, tmp_path):
    entries(model)["location"].value = place
    with pytest.raises(FileFormatError, match="only files beside the model"):
        loaded(tmp_path, model)


def test_links_and_folders_are_no_places(model, tmp_path):
    os.rename(tmp_path / "model.onnx.data", tmp_path / "other")
    os.symlink(tmp_path / "other", tmp_path / "model.onnx.data")
    with pytest.raises(FileFormatError, match="only files beside the model"):
        loaded(tmp_path, model)
    os.unlink(tmp_path / "model.onnx.data")
    (tmp_path / "model.onnx.data").mkdir()
    with pytest.raises(FileFormatError, match="no such file"):
        loaded(tmp_path, model)
    os.rmdir(tmp_path / "model.onnx.data")
    with pytest.raises(FileFormatError, match="no such file beside the model"):
        loaded(tmp_path, model)


def test_a_folder_inside_is_fine(model, tmp_path):
    (tmp_path / "inner").mkdir()
    os.rename(tmp_path / "model.onnx.data", tmp_path / "inner" / "data")
    entries(model)["location"].value = "inner/data"
    (tmp_path / "bad.onnx").write_bytes(model.SerializeToString())
    assert held(str(tmp_path / "bad.onnx")) == 1.0


@pytest.mark.parametrize("key, value", [
    ("offset", "64"), ("offset", "-4"), ("offset", "9" * 19), ("offset", "\u0663"), ("length", "2044"),
    ("length", "0x8"), ("length", "99999999999"),
])  # fmt: skip
def test_places_outside_of_the_file(model, key, value, tmp_path):
    entries(model)[key].value = value
    with pytest.raises(FileFormatError, match=r"does not fit|no place in a file"):
        loaded(tmp_path, model)


def test_what_is_said_twice_is_refused(model, tmp_path):
    (tensor,) = [t for t in model.graph.initializer if t.external_data]
    tensor.external_data.add(key="offset", value="0")
    with pytest.raises(FileFormatError, match="its offset twice"):
        loaded(tmp_path, model)


def test_tensors_of_another_model_are_refused(tmp_path):
    one, two = save(tmp_path / "one", 1.0), save(tmp_path / "two", 2.0)
    os.replace(two + ".data", one + ".data")
    with pytest.raises(FileFormatError, match=r"'one\.onnx\.data' was changed, or belongs to another model"):
        paddle.onnx.load(one)


def test_checksums_are_checked_where_there_are_any(model, tmp_path):
    entries(model)["checksum"].value = "none"
    with pytest.raises(FileFormatError, match="SHA-1"):
        loaded(tmp_path, model)
    (tensor,) = [t for t in model.graph.initializer if t.external_data]
    del tensor.external_data[3]
    assert loaded(tmp_path, model).parameters()
    (tmp_path / "model.onnx.data").write_bytes(b"short")
    with pytest.raises(FileFormatError, match="does not fit"):
        loaded(tmp_path, model)


def test_files_by_the_onnx_package(tmp_path):
    """It says an offset and a length, or neither, and puts each tensor into a file of its own if asked to."""
    proto = onnx.load(save(tmp_path / "whole", 3.0, external_data=False))
    for name, together in (("one", True), ("many", False)):
        file = str(tmp_path / f"{name}.onnx")
        onnx.save_model(proto, file, save_as_external_data=True, all_tensors_to_one_file=together, size_threshold=0)
        assert held(file) == 3.0


def test_a_new_model_never_writes_over_the_tensors_of_the_old_one(tmp_path):
    file, now = save(tmp_path / "model", 1.0), 1.0
    for value in (2.0, 3.0, 3.0):
        before = Path(file).read_bytes()
        (kept,) = [path for path in tmp_path.iterdir() if path.suffix == ".data"]
        content = kept.read_bytes()
        save(tmp_path / "model", value)
        assert held(file) == value and len(list(tmp_path.iterdir())) == 2
        Path(file).write_bytes(before)  # as if it had been killed before the model took its place
        kept.write_bytes(content)
        assert held(file) == now
        now = held(save(tmp_path / "model", value))
        assert now == value and len(list(tmp_path.iterdir())) == 2
    save(tmp_path / "model", 4.0, external_data=False)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"] and held(file) == 4.0


SAVER = """
from tests.onnx.test_external import save
count()
save(sys.argv[1], 2.0)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_model_with_its_tensors(tmp_path):
    file = save(tmp_path / "model", 1.0)
    for whole in killed_and_whole(SAVER, str(tmp_path / "model")):
        assert held(file) == 2.0 if whole else held(file) in (1.0, 2.0)
        save(tmp_path / "model", 1.0)
        assert len([path for path in tmp_path.iterdir() if ".tmp-" not in path.name]) == 2


def test_tensors_of_large_files_stay_there(tmp_path, monkeypatch):
    path = save(tmp_path / "net", 1)
    monkeypatch.setattr(mapped_file, "LARGE", 1)
    for tensor in paddle.onnx.load(path).parameters():
        assert not tensor._data.flags.owndata
        tensor._data[:] = 0
    monkeypatch.undo()
    assert {p.numpy().max() for p in paddle.onnx.load(path).parameters()} >= {1}  # the file is as it was

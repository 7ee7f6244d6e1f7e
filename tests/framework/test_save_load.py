"""paddle.save and paddle.load: what goes in comes out; Paddle's own files are read; bad files give one clear error."""

import io
from collections import OrderedDict
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core.errors import ArgumentError, DTypeError, FileFormatError
from vitrify.core.tensor_file import read_tensors
from vitrify.eager.tensor import Tensor, to_tensor
from vitrify.framework.save_load import load, save
from vitrify.ir.program import Program

DATA = Path(__file__).parent / "data"  # written by PaddlePaddle 3.3.1


def through_file(obj, **options):
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return load(file, **options)


def test_a_state_dict(tmp_path):
    state = OrderedDict({"fc.weight": to_tensor([[1.0, 2.0]], stop_gradient=False), "fc.bias": to_tensor([0.5])})
    save(state, str(tmp_path / "new" / "folder" / "model.pdparams"))
    loaded = load(tmp_path / "new" / "folder" / "model.pdparams")
    assert type(loaded) is OrderedDict
    assert loaded["fc.weight"].tolist() == [[1.0, 2.0]]
    assert loaded["fc.weight"].stop_gradient
    assert loaded["fc.weight"].name == state["fc.weight"].name
    names = list(read_tensors(tmp_path / "new" / "folder" / "model.pdparams").tensors)
    assert names == ["fc.weight", "fc.bias"]


def test_nested_structures_keep_their_types():
    obj = {
        "list": [to_tensor([1.0]), (1, "x", None, 2.5, True)],
        "array": np.arange(3),
        "number": np.float64(0.1),
        3: {"complex": 1 + 2j, "bytes": b"\0"},
        "dtype": to_tensor(1).dtype,
    }
    loaded = through_file(obj)
    assert isinstance(loaded["list"][0], Tensor)
    assert loaded["list"][1] == (1, "x", None, 2.5, True)
    assert type(loaded["array"]) is np.ndarray
    assert type(loaded["number"]) is np.float64
    assert loaded[3] == obj[3]
    assert loaded["dtype"] is obj["dtype"]


@pytest.mark.parametrize("obj", [None, 3, "text", [1], {}, (), float("inf")])
def test_plain_objects(obj):
    assert through_file(obj) == obj


def test_one_tensor_and_numpy_instead():
    assert through_file(to_tensor([1, 2])).tolist() == [1, 2]
    found = through_file({"w": to_tensor([1, 2], dtype="bfloat16")}, return_numpy=True)["w"]
    assert isinstance(found, np.ndarray)
    assert found.dtype == ml_dtypes.bfloat16


def test_a_tensor_saved_twice_is_stored_once_and_stays_one():
    tied = to_tensor(np.zeros(1000, "float32"))
    file = io.BytesIO()
    save({"embedding": tied, "output": tied}, file)
    assert len(file.getvalue()) < 5000
    file.seek(0)
    loaded = load(file)
    assert loaded["embedding"] is loaded["output"]


def test_a_program():
    loaded = through_file({"main": Program()})["main"]
    assert isinstance(loaded, Program)


def test_what_cannot_be_saved_is_named():
    class Net:
        def state_dict(self):
            return {}

    with pytest.raises(ArgumentError, match=r"does not save a Net itself(.|\n)*state_dict"):
        save(Net(), io.BytesIO())
    with pytest.raises(DTypeError, match=r"obj\['optimizer'\]\[0\] is a object, which cannot be saved"):
        save({"optimizer": [object()]}, io.BytesIO())


def test_arguments_are_checked_as_in_paddle(tmp_path):
    with pytest.raises(ValueError, match="Expected 1<'protocol'<5, but received protocol=1"):
        save({}, str(tmp_path / "x"), protocol=1)
    with pytest.raises(ValueError, match="The 'protocol' MUST be `int`"):
        save({}, str(tmp_path / "x"), protocol="4")
    with pytest.raises(ValueError, match=r"The additional config \(foo\) of `paddle.save` is not supported"):
        save({}, str(tmp_path / "x"), foo=1)
    with pytest.raises(ValueError, match=r"The additional config \(foo\) of `paddle.load` is not supported"):
        load(str(tmp_path / "x"), foo=1)
    with pytest.raises(ValueError, match="must name a file"):
        save({}, str(tmp_path) + "/")
    with pytest.raises(ValueError, match="there is no file"):
        load(str(tmp_path / "missing"))
    with pytest.raises(TypeError, match="path must be"):
        load(3)
    with pytest.raises(TypeError, match="path must be"):
        save({}, 3)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.pdparams"
    path.write_bytes(b"PK\3\4 a zip, as torch writes it")
    with pytest.raises(FileFormatError, match=r"model\.pdparams was written neither by paddle\.save nor by vitrify"):
        load(path)
    save({"w": to_tensor([1.0])}, path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileFormatError, match="it was written with"):
        load(path)


# --- Paddle's files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_paddle_state_dict(protocol):
    state = load(DATA / f"linear_protocol{protocol}.pdparams")
    assert list(state) == ["weight", "bias"]
    assert state["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert state["bias"].numpy().dtype == np.float32
    assert state["weight"].name == "linear_0.w_0"
    assert state["weight"].stop_gradient


def test_paddle_state_dict_options():
    path = DATA / "linear_protocol4.pdparams"
    assert isinstance(load(path, return_numpy=True)["weight"], np.ndarray)
    table = load(path, keep_name_table=True)["StructuredToParameterName@@"]
    assert table == {"weight": "linear_0.w_0", "bias": "linear_0.b_0"}


def test_paddle_optimizer_state():
    state = load(DATA / "adam.pdopt")
    assert state["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}
    np.testing.assert_allclose(state["linear_0.w_0_moment1_0"].numpy(), np.full((2, 3), 0.4), rtol=1e-6)
    assert state["linear_0.w_0_moment1_0"].name == "linear_0.w_0_moment1_0"


def test_paddle_nested_object():
    found = load(DATA / "nested.pd")
    assert found["list"][0].tolist() == [1.0, 1.0]
    assert found["list"][1] == (1, "x", None, 2.5)
    assert type(found["array"]) is np.ndarray
    assert found["number"] == 2 and type(found["number"]) is np.float64
    assert found["zero_d"].shape == [] and found["zero_d"].item() == 3
    assert found["complex"] == 1 + 2j
    assert found["ordered"] == OrderedDict(q=1)
    assert found["half"].dtype.name == "bfloat16" and found["half"].tolist() == [1.0, 1.0]
    assert found[3] is True


def test_paddle_tensor_from_a_stream():
    assert load(io.BytesIO((DATA / "tensor.pd").read_bytes())).tolist() == [0, 1, 2]


@given(st.sampled_from(sorted(DATA.iterdir())), st.data())
def test_changed_paddle_files_are_read_or_refused(path, data):
    changed = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        load(io.BytesIO(changed))
    except FileFormatError:
        pass

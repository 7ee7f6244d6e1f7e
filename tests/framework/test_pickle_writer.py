"""Files in Paddle's own format: pickles of plain data, which our reader and Python's own read."""

import io
import pickle
import pickletools

import numpy as np
import pytest

import vitrify as paddle

DATA = {
    "none": None, "true": True, "int": -(2**70), "small": 255, "float": 0.1, "text": "späße\n", "bytes": b"\x00\xff",
    "list": [1, [2.5, "x"], []], "tuple": (1, ()), "nested": {"a": {"b": {}}}, 3: "key", "scalar": np.float32(1.5),
}  # fmt: skip


def saved(obj, protocol=4):
    file = io.BytesIO()
    paddle.save(obj, file, protocol, format="paddle")
    return file.getvalue()


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_plain_data(protocol):
    found = saved(DATA, protocol)
    pickletools.dis(found, out=io.StringIO())  # raises for what is no pickle
    assert pickle.loads(found) == DATA


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8", "int64", "bool", "complex64"])
def test_tensors_and_arrays(protocol, dtype):
    tensor = paddle.to_tensor([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    obj = {"w": tensor, "turned": tensor.T, "empty": tensor[:0], "one": tensor[0, 1], "array": np.arange(3)[::-1]}
    found = saved(obj, protocol)
    name, bits = pickle.loads(found)["w"]
    assert name == tensor.name and bits.dtype == ("uint16" if dtype == "bfloat16" else dtype)
    back = paddle.load(io.BytesIO(found))
    for key in ("w", "turned", "empty", "one"):
        assert back[key].dtype == tensor.dtype and back[key].tolist() == obj[key].tolist()
    assert back["array"].tolist() == [2, 1, 0]


def test_a_state_dict_comes_back(tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
    paddle.save(net.state_dict(), tmp_path / "net.pdparams", format="paddle")
    again = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
    assert again.set_state_dict(paddle.load(tmp_path / "net.pdparams")) == ([], [])
    np.testing.assert_array_equal(again[0].weight.numpy(), net[0].weight.numpy())


def test_what_cannot_be_saved_is_named():
    with pytest.raises(TypeError, match=r"obj\['a'\]\[1\] is a object"):
        saved({"a": [0, object()]})
    with pytest.raises(TypeError, match=r"obj\['a'\] is an array of <U1"):
        saved({"a": np.array(["x"])})
    with pytest.raises(ValueError, match="format must be one of"):
        paddle.save({}, io.BytesIO(), format="zip")

"""Files that PaddlePaddle saved give here what its Executor gave: functions, recurrences, loops with arrays by 3.3.1;
`old`: operators that it has no more, by 2.6.2."""

import io
import json
import tarfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import FileFormatError
from vitrify.paddle_program.program_desc_pb2 import ProgramDesc

DATA = Path(__file__).parent.parent / "data" / "paddle_program"
# The variable's type in the file is not that of what PaddlePaddle gives.
OF_OTHER_TYPE = {("mrank", "pdmodel"), ("top_k", "old")}


@cache
def archive(kind):
    """name of a file -> its content."""
    with tarfile.open(DATA / f"files_{kind}.tar.xz") as files:
        return {member.name: files.extractfile(member).read() for member in files}


def ending_of(kind):
    return "pdmodel" if kind == "old" else kind


def names(kind):
    ending = "." + ending_of(kind)
    return [name.removesuffix(ending) for name in archive(kind) if name.endswith(ending)]


def flat(found):
    return [x for v in found for x in flat(v)] if isinstance(found, (list, tuple)) else [found]


def loaded(folder, name, kind):
    for ending in (ending_of(kind), "pdiparams"):
        data = archive(kind).get(f"{name}.{ending}")
        if data is not None:
            (folder / f"{name}.{ending}").write_bytes(data)
    return paddle.jit.load(folder / f"{name}.{ending_of(kind)}")


def check(folder, name, kind):
    held = np.load(io.BytesIO(archive(kind)[f"{name}.npz"]))
    given = [held[key] for key in sorted(held.files) if key[0] == "x"]
    wanted = [held[f"y{i}"] for i in range(len(held.files) - len(given))]
    found = [t.numpy() for t in flat(loaded(folder, name, kind)(*map(paddle.to_tensor, given)))]
    assert len(found) == len(wanted), name
    for a, b in zip(found, wanted):
        assert a.shape == b.shape, name
        assert a.dtype == b.dtype or (name, kind) in OF_OTHER_TYPE, name
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", ["json", "pdmodel", "old"])
def test_they_give_what_paddle_gave(kind, part, tmp_path):
    for name in names(kind)[part::8]:
        check(tmp_path, name, kind)


def test_there_are_many():
    assert len(names("json")) > 190
    assert len(names("pdmodel")) > 140


@pytest.mark.parametrize("name", ["CellRNN", "ListLoop"])
def test_what_a_loop_writes_into_arrays_trains(name, tmp_path):
    net = loaded(tmp_path, name, "json")
    x = paddle.ones([3, 5, 6] if name == "CellRNN" else [3, 8])
    x.stop_gradient = False
    net(x).sum().backward()
    assert float(x.grad.abs().sum()) > 0


def test_an_array_read_before_it_is_written(tmp_path):
    data = archive("json")["CellRNN.json"].replace(b"array_write_", b"array_read")
    for ending, content in (("json", data), ("pdiparams", archive("json")["CellRNN.pdiparams"])):
        (tmp_path / f"m.{ending}").write_bytes(content)
    with pytest.raises((FileFormatError, paddle.core.errors.UnsupportedError)):
        paddle.jit.load(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("kind", "value"), [("0.a_dtype", "Undefined"), ("0.a_str", "x"), ("0.a_i64", [1.0]), ("0.a_i64", 1 << 64)]
)
def test_attributes_of_another_kind_are_refused(kind, value, tmp_path):
    program = json.loads(archive("json")["mpow.json"])
    for op in program["program"]["regions"][0]["blocks"][0]["ops"]:
        for attr in op.get("A", []):
            if isinstance(attr, dict) and attr["N"] == "n":
                attr["AT"] = {"#": kind, "D": value}
    (tmp_path / "m.json").write_text(json.dumps(program))
    with pytest.raises(FileFormatError):
        paddle.jit.load(tmp_path / "m.json")


def test_a_missing_input_is_refused(tmp_path):
    program = json.loads(archive("json")["copysign.json"])
    for op in program["program"]["regions"][0]["blocks"][0]["ops"]:
        if op["#"] == "1.copysign":
            op["I"][1] = {"%": 0}
    (tmp_path / "m.json").write_text(json.dumps(program))
    with pytest.raises(FileFormatError, match="operator copysign has no input 'y'"):
        paddle.jit.load(tmp_path / "m.json")


def test_steps_of_row_conv_may_be_left_open(tmp_path):
    program = ProgramDesc.FromString(archive("old")["row_conv.pdmodel"])
    for var in program.blocks[0].vars:
        if var.type.lod_tensor.tensor.dims[:] == [2, 5, 3]:
            var.type.lod_tensor.tensor.dims[:] = [-1, -1, 3]
    (tmp_path / "m.pdmodel").write_bytes(program.SerializeToString())
    (tmp_path / "m.pdiparams").write_bytes(archive("old")["row_conv.pdiparams"])
    net, held = paddle.jit.load(tmp_path / "m.pdmodel"), np.load(io.BytesIO(archive("old")["row_conv.npz"]))
    np.testing.assert_allclose(net(paddle.to_tensor(held["x0"])).numpy(), held["y0"], rtol=1e-5, atol=1e-6)
    assert net(paddle.ones([1, 2, 3])).shape == [1, 2, 3]

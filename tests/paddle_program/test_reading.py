"""Programs that PaddlePaddle saved, read here: single operators, models, what is refused and what is damaged."""

import json
import tarfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.paddle_program.corpus import C, inputs
from tests.paddle_program.models import models
from vitrify.core.errors import FileFormatError, UnsupportedError
from vitrify.paddle_program.importing import BLOCKS, reads
from vitrify.paddle_program.program_desc_pb2 import ProgramDesc
from vitrify.paddle_program.table import ROWS

DATA = Path(__file__).parent.parent / "data" / "paddle_program"
KINDS = ("json", "pdmodel")  # by PaddlePaddle 3.3.1, and by 2.6.2
# What changed its meaning between PaddlePaddle 2 and 3: the program's is the old one.
CHANGED = {("divide_int", "pdmodel"), ("shape", "pdmodel")}


@cache
def archive(kind):
    """name of a file -> its content."""
    with tarfile.open(DATA / f"operators_{kind}.tar.xz") as files:
        return {member.name: files.extractfile(member).read() for member in files}


def stored(kind):
    return [name.removesuffix("." + kind) for name in archive(kind)]


def as_list(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def loaded(folder, name, kind, data=None):
    file = folder / f"model.{kind}"
    file.write_bytes(archive(kind)[f"{name}.{kind}"] if data is None else data)
    return paddle.jit.load(file)


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_operators(kind, part, tmp_path):
    for name in stored(kind)[part::8]:
        given = [paddle.to_tensor(x) for x in inputs(name)]
        wanted = as_list(C[name][0](paddle, *given))
        found = as_list(loaded(tmp_path, name, kind)(*given))
        assert len(found) == len(wanted), name
        for a, b in zip(found, wanted):
            if (name, kind) not in CHANGED:
                assert a.dtype == b.dtype, name
            limit = 1.0 if (name, kind) == ("divide_int", "pdmodel") else 2e-5
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=limit, err_msg=name)


def test_old_programs_divide_integers_as_they_did(tmp_path):
    x, y = inputs("divide_int")
    found = loaded(tmp_path, "divide_int", "pdmodel")(paddle.to_tensor(x), paddle.to_tensor(y))
    assert found.dtype == paddle.int64
    np.testing.assert_array_equal(found.numpy(), x // y)


def test_nothing_is_missing_from_the_files():
    assert len(stored("json")) == len(C)
    assert len(stored("pdmodel")) > 240


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["tiny_conv", "tiny_transformer", "branches"])
def test_models(name, kind):
    _, _, given = models()[name]
    wanted = np.load(DATA / f"{name}_{kind}.npy")
    net = paddle.jit.load(DATA / f"{name}_{kind}")
    np.testing.assert_allclose(net(*map(paddle.to_tensor, given)).numpy(), wanted, rtol=1e-4, atol=1e-5)
    config = paddle.inference.Config(f"{DATA}/{name}_{kind}.{kind}", f"{DATA}/{name}_{kind}.pdiparams")
    predictor = paddle.inference.create_predictor(config)
    for handle, array in zip(map(predictor.get_input_handle, predictor.get_input_names()), given):
        handle.copy_from_cpu(array)
    predictor.run()
    found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_other_sizes_training_and_saving_again(kind, tmp_path):
    net = paddle.jit.load(DATA / f"tiny_transformer_{kind}")
    ids = paddle.to_tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert net(ids).shape == [3, 3, 11]
    parameters = [p for p in net.parameters() if not p.stop_gradient]
    optimizer = paddle.optimizer.SGD(0.1, parameters=parameters)
    before = float(net(ids).square().mean())
    for _ in range(3):
        loss = net(ids).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    assert float(loss) < before
    paddle.jit.save(net, tmp_path / "again")
    np.testing.assert_allclose(paddle.jit.load(tmp_path / "again")(ids).numpy(), net(ids).numpy(), rtol=1e-6)


def test_parameters_have_their_names_and_static_mode_reads_them():
    net = paddle.jit.load(DATA / "tiny_conv_json")
    assert "conv2d_0.w_0" in net.state_dict()
    assert net.state_dict()["conv2d_0.w_0"].name == "conv2d_0.w_0"
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(str(DATA / "tiny_conv_pdmodel"), exe)
        assert feeds == ["image"]
        (given,) = models()["tiny_conv"][2]
        (found,) = exe.run(program, feed={"image": given}, fetch_list=fetches)
    np.testing.assert_allclose(found, np.load(DATA / "tiny_conv_pdmodel.npy"), rtol=1e-4, atol=1e-5)


def test_a_file_for_each_parameter(tmp_path):
    data = (DATA / "branches_pdmodel.pdiparams").read_bytes()
    (tmp_path / "__model__").write_bytes((DATA / "branches_pdmodel.pdmodel").read_bytes())
    state = paddle.jit.load(DATA / "branches_pdmodel").state_dict()
    names = sorted(state)
    sizes = [20 + 2 + 2 * state[name].ndim + 4 * state[name].size for name in names]
    at = 0
    for name, size in zip(names, sizes):
        (tmp_path / name).write_bytes(data[at : at + size])
        at += size
    _, _, given = models()["branches"]
    net = paddle.jit.load(tmp_path)
    wanted = np.load(DATA / "branches_pdmodel.npy")
    np.testing.assert_allclose(net(*map(paddle.to_tensor, given)).numpy(), wanted, rtol=1e-5)


def test_all_unknown_operators_are_named_at_once(tmp_path):
    data = json.loads(archive("json")["pow2.json"])
    for op, name in zip(data["program"]["regions"][0]["blocks"][0]["ops"][1:3], ("1.moonwalk", "1.sunrise")):
        op["#"] = name
    with pytest.raises(UnsupportedError, match="operators moonwalk, sunrise cannot be read"):
        loaded(tmp_path, "", "json", json.dumps(data).encode())
    proto = ProgramDesc.FromString(archive("pdmodel")["pow2.pdmodel"])
    for op in proto.blocks[0].ops:
        op.type = "moonwalk" if op.type == "elementwise_pow" else op.type
    with pytest.raises(UnsupportedError, match="operators moonwalk cannot be read"):
        loaded(tmp_path, "", "pdmodel", proto.SerializeToString())


def test_newer_versions_and_strange_attributes_are_refused(tmp_path):
    data = json.loads(archive("json")["F.relu.json"])
    data["base_code"]["version"] = 99
    with pytest.raises(UnsupportedError, match="version 99"):
        loaded(tmp_path, "", "json", json.dumps(data).encode())
    proto = ProgramDesc.FromString(archive("pdmodel")["F.relu.pdmodel"])
    op = next(op for op in proto.blocks[0].ops if op.type == "relu")
    op.attrs.add(name="twist", type=0, i=3)
    with pytest.raises(UnsupportedError, match="relu with twist=3"):
        loaded(tmp_path, "", "pdmodel", proto.SerializeToString())


def test_a_batch_norm_in_training_uses_the_statistics_of_the_batch(tmp_path):
    text = archive("json")["batch_norm.json"].decode()
    text = text.replace('"D":true},"N":"is_test"', '"D":false},"N":"is_test"')
    text = text.replace('"D":true},"N":"use_global_stats"', '"D":false},"N":"use_global_stats"')
    x, mean, variance, weight, bias = map(paddle.to_tensor, inputs("batch_norm"))
    found = loaded(tmp_path, "", "json", text.encode())(x, mean, variance, weight, bias)
    wanted = paddle.nn.functional.batch_norm(x, mean.clone(), variance.clone(), weight, bias, training=True)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_that_do_not_fit(kind, tmp_path):
    (tmp_path / f"m.{kind}").write_bytes((DATA / f"tiny_conv_{kind}.{kind}").read_bytes())
    with pytest.raises(FileNotFoundError, match="no parameters"):
        paddle.jit.load(tmp_path / "m")
    data = (DATA / f"tiny_conv_{kind}.pdiparams").read_bytes()
    for wrong in (b"", data[:-1], data + b"x", data[1:], b"\xff" * len(data), data[:20] + b"\xff" * 8 + data[28:]):
        (tmp_path / "m.pdiparams").write_bytes(wrong)
        with pytest.raises(FileFormatError, match=r"m\.pdiparams"):
            paddle.jit.load(tmp_path / "m")


def test_every_reader_has_a_row_in_the_table():
    assert reads.names() - set(ROWS) <= {
        "trunc_divide",
        "share_data",
        "share_data_",
        "batch_norm",
        "set_value_with_tensor",
    }
    assert set(ROWS) <= reads.names() | set(BLOCKS)

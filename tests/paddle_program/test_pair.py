"""The two files of Paddle's formats belong together: mixed pairs are refused, and kills leave one save whole."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.kill import killed_and_whole
from tests.paddle_program.models import models
from vitrify.core import mapped_file
from vitrify.core.errors import FileFormatError
from vitrify.paddle_program import exporting

SPEC = paddle.static.InputSpec
ENDINGS = {"paddle": ".pdmodel", "paddle3": ".json"}
DATA = Path(__file__).parent.parent / "data" / "paddle_program"
pytestmark = pytest.mark.parametrize("kind", ENDINGS)


def net(value):
    layer = paddle.nn.Linear(3, 2)
    layer.weight.set_value(np.full([3, 2], value, "float32"))
    layer.bias.set_value(np.full([2], value, "float32"))
    return layer


def save(path, value, kind):
    paddle.jit.save(net(value), path, input_spec=[SPEC([None, 3])], format=kind)
    return str(path)


def held(path, kind):
    """The value that the loaded model's parameters have, all of them."""
    (value,) = {float(v) for p in paddle.jit.load(path + ENDINGS[kind]).parameters() for v in p.numpy().reshape(-1)}
    return value


def test_parameters_of_another_save_are_refused(kind, tmp_path):
    one, two = save(tmp_path / "one", 1, kind), save(tmp_path / "two", 2, kind)
    shutil.copy(two + ".pdiparams", one + ".pdiparams")
    with pytest.raises(FileFormatError, match=r"one\.pdiparams: it was changed, or belongs to another save"):
        paddle.jit.load(one + ENDINGS[kind])
    config = paddle.inference.Config(two + ENDINGS[kind], one + ".pdiparams")  # those of two, under another name
    assert paddle.inference.create_predictor(config).get_output_names()


def test_one_bit_that_changed_is_noticed(kind, tmp_path):
    path = save(tmp_path / "net", 1, kind)
    data = bytearray(Path(path + ".pdiparams").read_bytes())
    data[-1] ^= 1
    Path(path + ".pdiparams").write_bytes(data)
    with pytest.raises(FileFormatError, match="it was changed"):
        paddle.jit.load(path + ENDINGS[kind])


def test_no_file_of_parameters(kind, tmp_path):
    path = save(tmp_path / "net", 1, kind)
    os.unlink(path + ".pdiparams")
    with pytest.raises(FileNotFoundError, match="no parameters"):
        paddle.jit.load(path + ENDINGS[kind])


def test_programs_that_name_no_checksum_take_what_lies_there(kind, tmp_path):
    """PaddlePaddle's own files, and ours of before."""
    ending = ENDINGS[kind]
    for end in (ending, ".pdiparams"):
        shutil.copy(DATA / f"tiny_conv_{ending[1:]}{end}", tmp_path / f"net{end}")
    assert paddle.jit.load(tmp_path / "net").parameters()


SAVER = """
from tests.paddle_program.test_pair import save
count()
save(sys.argv[1], 2, sys.argv[2])
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_old_pair_or_the_new_one(kind, tmp_path):
    """Before each call of the system that a save makes, the process is killed."""
    path = save(tmp_path / "net", 1, kind)
    for whole in killed_and_whole(SAVER, path, kind):
        value = held(path, kind)
        assert value == 2.0 if whole else value in (1.0, 2.0)
        if whole:
            assert sorted(os.listdir(tmp_path)) == sorted(["net" + ENDINGS[kind], "net.pdiparams"])
        save(path, 1, kind)


def test_a_pair_between_its_two_renames_is_read_whole(kind, tmp_path):
    path = save(tmp_path / "net", 1, kind)
    old = Path(path + ".pdiparams").read_bytes()
    save(path, 2, kind)
    os.rename(path + ".pdiparams", path + ".pdiparams.next")
    assert held(path, kind) == 2.0  # the first save to this path, cut off
    Path(path + ".pdiparams").write_bytes(old)
    assert held(path, kind) == 2.0
    save(path, 3, kind)
    Path(path + ".pdiparams.next").write_bytes(b"left over")
    assert held(path, kind) == 3.0


def test_a_save_that_is_cut_off_after_another_that_was_leaves_a_pair(kind, tmp_path, monkeypatch):
    """What the first left before its last rename is the only file of tensors that belongs to the program."""
    path = save(tmp_path / "net", 1, kind)
    old = Path(path + ".pdiparams").read_bytes()
    save(path, 2, kind)
    os.rename(path + ".pdiparams", path + ".pdiparams.next")
    Path(path + ".pdiparams").write_bytes(old)

    def cut_off(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(exporting, "_write_file", cut_off)
        save(path, 3, kind)
    assert held(path, kind) == 2.0
    assert held(save(path, 4, kind), kind) == 4.0


def test_pairs_of_earlier_versions_of_ours(kind):
    """make_written.py made them."""
    ending = ENDINGS[kind][1:]
    for name in ("tiny_conv", "branches"):
        given = map(paddle.to_tensor, models()[name][2])
        found = paddle.jit.load(DATA.parent / "paddle_written" / f"{name}_{ending}")(*given)
        wanted = np.load(DATA.parent / "paddle_written" / f"{name}.npy")
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_large_parameters_stay_in_their_file(kind, tmp_path, monkeypatch):
    path = save(tmp_path / "net", 1, kind)
    monkeypatch.setattr(mapped_file, "LARGE", 1)
    for tensor in paddle.jit.load(path + ENDINGS[kind]).parameters():
        assert not tensor._data.flags.owndata and tensor._data.flags.aligned
        tensor._data[:] = 0
    assert held(path, kind) == 1  # the file is as it was

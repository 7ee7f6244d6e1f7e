"""The pair of files of a saved function: everything comes back; what does not belong together is refused."""

import json
import os
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.ir.programs import branching, equal
from tests.kill import killed_and_whole
from vitrify.core.container import ALIGN
from vitrify.core.dtype import float32
from vitrify.core.errors import ArgumentError, DTypeError, FileFormatError
from vitrify.core.meta import Meta
from vitrify.framework.save_load import load
from vitrify.ir import model_file
from vitrify.ir.input_spec import InputSpec
from vitrify.ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo, read_model, write_model


def program():
    """x, w -> relu or so."""
    found = branching()
    del found.global_block().vars["steps"]
    return found


def model(**changes):
    function = SavedFunction(
        program=program(),
        inputs=(InputSpec([None, 4], "float32", "x"),),
        input_tree=((Slot("input", 0),), {"flag": True}),
        output_tree={"y": [Slot("output", 0), (Slot("input", 0), 2.5, None)]},
        tensors=("fc.weight",),
    )
    for name, value in changes.items():
        setattr(function, name, value)
    return ModelFile(
        {"forward": function},
        {"fc.weight": np.arange(8, dtype="float32").reshape(4, 2)},
        {"fc.weight": TensorInfo(parameter=True, trainable=True)},
        note={"class": "Net", "sizes": (1, 2)},
    )


@pytest.fixture
def saved(tmp_path):
    """The prefix of a saved model."""
    prefix = str(tmp_path / "models" / "net")
    write_model(prefix, model())
    return prefix


def test_everything_comes_back(saved):
    found, given = read_model(saved), model()
    assert list(found.functions) == ["forward"]
    function, original = found.functions["forward"], given.functions["forward"]
    assert equal(function.program, original.program)
    for field in ("inputs", "input_tree", "output_tree", "tensors", "writes"):
        assert getattr(function, field) == getattr(original, field)
    assert found.infos == given.infos
    assert found.note == given.note
    np.testing.assert_array_equal(found.tensors["fc.weight"], given.tensors["fc.weight"])
    assert found.tensors["fc.weight"].flags.writeable


def test_two_files_and_nothing_else(saved):
    assert sorted(os.listdir(os.path.dirname(saved))) == ["net.vtmodel", "net.vtparams"]


def test_tensors_may_stay_in_the_file(saved):
    weight = read_model(saved, mapped=True).tensors["fc.weight"]
    assert weight[1].tolist() == [2, 3]
    assert not weight.flags.writeable


def test_paddle_load_reads_the_tensors_by_the_prefix(saved):
    assert list(load(saved)) == ["fc.weight"]
    assert load(saved, return_numpy=True)["fc.weight"].shape == (4, 2)


def test_several_functions_share_tensors(tmp_path):
    both = model()
    both.functions["predict"] = model().functions["forward"]
    write_model(tmp_path / "net", both)
    assert list(read_model(tmp_path / "net").functions) == ["forward", "predict"]


# --- what does not fit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("needs tensors that are not saved", {"tensors": ("fc.bias",)}),
        ("takes 2 tensors, 1 are described", {"tensors": ()}),
        ("takes 2 tensors, 3 are described", {"tensors": ("fc.weight", "fc.weight")}),
        (r"takes x as float32\[\?, 4\], described is float32\[\?, 5\]", {"inputs": (InputSpec([None, 5]),)}),
        (r"takes x as float32\[\?, 4\], described is int64", {"inputs": (InputSpec([None, 4], "int64"),)}),
        ("its outputs are not those of its description", {"writes": (0, 0)}),
        ("its outputs are not those of its description", {"writes": (9,)}),
        ("names tensors that the program does not have", {"output_tree": Slot("output", 1)}),
        ("names tensors that the program does not have", {"input_tree": [{"x": (Slot("input", 2),)}]}),
    ],
)
def test_parts_that_do_not_fit_are_not_written(tmp_path, message, changes):
    with pytest.raises(ArgumentError, match="forward: .*" + message):
        write_model(tmp_path / "net", model(**changes))
    assert not os.listdir(tmp_path)


def test_programs_with_variables_in_a_scope_are_not_written(tmp_path):
    broken = model()
    broken.functions["forward"].program.global_block().create_var(Meta((), float32), "state", persistable=True)
    with pytest.raises(ArgumentError, match="keeps variables in a scope"):
        write_model(tmp_path / "net", broken)


def test_structures_that_hold_objects_are_not_written(tmp_path):
    with pytest.raises(DTypeError, match="is a set, which cannot be saved"):
        write_model(tmp_path / "net", model(output_tree={"y": {1, 2}}))


# --- bad files -------------------------------------------------------------------------------------------------------


def test_files_of_two_saves_do_not_mix(saved, tmp_path):
    other = model()
    other.tensors["fc.weight"] = other.tensors["fc.weight"] + 1
    write_model(tmp_path / "other", other)
    shutil.copy(tmp_path / "other.vtparams", saved + ".vtparams")
    with pytest.raises(FileFormatError, match=r"net\.vtmodel: the \.vtparams file beside it is from another save"):
        read_model(saved)


@pytest.mark.parametrize("suffix", [".vtmodel", ".vtparams"])
def test_every_truncation_and_every_changed_byte_is_noticed(saved, suffix):
    path = saved + suffix
    with open(path, "rb") as file:
        data = file.read()
    for at in range(0, len(data), 3):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        for bad in (data[:at], bytes(changed)):
            with open(path, "wb") as file:
                file.write(bad)
            with pytest.raises(FileFormatError, match=r"net\.vt"):
                read_model(saved)


@pytest.mark.parametrize("suffix", [".vtmodel", ".vtparams"])
def test_a_missing_file_is_named(saved, suffix):
    os.unlink(saved + suffix)
    with pytest.raises(FileNotFoundError, match="net" + suffix):
        read_model(saved)


def forge(path, change):
    """Change the description in a model file and make all its checksums right again."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, _, length, _ = struct.unpack_from("<8sIIQQ", data)
    described = json.loads(data[32 : 32 + length])
    start = -(-(32 + length) // ALIGN) * ALIGN
    change(described["content"])
    header = json.dumps(described).encode()
    body = header + bytes(-(32 + len(header)) % ALIGN) + data[start:]
    lengths = struct.pack("<QQ", len(header), 32 + len(body))
    with open(path, "wb") as file:
        file.write(struct.pack("<8sII", magic, version, zlib.crc32(header, zlib.crc32(lengths))) + lengths + body)


def first(content):
    return content["functions"][0]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.clear(),
        lambda c: c.update(more=1),
        lambda c: c.update(functions=[]),
        lambda c: c.update(functions=3),
        lambda c: c.update(functions=[{}]),
        lambda c: c.update(tensors=[]),
        lambda c: c.update(tensors=[["fc.weight", 1, True]]),
        lambda c: c.update(tensors=[["fc.weight"]]),
        lambda c: c.update(note={"unknown": 1}),
        lambda c: first(c).update(name=[]),
        lambda c: first(c).update(inputs=[[[4], "float32", 7, True]]),
        lambda c: first(c).update(inputs=[[["a"], "float32", None, True]]),
        lambda c: first(c).update(inputs=[[[4], "float31", None, True]]),
        lambda c: first(c).update(inputs=[[[-5], "float32", None, True]]),
        lambda c: first(c).update(inputs=[[[-1, 4], "float32", None, "yes"]]),
        lambda c: first(c).update(inputs=None),
        lambda c: first(c).update(tensors=["fc.bias"]),
        lambda c: first(c).update(writes=[-1]),
        lambda c: first(c).update(writes=[True]),
        lambda c: first(c).update(writes=[99]),
        lambda c: first(c).update(output_tree={"output": 99}),
        lambda c: first(c).update(output_tree={"output": -1}),
        lambda c: first(c).update(output_tree={"outptu": 0}),
        lambda c: first(c).pop("input_tree"),
    ],
)
def test_a_forged_description_is_refused(saved, change):
    forge(saved + ".vtmodel", lambda content: None)
    read_model(saved)
    forge(saved + ".vtmodel", change)
    with pytest.raises(FileFormatError, match=r"net\.vtmodel: "):
        read_model(saved)


# --- a save that is cut off ------------------------------------------------------------------------------------------

SAVER = """
from vitrify.ir.model_file import read_model, write_model
old = read_model(sys.argv[1])
count()
old.tensors = {name: array + 1 for name, array in old.tensors.items()}
write_model(sys.argv[1], old)
"""


def test_a_kill_at_any_moment_leaves_the_old_save_or_the_new_one(saved):
    """Before each call of the system that a save makes, the process is killed."""
    old = model().tensors["fc.weight"]
    write_model(saved, model())
    for whole in killed_and_whole(SAVER, saved):
        added = np.unique(read_model(saved).tensors["fc.weight"] - old).tolist()
        assert added == [1.0] if whole else added in ([0.0], [1.0])
        if whole:
            left = sorted(path.name for path in Path(saved).parent.iterdir())
            assert left == ["net.vtmodel", "net.vtparams"]  # and nothing of the saves that were cut off
        write_model(saved, model())


def test_a_save_that_is_cut_off_after_another_that_was_leaves_a_model(saved, monkeypatch):
    """What the first left before its last rename is the only file of tensors that belongs to the model."""
    old = Path(saved + ".vtparams").read_bytes()
    second = model()
    second.tensors = {name: array + 1 for name, array in second.tensors.items()}
    write_model(saved, second)
    Path(saved + ".vtparams").rename(saved + ".vtparams.next")
    Path(saved + ".vtparams").write_bytes(old)

    def cut_off(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(model_file, "write_container", cut_off)
        write_model(saved, model())
    found = read_model(saved).tensors["fc.weight"]
    assert np.array_equal(found, second.tensors["fc.weight"])


def test_tensors_left_over_by_a_save_that_was_cut_off_do_no_harm(saved):
    for content in (b"", b"half a file", Path(saved + ".vtparams").read_bytes()):
        Path(saved + ".vtparams.next").write_bytes(content)
        assert set(read_model(saved).tensors) == {"fc.weight"}
    write_model(saved, model())
    assert not Path(saved + ".vtparams.next").exists()

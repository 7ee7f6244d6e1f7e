"""Damaged native programs: refused before the system maps them, whatever is damaged."""

import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.damage import damaged
from vitrify import inference
from vitrify.aot import load, loading
from vitrify.aot.sealing import _SEAL
from vitrify.core.errors import FileFormatError


def content(mlp):
    return Path(mlp[1] + ".so").read_bytes()


def test_a_sound_one_runs_and_is_a_library_for_others(mlp, rows, tmp_path):
    path = mlp[1]
    shutil.copy(path + ".so", tmp_path / "copy.so")
    np.testing.assert_array_equal(load(tmp_path / "copy")(rows(3))[0], load(path)(rows(3))[0])


def test_damaged_ones_are_refused(mlp, tmp_path, monkeypatch):
    """Nothing is opened but files in which everything up to the seal is as it was."""
    data = content(mlp)
    whole = data[: -_SEAL.size]
    opened, ends = [], Counter()

    def open_library(file):
        opened.append(Path(file).read_bytes())
        raise OSError("not opened here")

    monkeypatch.setattr(loading, "_opened", open_library)
    file = tmp_path / "damaged.so"
    for seed in range(600):
        file.write_bytes(damaged(data, random.Random(seed)))
        with pytest.raises(FileFormatError) as caught:
            load(file)
        ends["checksum" in str(caught.value), "cut short" in str(caught.value)] += 1
    assert all(found[: len(whole)] == whole for found in opened)
    assert len(opened) < 10 and ends[True, False] > 300 and ends[False, True] > 50


def test_one_that_somebody_else_linked_is_read(mlp, tmp_path, rows):
    data = content(mlp)[: -_SEAL.size]
    (tmp_path / "net.so").write_bytes(data)
    assert load(tmp_path / "net")(rows(2))[0].shape == (2, 10)
    for end in (0, 10, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.so").write_bytes(data[:end])
        with pytest.raises(FileFormatError, match=r"too short|cut short"):
            load(tmp_path / "cut")


def test_a_damaged_seal_does_not_make_one_that_somebody_else_linked(mlp, tmp_path):
    data = bytearray(content(mlp))
    data[len(data) // 2] ^= 4
    for at in range(8):  # the bytes of the mark
        broken = bytearray(data)
        broken[at - _SEAL.size] ^= 1
        (tmp_path / "net.so").write_bytes(broken)
        with pytest.raises(FileFormatError, match="20 bytes, which are no seal"):
            load(tmp_path / "net")
    (tmp_path / "net.so").write_bytes(data[:-3])
    with pytest.raises(FileFormatError, match="17 bytes, which are no seal"):
        load(tmp_path / "net")
    data[40:48] = bytes(8)  # the place of the sections
    data[60:62] = bytes(2)  # their number
    (tmp_path / "net.so").write_bytes(data[: -_SEAL.size])
    with pytest.raises(FileFormatError, match="no sections"):
        load(tmp_path / "net")


def test_predictors_say_the_same(mlp, tmp_path):
    data = bytearray(content(mlp))
    data[len(data) // 2] ^= 4
    (tmp_path / "net.so").write_bytes(data)
    with pytest.raises(FileFormatError, match="its checksum is not that of its content"):
        inference.create_predictor(inference.Config(str(tmp_path / "net.so")))

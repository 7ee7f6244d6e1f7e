"""Machine code on disk: found again, never stale, damaged files built anew, its folder kept small and private."""

import os

import numpy as np
import pytest

from tests.codegen.test_pointwise import block_of
from vitrify.codegen import native
from vitrify.codegen.disk_cache import cached_code
from vitrify.core.config import flags_guard


@pytest.fixture
def folder(tmp_path):
    with flags_guard({"cache_mb": 1, "cache_dir": str(tmp_path)}):
        yield tmp_path / "kernels"


def built(log, code=b"code"):
    """A builder that notes that it was asked."""

    def build():
        log.append(code)
        return code

    return build


def test_code_is_built_once(folder):
    log = []
    assert [cached_code("a", built(log)) for _ in range(3)] == [b"code"] * 3
    assert len(log) == 1 and len(list(folder.iterdir())) == 1


def test_another_text_is_another_file(folder):
    log = []
    cached_code("a", built(log))
    assert cached_code("b", built(log, b"other")) == b"other" and len(log) == 2


@pytest.mark.parametrize("damage", [b"", b"short", b"vitrify kernel 1\n" + bytes(32) + b"cod"])
def test_a_damaged_file_is_built_anew(folder, damage):
    log = []
    cached_code("a", built(log))
    (path,) = folder.iterdir()
    path.write_bytes(damage)
    assert cached_code("a", built(log)) == b"code" and len(log) == 2
    assert cached_code("a", built(log)) == b"code" and len(log) == 2


def test_a_file_under_another_name_is_not_taken(folder):
    cached_code("a", built([]))
    (path,) = folder.iterdir()
    cached_code("b", built([], b"other"))
    (other,) = [p for p in folder.iterdir() if p != path]
    other.write_bytes(path.read_bytes())
    assert cached_code("b", built([], b"other")) == b"other"


def test_what_was_not_used_for_longest_goes_first(folder):
    names = [f"{i}" for i in range(6)]
    for i, name in enumerate(names):
        cached_code(name, built([], name.encode() * (200 << 10)))
        for path in folder.iterdir():  # as if the others were made long ago
            found = path.stat()
            os.utime(path, (found.st_atime, found.st_mtime - 1000 + i))
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 1 << 20
    log = []
    cached_code("5", built(log, b"5"))
    cached_code("0", built(log, b"0"))
    assert log == [b"0"]


def test_the_folder_is_looked_at_when_it_may_be_full_and_stays_below_the_limit(folder, monkeypatch):
    looks, scan = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or scan(path))
    for i in range(200):
        cached_code(f"{i}", built([], b"x" * (20 << 10)))
        assert sum(os.path.getsize(folder / name) for name in os.listdir(folder)) <= 1 << 20
    assert looks.count(folder) < 100  # nearly full, each look finds less room


def test_without_a_folder_to_trust_nothing_is_kept(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o777)  # others may write there
    log = []
    for _ in range(2):
        cached_code("a", built(log))
    assert len(log) == 2 and not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_costs_time_alone(tmp_path):
    (tmp_path / "file").write_text("")
    log = []
    with flags_guard({"cache_mb": 1, "cache_dir": str(tmp_path / "file")}):
        assert cached_code("a", built(log)) == b"code"


def test_kernels_come_from_the_disk(folder, monkeypatch):
    block = block_of(lambda x: x * 3.0625 - 1, ([3], "float32"))
    x = np.arange(3, dtype="float32")
    wanted = native.compiled(block)(x)[0]
    native._KERNELS.clear()

    def refuse(ir):
        raise AssertionError("was on disk")

    monkeypatch.setattr(native, "object_code", refuse)
    assert np.array_equal(native.compiled(block)(x)[0], wanted)

"""Products by tiles are used where the CPU has them, the system permits it, and a trial found them right and faster."""

import mmap
import os
import sys
import time

import numpy as np
import pytest

from tests.codegen.test_own_products import both_ways, dense, numbers, product, sixteen_bits
from tests.codegen.test_whole import eagerly, program_of
from vitrify.codegen import amx, gemm_amx, llvm, trial
from vitrify.codegen.native import loaded
from vitrify.codegen.own_products import own_gemm, tile_gemm
from vitrify.core.config import flags_guard

HAS_NOT = bool(llvm.why_not_here()) or not llvm.host().is_x86 or not hasattr(os, "fork")
pytestmark = pytest.mark.skipif(HAS_NOT, reason="no CPU that could have tiles")
BF16 = sixteen_bits("bfloat16")
CASES = [(8, 8, 8), (33, 17, 5)]
PARAMETERS = "i64 %m, i64 %n, i64 %k, ptr %a, i64, i64, ptr, i64, i64, ptr %c, i64, ptr, ptr, ptr, ptr, ptr"


def emulated():
    return trial.Product(gemm_amx.address(is_emulated=True), gemm_amx.scratch_bytes)


def written(name, body):
    """A product that does this instead."""
    text = f"declare void @llvm.trap()\ndefine i32 @{name}({PARAMETERS}) {{\nentry:\n{body}\n}}"
    return trial.Product(loaded(text, (name,)).addresses[name], lambda m, n, k: 0)


def always():
    return True


# -- a trial -----------------------------------------------------------------------------------------------------------


def test_a_product_is_compared_with_another():
    found = trial.ratios(emulated(), emulated(), CASES, always)
    assert len(found) == 2 and all(0 < ratio < 50 for ratio in found)


def test_one_that_is_slower_is_found_to_be():
    class Slow(trial.Product):
        @property
        def function(self):
            known = super().function
            return lambda *given: (time.sleep(0.002 if given[1] else 0), known(*given))

    (found,) = trial.ratios(Slow(*emulated()), emulated(), [(8, 8, 8)], always)
    assert found > 2


@pytest.mark.parametrize("name, body", [
    ("stops", "call void @llvm.trap()\nunreachable"),
    ("reads_nowhere", "%x = load volatile i32, ptr inttoptr (i64 8 to ptr)\nret i32 %x"),
    ("computes_nothing", "ret i32 0"),
    ("computes_something_else", "store i16 32704, ptr %c\nret i32 0"),
])  # fmt: skip
def test_one_that_ends_the_process_or_is_wrong_is_not_used(name, body, capfd):
    assert trial.ratios(written(name, body), emulated(), CASES, always) is None
    assert capfd.readouterr() == ("", "")


def test_one_that_may_not_be_used_never_runs():
    stops = written("stops", "call void @llvm.trap()\nunreachable")
    assert trial.ratios(stops, emulated(), CASES, lambda: False) is None

    def fails():
        raise OSError("no such call")

    assert trial.ratios(emulated(), emulated(), CASES, fails) is None


def test_one_that_hangs_decides_nothing(monkeypatch):
    monkeypatch.setattr(trial, "_DEADLINE", 0.05)
    hangs = written("hangs", "br label %again\nagain:\nbr label %again")
    with pytest.raises(trial.Undecided):
        trial.ratios(hangs, emulated(), CASES, always)


@pytest.mark.parametrize("error", [OSError("too many processes"), RuntimeError("not in subinterpreters")])
def test_no_process_decides_nothing(monkeypatch, error):
    def fork():
        raise error

    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(trial.Undecided):
        trial.ratios(emulated(), emulated(), CASES, always)


def test_the_process_is_another_one():
    note = mmap.mmap(-1, 8)

    def noted():
        note[:8] = os.getpid().to_bytes(8, "little")
        return True

    assert trial.ratios(emulated(), emulated(), CASES, noted) is not None
    assert int.from_bytes(note[:8], "little") not in (0, os.getpid())


# -- what follows from it ----------------------------------------------------------------------------------------------


@pytest.fixture
def with_tiles(monkeypatch, tmp_path):
    """As if the CPU had tiles and the system permitted them; how often there was a trial, and what it is to find."""
    tried = []

    def ratios(by_tiles, by_pairs, cases, prepare):
        tried.append(cases)
        if isinstance(ratios.found, Exception):
            raise ratios.found
        return ratios.found and [*ratios.found, *[1.0] * (len(cases) - len(ratios.found))]

    ratios.found, ratios.tried = [0.5] * 6, tried
    monkeypatch.setattr(llvm.host(), "has_amx", True)
    monkeypatch.setattr(amx, "ratios", ratios)
    monkeypatch.setattr(amx, "is_permitted", always)
    emulated_address = gemm_amx.address(is_emulated=True)
    monkeypatch.setattr(gemm_amx, "address", lambda is_emulated=False: emulated_address)
    amx.measured.cache_clear()
    with flags_guard({"cache_dir": str(tmp_path), "cache_mb": 16}):
        yield ratios
    amx.measured.cache_clear()


def test_kinds_of_products_are_used_where_they_were_faster(with_tiles):
    with_tiles.found = [1.2, 0.5, 0.97, 0.9, 2.0, 0.4]
    sizes = [(1, 512, 512), (512, 1, 512), (512, 512, 8), (40, 40, 40), (128, 64, 128), (512, 512, 512)]
    assert [amx.kind_of(*s) for s in sizes] == ["rows", "columns", "inner", "small", "middle", "large"]
    assert [amx.suits(*s) for s in sizes] == [False, True, False, True, False, True]
    assert len(with_tiles.tried) == 1


def test_products_of_bfloat16_take_them(with_tiles, monkeypatch):
    assert own_gemm(256, 256, 256, BF16, None) == tile_gemm(is_emulated=True)
    for limit, obeyed in (("AVX512_CORE_BF16", True), ("avx2", True), ("AVX512_CORE_AMX", False), ("default", False)):
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
        assert (own_gemm(256, 256, 256, BF16, None) != tile_gemm(is_emulated=True)) == obeyed
    assert own_gemm(256, 256, 256, np.dtype(np.float32), None) != tile_gemm(is_emulated=True)


def test_a_trial_is_kept_on_disk(with_tiles):
    assert amx.suits(256, 256, 256)
    amx.measured.cache_clear()
    assert amx.suits(256, 256, 256) and len(with_tiles.tried) == 1
    amx.measured.cache_clear()
    with flags_guard({"cache_mb": 0}):
        assert amx.suits(256, 256, 256) and len(with_tiles.tried) == 2


@pytest.mark.parametrize("found, tried_again", [(None, False), (trial.Undecided("no process"), True)])
def test_a_trial_that_failed_is_kept_unless_there_was_none(with_tiles, found, tried_again):
    with_tiles.found = found
    assert not amx.suits(256, 256, 256)
    amx.measured.cache_clear()
    assert not amx.suits(256, 256, 256) and len(with_tiles.tried) == 1 + tried_again


def test_a_system_that_refuses_is_believed(with_tiles, monkeypatch):
    monkeypatch.setattr(amx, "is_permitted", lambda: False)
    assert not amx.suits(256, 256, 256)


def test_there_is_no_trial_without_the_instructions(with_tiles, monkeypatch):
    monkeypatch.setattr(llvm.host(), "has_amx", False)
    assert not amx.suits(256, 256, 256)
    monkeypatch.setattr(llvm.host(), "has_amx", True)
    amx.measured.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not amx.suits(256, 256, 256) and not with_tiles.tried


@pytest.mark.skipif(sys.platform != "linux", reason="the request is Linux's")
def test_the_request_is_answered():
    """A CPU without tiles has no state of them that could be asked for."""
    if not llvm.host().has_amx:
        assert not amx.is_permitted()
    else:
        assert amx.is_permitted() in (True, False)


CALLS = [
    (dense, (200, 300), (300, 170), (170,)), (dense, (2, 3, 31), (31, 17), (17,)), (dense, (300, 70), (70, 100), (1,)),
    (dense, (1, 1), (1, 1), (1,)), (dense, (64, 1030), (1030, 65), (65,)), (both_ways, (40, 40), (40, 40)),
    (both_ways, (2, 3, 64, 64), (2, 3, 64, 64)), (product, (3, 0), (0, 5)), (product, (0, 4), (4, 5)),
    (product, (2, 3, 130, 20), (3, 20, 90)),
]  # fmt: skip


@pytest.mark.parametrize("fn, shapes", [(fn, shapes) for fn, *shapes in CALLS])
def test_programs_have_the_same_numbers(with_tiles, fn, shapes):
    """Products of all layouts, stacks, a bias, and parts for several threads."""
    arrays = [numbers(*shape).astype(BF16) for shape in shapes]
    found = program_of(fn, *[(a.shape, "bfloat16") for a in arrays])(arrays)
    for out, wanted in zip(found, eagerly(fn, *arrays), strict=True):
        assert out.dtype == BF16 and out.shape == wanted.shape
        np.testing.assert_allclose(out.astype("f4"), wanted.astype("f4"), rtol=2.0**-7, atol=1e-4)
    assert with_tiles.tried or 0 in shapes[0]

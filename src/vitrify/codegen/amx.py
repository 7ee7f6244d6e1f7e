"""Whether products of bfloat16 go by tiles (`gemm_amx.py`) on this machine: where the CPU has them, the system permits
them, a trial found their numbers right, and for sizes at which it found them faster than pairs.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import platform
import sys
from typing import Any

from ..core.config import may_use_amx
from . import gemm_amx, gemm_bf16
from .disk_cache import cached_code
from .llvm import COMPILER, Target, host
from .matrix_tiles import AmxTiles
from .trial import Product, Undecided, ratios

# arch_prctl(2): ask for the state of tiles, which is larger than a signal's frame used to be.
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18
# Sizes at which the two are compared, each for products of its kind; the last ones are for their numbers alone.
_KINDS = {"rows": (4, 256, 256), "columns": (256, 4, 256), "inner": (256, 256, 8), "small": (32, 32, 32),
          "middle": (128, 64, 128), "large": (256, 256, 256)}  # fmt: skip
_CHECKED = ((37, 45, 70), (33, 65, 1030), (1, 1, 1))
# Sizes that fill less than half of a tile, multiplications up to which a product is small, and up to which middle.
_FEW, _FEW_INNER, _SMALL, _MIDDLE = 8, 16, 1 << 17, 1 << 22
# The share of the time from which on it was no chance.
_FASTER = 0.95


def suits(m: int, n: int, k: int) -> bool:
    """Whether a product of these sizes goes by tiles."""
    found = measured() if may_use_amx() else None
    return found is not None and found[kind_of(m, n, k)] < _FASTER


def kind_of(m: int, n: int, k: int) -> str:
    """Which of the measured products is most like one of these sizes."""
    if m <= _FEW:
        return "rows"
    if n <= _FEW:
        return "columns"
    if k <= _FEW_INNER:
        return "inner"
    work = m * n * k
    return "small" if work <= _SMALL else "middle" if work <= _MIDDLE else "large"


def is_possible(target: Target) -> bool:
    """Whether the CPU and the kind of system are such that a trial is worth its time."""
    return target.has_amx and sys.platform == "linux" and hasattr(os, "fork")


def is_permitted() -> bool:
    """Ask Linux to let this process use tiles: all threads of it, those that are there already included, and the
    processes that it forks. A system that knows nothing of them, or has reasons against it, refuses.
    """
    return bool(_system_call()(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0)


@functools.lru_cache(maxsize=1)
def _system_call() -> Any:
    call = ctypes.CDLL(None).syscall
    call.restype, call.argtypes = ctypes.c_long, [ctypes.c_long] * 3
    return call


@functools.lru_cache(maxsize=1)
def measured() -> dict[str, float] | None:
    """For each kind of product the time by tiles over that by pairs; None where tiles are not to be used."""
    if not is_possible(host()):
        return None
    ir = gemm_amx.gemm_ir(AmxTiles()) + gemm_bf16.gemm_ir()
    made_from = f"trial of tiles\n{host().identity}\n{COMPILER}\n{platform.release()}\n{ir}"
    try:
        known = json.loads(cached_code(made_from, _tried))
    except Undecided:
        return None
    return dict(zip(_KINDS, known)) if known is not None and is_permitted() else None


def _tried() -> bytes:
    """What a trial finds, as it is kept on disk."""
    _system_call()  # a forked process had better not look for it: another thread may have been loading a library
    by_tiles = Product(gemm_amx.address(), gemm_amx.scratch_bytes)
    by_pairs = Product(gemm_bf16.address(), gemm_bf16.scratch_bytes)
    return json.dumps(ratios(by_tiles, by_pairs, [*_KINDS.values(), *_CHECKED], is_permitted)).encode()


__all__ = ["is_permitted", "is_possible", "kind_of", "measured", "suits"]

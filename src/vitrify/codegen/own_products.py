"""When whole programs multiply matrices by code of our own (`gemm.py`) and not by BLAS."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from . import amx, gemm, gemm_amx, gemm_bf16
from .emit import BFLOAT16, FLOAT32, Dtype
from .llvm import host
from .native import loaded
from .team import Team

# Multiplications of a product from which on ours was no slower where it was measured, on one thread with AVX-512: twice
# as fast as OpenBLAS's kernels for AVX2, level with those for AVX-512, and a step of an LSTM, whose products have few
# rows, takes 0.76 of the time. Above the second number BLAS uses all threads, and ours has one. With AVX2 ours takes
# 0.85 to 1 of OpenBLAS's time. Teams share ours: threads of OpenBLAS and those of a team wait for each other, and a
# step of GPT took many times as long on a busy machine.
_LEAST, _MOST = 1 << 16, 1 << 23
# The same with AVX2, whose tiles are half as wide: from a thousand multiplications on ours takes 0.3 to 1 of the time
# of OpenBLAS's, which copies both matrices even of the smallest products.
_LEAST_OF_NARROW_VECTORS = 1 << 10
# Columns below which most of a vector would be idle: with AVX-512 256 x 10 from 128 takes BLAS half of our time, and
# with AVX2 256 x 8 does.
_NARROW, _NARROW_OF_NARROW_VECTORS = 16, 9
# The least that vectors have where products were measured: AVX2.
_BYTES = 32
# What vectors have with AVX-512, and the multiplications of a product with windows from which on BLAS, which is given
# the windows as a matrix, is the better one without it: between those of ResNet-18 for eight images of 64 x 64 (75
# million, whose step takes 0.7 of the time) and for one of 224 x 224 (115 million, which takes 1.1 to 1.5 times that).
_WIDE_BYTES, _MOST_OF_WINDOWS = 64, 96 << 20
_DTYPES = (FLOAT32,)


class OwnGemm(NamedTuple):
    """The address of the function, and the bytes of working memory that a product of given sizes needs; the address of
    the function that packs the second matrix, and the bytes of that; 0 where there is none. adds: whether it can, to
    what the result's memory has. grain: multiples of which parts of the rows begin at.
    """

    address: int
    scratch: Callable[[int, int, int], int]
    pack: int = 0
    packed: Callable[[int, int], int] = lambda n, k: 0
    adds: bool = False
    grain: int = 24


def own_gemm(m: int, n: int, k: int, dtype: Dtype, team: Team | None) -> OwnGemm | None:
    """Our function for a product of these sizes; None where BLAS is the better one, or it was not measured."""
    if dtype == BFLOAT16:  # BLAS has none
        return tile_gemm() if amx.suits(m, n, k) else any_gemm(dtype)
    is_wide = host().vector_bytes >= _WIDE_BYTES
    narrow, least = (_NARROW, _LEAST) if is_wide else (_NARROW_OF_NARROW_VECTORS, _LEAST_OF_NARROW_VECTORS)
    if n < narrow or m * n * k < least or (team is None and m * n * k > _MOST):
        return None
    return any_gemm(dtype)


def any_gemm(dtype: Dtype) -> OwnGemm | None:
    """Our function for products of any size; None where it was not measured."""
    target = host()
    if dtype == BFLOAT16:
        return OwnGemm(gemm_bf16.address(), gemm_bf16.scratch_bytes) if target.has_bf16_pairs else None
    if dtype not in _DTYPES or not target.is_x86 or target.vector_bytes < _BYTES:
        return None
    shape = gemm.shape_of(dtype, target)
    product, pack = _addresses(dtype)
    return OwnGemm(
        product, lambda m, n, k: gemm.scratch_bytes(m, n, k, shape), pack, lambda n, k: gemm.packed_bytes(n, k, shape),
        adds=True,
    )  # fmt: skip


def window_gemm(m: int, n: int, k: int, dtype: Dtype) -> OwnGemm | None:
    """Our function for products of these sizes that gather blocks of windows; None where BLAS is the better one."""
    if host().vector_bytes < _WIDE_BYTES and m * n * k > _MOST_OF_WINDOWS:
        return None
    return any_gemm(dtype)


@functools.lru_cache(maxsize=len(_DTYPES))
def _addresses(dtype: Dtype) -> tuple[int, int]:
    shape = gemm.shape_of(dtype, host())
    names = gemm.name_of(dtype), gemm.pack_name_of(dtype)
    text = "\n\n".join([*gemm.gemm_ir(shape).values(), *gemm.declarations(shape)])
    addresses = loaded(text, names).addresses
    return addresses[names[0]], addresses[names[1]]


def tile_gemm(is_emulated: bool = False) -> OwnGemm:
    """Our function for products of bfloat16 by tiles; emulated, it runs on any CPU."""
    return OwnGemm(gemm_amx.address(is_emulated), gemm_amx.scratch_bytes, grain=gemm_amx.GRAIN)


__all__ = ["OwnGemm", "any_gemm", "own_gemm", "tile_gemm", "window_gemm"]

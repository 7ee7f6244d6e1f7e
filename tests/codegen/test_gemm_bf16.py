"""Products of bfloat16 against float64: every size, layout and step, and nothing outside of the arrays.

By pairs, and by tiles as they are emulated or as the CPU has them.
"""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.test_gemm import GUARD, SIGNATURE, SIZES, laid_out
from tests.codegen.test_pointwise import guarded
from vitrify.codegen import amx, gemm_amx, gemm_bf16, llvm

BF16 = np.dtype(ml_dtypes.bfloat16)
pytestmark = pytest.mark.skipif(bool(llvm.why_not_here()), reason="nothing can be compiled here")


class Gemm:
    """A function for products, and its working memory."""

    def __init__(self, address, scratch):
        self.call = ctypes.CFUNCTYPE(ctypes.c_int32, *SIGNATURE)(address)
        self.scratch = scratch


def forms():
    """Those that this CPU has the instructions for, and the emulation."""
    target = None if llvm.why_not_here() else llvm.host()
    pairs = [gemm_bf16] if target and target.has_bf16_pairs else []
    return [*pairs, gemm_amx, *(["tiles"] if target and amx.is_possible(target) and amx.measured() else [])]


@pytest.fixture(scope="module", params=forms(), ids=lambda form: getattr(form, "NAME", form))
def function(request):
    if request.param is gemm_amx:
        return Gemm(gemm_amx.address(is_emulated=True), gemm_amx.scratch_bytes)
    if request.param is gemm_bf16:
        return Gemm(gemm_bf16.address(), gemm_bf16.scratch_bytes)
    return Gemm(gemm_amx.address(), gemm_amx.scratch_bytes)


def multiplied(function, a, b, bias=None):
    """a b, with memory around the result and the scratch memory that must stay as it is."""
    (m, k), n = a.shape, b.shape[1]
    room = np.full((m, n + 3), 7, BF16)
    size = function.scratch(m, n, k)
    scratch = np.full(size + GUARD, 99, np.uint8)
    function.call(
        m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, room.ctypes.data, room.strides[0],
        scratch.ctypes.data, None, None, None, None if bias is None else bias.ctypes.data,
    )  # fmt: skip
    assert (scratch[size:] == 99).all()
    assert (room[:, n:] == 7).all()
    return room[:, :n]


def check(function, a, b, bias=None):
    found = multiplied(function, a, b, bias).astype(np.float64)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    exact = wide_a @ wide_b + (0 if bias is None else bias.astype(np.float64))
    slack = np.abs(wide_a) @ np.abs(wide_b) * 1e-5
    assert (np.abs(found - exact) <= np.abs(exact) * 2.0**-8 + slack).all()


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(BF16)


LIES = st.sampled_from(["rows", "columns", "sparse"])


@settings(max_examples=150, deadline=None)
@given(m=SIZES, n=SIZES, k=SIZES.filter(bool), lie_a=LIES, lie_b=LIES, has_bias=st.booleans(), seed=st.integers(0, 9))
def test_products(function, m, n, k, lie_a, lie_b, has_bias, seed):
    rng = np.random.default_rng(seed)
    a, b = laid_out(numbers(rng, m, k), lie_a), laid_out(numbers(rng, k, n), lie_b)
    check(function, a, b, numbers(rng, n) if has_bias else None)


@pytest.mark.parametrize("k", [512, 513, 1030])
@pytest.mark.parametrize("lie", ["rows", "columns"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_blocks_of_all_kinds(function, k, lie, has_bias):
    rng = np.random.default_rng(0)
    a, b = numbers(rng, 205, k), numbers(rng, k, 1100)
    check(function, laid_out(a, lie), laid_out(b, lie), numbers(rng, 1100) if has_bias else None)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (13, 33, 7), (12, 32, 8), (5, 47, 3), (29, 65, 515)])
@pytest.mark.parametrize("lie", ["rows", "columns"])
def test_nothing_beside_the_arrays_is_touched(function, sizes, lie):
    m, n, k = sizes
    rng = np.random.default_rng(0)
    (a, kept_a), (b, kept_b), (bias, kept_bias), (c, kept_c), (scratch, kept) = (
        guarded(count, dtype)
        for count, dtype in ((m * k, BF16), (k * n, BF16), (n, BF16), (m * n, BF16),
                             (function.scratch(m, n, k), np.uint8))
    )  # fmt: skip
    order = "C" if lie == "rows" else "F"
    a, b = a.reshape(m, k, order=order), b.reshape(k, n, order=order)
    a[:], b[:], bias[:] = numbers(rng, m, k), numbers(rng, k, n), numbers(rng, n)
    function.call(
        m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, 2 * n, scratch.ctypes.data,
        None, None, None, bias.ctypes.data,
    )  # fmt: skip
    assert np.array_equal(c.reshape(m, n).view(np.uint16), multiplied(function, a, b, bias).view(np.uint16))
    del kept_a, kept_b, kept_bias, kept_c, kept


def test_infinities_and_nan_stay_in_their_rows(function):
    a, b = np.ones((5, 5), BF16), np.ones((5, 40), BF16)
    a[2, 1], a[3, 0], a[4, 4] = np.nan, np.inf, -np.inf
    found = multiplied(function, a, b).astype(np.float32)
    assert np.isnan(found[2]).all()
    assert (found[3] == np.inf).all() and (found[4] == -np.inf).all()
    assert (found[:2] == 5).all()


def test_sums_are_rounded_once_to_the_even_neighbour(function):
    a = np.array([[256, 1], [256, 3], [258, 1]], BF16)
    assert multiplied(function, a, np.ones((2, 1), BF16))[:, 0].tolist() == [256, 260, 260]


def test_the_smallest_numbers_count_as_zeros(function):
    tiny = np.array([[1e-39, 2.0**-126]], BF16)
    assert tiny[0, 0] != 0
    assert multiplied(function, tiny, np.eye(2, dtype=BF16)).astype(np.float32).tolist() == [[0.0, 2.0**-126]]

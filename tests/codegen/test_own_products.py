"""Matrix products of middle size in whole programs: by code of our own where the CPU suits, and right everywhere."""

import ml_dtypes
import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import eagerly, numbers, program_of
from vitrify.codegen import blas
from vitrify.codegen.llvm import host
from vitrify.codegen.own_products import own_gemm
from vitrify.codegen.team import Team, has_teams

SUITS = host().is_x86 and host().vector_bytes >= 32
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def product(x, y):
    return paddle.matmul(x, y) * 1


def check(x, y, program=None):
    program = program or program_of(product, *[(a.shape, a.dtype.name) for a in (x, y)])
    (found,) = program([x, y])
    wanted = x.astype("float64") @ y.astype("float64")
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-4)
    return program


SIZES = [(64, 64, 64), (33, 65, 70), (1, 300, 300), (300, 1, 300), (13, 400, 15), (255, 31, 9)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sizes_around_tiles_and_vectors(sizes, dtype):
    m, n, k = sizes
    x, y = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype)
    program = check(x, y)
    check(np.asfortranarray(x), y, program)
    check(x, np.asfortranarray(y), program)
    check(np.asfortranarray(x), np.asfortranarray(y), program)


def test_parts_of_larger_arrays_and_stacks():
    x, y = numbers(100, 130), numbers(130, 90)
    check(x[:, 10:110], y[10:110])
    check(x[::2, 10:110], y[10:110, 3:80])
    check(numbers(3, 40, 50), numbers(3, 50, 60))
    check(numbers(2, 3, 40, 50), numbers(50, 60))
    check(numbers(2, 3, 40, 50), numbers(3, 50, 60))
    check(numbers(3, 50, 40).swapaxes(1, 2), numbers(1, 50, 60))


def test_what_is_no_number_goes_on():
    x, y = numbers(64, 64), numbers(64, 64)
    x[3, 5], x[7, 0], y[9, 9] = np.nan, np.inf, -np.inf
    (found,) = program_of(product, *[(a.shape, "float32") for a in (x, y)])([x, y])
    with np.errstate(invalid="ignore"):
        wanted = x @ y
    assert np.array_equal(np.isnan(found), np.isnan(wanted)) and np.array_equal(np.isinf(found), np.isinf(wanted))


def test_nothing_beside_the_arrays_is_touched():
    (x, kept_x), (y, kept_y) = guarded(67 * 45, "float32"), guarded(45 * 53, "float32")
    x[:], y[:] = numbers(67 * 45), numbers(45 * 53)
    check(x.reshape(67, 45), y.reshape(45, 53))
    del kept_x, kept_y


def test_which_are_ours():
    """Middle sizes of the dtype that was measured, on the kind of CPU that was; BLAS has all others."""
    assert (own_gemm(64, 64, 64, F32, None) is not None) == SUITS
    for sizes in ((4, 4, 4), (64, 8, 64), (1024, 1024, 1024)):
        assert own_gemm(*sizes, F32, None) is None
    # Small ones have full tiles where vectors are narrow.
    assert (own_gemm(16, 16, 16, F32, None) is not None) == (SUITS and host().vector_bytes < 64)
    assert own_gemm(64, 64, 64, F64, None) is None and F64 in blas.DTYPES


@pytest.mark.skipif(not has_teams(), reason="threads cannot wait in machine code here")
def test_large_ones_are_ours_where_a_team_shares_them():
    """Threads of BLAS and those of a team would wait for each other."""
    assert (own_gemm(1024, 1024, 1024, F32, Team(2)) is not None) == SUITS


def sixteen_bits(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def dense(x, w, b):
    return paddle.nn.functional.linear(x, w, b) * 1


def both_ways(x, y):
    return paddle.matmul(x, y, transpose_y=True) * 1, paddle.matmul(x, y, transpose_x=True, transpose_y=False) * 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("is_ours", [True, False])
def test_products_of_16_bits(dtype, is_ours, monkeypatch):
    """By pairs where the CPU can, else by way of float32: rounded once, the bias included, as eager code does."""
    if not is_ours:
        monkeypatch.setattr("vitrify.codegen.assembler.any_gemm", lambda dtype: None)
    kind, one_step = sixteen_bits(dtype), 2.0**-7 if dtype == "bfloat16" else 2.0**-10
    cases = [
        (product, (33, 65), (65, 70)), (product, (1, 1), (1, 1)), (product, (7, 3), (3, 1)), (product, (3, 0), (0, 5)),
        (product, (0, 4), (4, 5)), (product, (2, 3, 13, 20), (3, 20, 9)), (product, (4, 6, 8), (8, 5)),
        (dense, (13, 31), (31, 17), (17,)), (dense, (2, 3, 31), (31, 17), (17,)), (dense, (31,), (31, 17), (17,)),
        (dense, (13, 31), (31, 17), (1,)), (dense, (13, 0), (0, 17), (17,)), (both_ways, (24, 24), (24, 24)),
    ]  # fmt: skip
    for fn, *shapes in cases:
        arrays = [numbers(*shape).astype(kind) for shape in shapes]
        found = program_of(fn, *[(a.shape, dtype) for a in arrays])(arrays)
        for out, wanted in zip(found, eagerly(fn, *arrays), strict=True):
            assert out.dtype == wanted.dtype == kind and out.shape == wanted.shape
            np.testing.assert_allclose(out.astype("f4"), wanted.astype("f4"), rtol=one_step, atol=1e-5)


def test_large_products_of_bfloat16_are_shared_among_threads():
    kind = sixteen_bits("bfloat16")
    for m, n, k in ((200, 300, 70), (300, 100, 130)):
        x, w, b = (numbers(*shape).astype(kind) for shape in ((m, k), (k, n), (n,)))
        (found,) = program_of(dense, *[(a.shape, "bfloat16") for a in (x, w, b)])([x, w, b])
        (wanted,) = eagerly(dense, x, w, b)
        np.testing.assert_allclose(found.astype("f4"), wanted.astype("f4"), rtol=2.0**-7, atol=1e-4)


@pytest.mark.parametrize("rows", [1, 3, 13, 40])
@pytest.mark.parametrize("columns", [9, 16, 33, 70])
def test_a_bias_is_what_columns_begin_with(rows, columns):
    for shapes in (((rows, 64), (64, columns), (columns,)), ((rows, 64), (64, columns), (1,)),
                   ((2, rows, 300), (300, columns), (columns,))):  # fmt: skip
        x, w, b = (numbers(*s) for s in shapes)
        (found,) = program_of(dense, *[(a.shape, "float32") for a in (x, w, b)])([x, w, b])
        np.testing.assert_allclose(found, eagerly(dense, x, w, b)[0], rtol=2e-5, atol=2e-4)

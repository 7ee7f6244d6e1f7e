"""Matrix products of middle size in whole programs: by code of our own where the CPU suits, and right everywhere."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import numbers, program_of
from vitrify.codegen import blas
from vitrify.codegen.llvm import host
from vitrify.codegen.own_products import own_gemm

SUITS = host().is_x86 and host().vector_bytes >= 64
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
    for sizes in ((4, 4, 4), (16, 16, 16), (1024, 1024, 1024)):
        assert own_gemm(*sizes, F32, None) is None
    assert own_gemm(64, 64, 64, F64, None) is None and F64 in blas.DTYPES

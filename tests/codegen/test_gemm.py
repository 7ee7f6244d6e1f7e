"""Matrix products of our own against NumPy's: every size, layout and step, and nothing outside of the arrays."""

import ctypes
import itertools
import mmap
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitrify.codegen import gemm, llvm
from vitrify.codegen.native import loaded
from vitrify.codegen.pointwise import attributes

pytestmark = pytest.mark.skipif(bool(llvm.why_not_here()), reason="nothing can be compiled here")
WORD, POINTER = ctypes.c_int64, ctypes.c_void_p
SIGNATURE = [WORD] * 3 + [POINTER, WORD, WORD] * 2 + [POINTER, WORD] + [POINTER] * 5
SIZES = st.sampled_from([0, 1, 2, 3, 5, 7, 12, 13, 16, 17, 31, 32, 33, 47, 64, 127, 257])
GUARD = 64


def product_of(dtype, level="host"):
    """(the shape of its tiles, the function) for a dtype."""
    target = llvm.target_of(level)
    shape = gemm.shape_of(np.dtype(dtype), target)
    name = gemm.name_of(shape.dtype)
    text = "\n\n".join([*gemm.gemm_ir(shape).values(), *gemm.declarations(shape), attributes(target)])
    return shape, ctypes.CFUNCTYPE(ctypes.c_int32, *SIGNATURE)(loaded(text, (name,)).addresses[name])


def multiplied(compiled, a, b, tables=None, bias=None, along=None):
    """a b by machine code, with memory around the result and the scratch memory that must stay as it is."""
    shape, function = compiled
    m, k = a.shape
    n = b.shape[1] if tables is None else len(tables[1])
    room = np.full((m, n + 3), 7, a.dtype)
    size = gemm.scratch_bytes(m, n, k, shape)
    scratch = np.full(size + GUARD, 99, np.uint8)
    offsets = [None, None] if tables is None else [t.ctypes.data for t in tables]
    function(
        m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides[-2:], room.ctypes.data, room.strides[0],
        scratch.ctypes.data, *offsets, *[None if x is None else x.ctypes.data for x in (bias, along)],
    )  # fmt: skip
    assert (scratch[size:] == 99).all()
    assert (room[:, n:] == 7).all()
    return room[:, :n]


def laid_out(array, how):
    """The same elements, lying otherwise."""
    if how == "columns":
        return np.asfortranarray(array)
    if how == "sparse":
        return np.repeat(np.repeat(array, 2, 0), 3, 1)[::2, ::3]
    return array


@pytest.fixture(scope="module")
def products():
    return {dtype: product_of(dtype) for dtype in ("float32", "float64")}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(max_examples=120, deadline=None)
@given(m=SIZES, n=SIZES, k=SIZES, lie_a=st.sampled_from(["rows", "columns", "sparse"]),
       lie_b=st.sampled_from(["rows", "columns", "sparse"]), seed=st.integers(0, 9))  # fmt: skip
def test_products(products, dtype, m, n, k, lie_a, lie_b, seed):
    rng = np.random.default_rng(seed)
    a = laid_out(rng.standard_normal((m, k)).astype(dtype), lie_a)
    b = laid_out(rng.standard_normal((k, n)).astype(dtype), lie_b)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(multiplied(products[dtype], a, b), exact, atol=tolerance * max(k, 1) ** 0.5 * 4)


def test_blocks_of_all_kinds(products):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((205, 523)).astype("float32"), rng.standard_normal((523, 1100)).astype("float32")
    for lie in ("rows", "columns"):
        np.testing.assert_allclose(multiplied(products["float32"], a, laid_out(b, lie)), a @ b, atol=1e-3)


@pytest.mark.parametrize("m, n, k", [(3, 5, 0), (1, 40, 9), (205, 70, 523), (13, 33, 256)])
@pytest.mark.parametrize("lie", ["rows", "columns"])
def test_rows_that_begin_with_a_number(products, m, n, k, lie):
    rng = np.random.default_rng(0)
    a, b, bias = (rng.standard_normal(s).astype("float32") for s in ((m, k), (k, n), (m,)))
    found = multiplied(products["float32"], a, laid_out(b, lie), bias=bias)
    np.testing.assert_allclose(found, a @ b + bias[:, None], atol=1e-3)


@pytest.mark.parametrize("m, k", [(1, 3), (5, 256), (192, 10), (207, 523)])
def test_packed_matrices(products, m, k):
    shape, function = products["float32"]
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype("float32"), rng.standard_normal((k, 40)).astype("float32")
    c, scratch = np.empty((m, 40), "float32"), np.empty(gemm.scratch_bytes(m, 40, k, shape), np.uint8)
    ready = gemm.packed(a, shape)
    function(m, 40, k, ready.ctypes.data, -1, 0, b.ctypes.data, *b.strides, c.ctypes.data, 160, scratch.ctypes.data,
             None, None, None, None)  # fmt: skip
    np.testing.assert_allclose(c, a @ b, atol=1e-3)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [9, 16, 37])
def test_elements_at_offsets(products, width, stride):
    rng = np.random.default_rng(0)
    image = rng.standard_normal((3, 9, width)).astype("float32")
    kernel, places = (2, 3), (8, (width - 3) // stride + 1)
    row, plane = 4 * width, 36 * width
    inner = np.array([c * plane + y * row + x * 4 for c in range(3) for y in range(2) for x in range(3)])
    outer = np.array([y * row + x * 4 * stride for y in range(places[0]) for x in range(places[1])])
    weight = rng.standard_normal((13, len(inner))).astype("float32")
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel, (1, 2))[:, :, ::stride].transpose(0, 3, 4, 1, 2)
    found = multiplied(products["float32"], weight, image.reshape(3, -1), (inner, outer))
    np.testing.assert_allclose(found, weight @ windows.reshape(len(inner), -1), atol=1e-4)


@pytest.mark.skipif(llvm.why_not_here() != "" or not llvm.host().is_x86, reason="levels are of x86-64")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_narrower_vectors(level):
    rng = np.random.default_rng(0)
    compiled = product_of("float32", level)
    for m, n, k in ((1, 40, 9), (7, 33, 20), (13, 65, 300)):
        a, b = rng.standard_normal((m, k)).astype("float32"), rng.standard_normal((k, n)).astype("float32")
        np.testing.assert_allclose(multiplied(compiled, a, b), a @ b, atol=1e-4)


def test_infinities_and_nan_stay_in_their_rows(products):
    a, b = np.ones((5, 4), "float32"), np.ones((4, 40), "float32")
    a[2, 1], a[3, 0] = np.nan, np.inf
    found = multiplied(products["float32"], a, b)
    assert np.isnan(found[2]).all()
    assert np.isinf(found[3]).all()
    assert (found[[0, 1, 4]] == 4).all()


@pytest.mark.parametrize("m, n, k", [(3, 5, 0), (1, 40, 9), (205, 70, 523), (13, 33, 256), (30, 1100, 20)])
@pytest.mark.parametrize("lie", ["rows", "columns"])
def test_columns_that_begin_with_a_number(products, m, n, k, lie):
    rng = np.random.default_rng(0)
    a, b, along = (rng.standard_normal(s).astype("float32") for s in ((m, k), (k, n), (n,)))
    found = multiplied(products["float32"], a, laid_out(b, lie), along=along)
    np.testing.assert_allclose(found, a @ b + along, atol=1e-3)


@pytest.mark.parametrize("m, n, k", [(3, 5, 0), (1, 40, 9), (205, 70, 523), (13, 33, 256), (30, 1100, 20), (0, 3, 2)])
@pytest.mark.parametrize("lie", ["rows", "columns", "sparse"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_are_added_to_what_is_there(products, m, n, k, lie, dtype):
    shape, function = products[dtype]
    rng = np.random.default_rng(0)
    a, b, before = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n), (m, n)))
    wanted, a, b, c = before + a @ b, laid_out(a, lie), laid_out(b, lie), fenced(before, True)
    scratch = np.zeros(gemm.scratch_bytes(m, n, k, shape), np.uint8)
    function(m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, c.itemsize * n,
             scratch.ctypes.data, None, None, None, c.ctypes.data)  # fmt: skip
    np.testing.assert_allclose(c, wanted, atol=1e-3)


@pytest.mark.parametrize("m, n, k", [(1, 3, 5), (30, 33, 9), (205, 1100, 523), (13, 2049, 256), (25, 1, 257)])
@pytest.mark.parametrize("lie", ["rows", "columns", "sparse"])
def test_a_second_matrix_that_is_packed_already(products, m, n, k, lie):
    shape, function = products["float32"]
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype("float32"), laid_out(rng.standard_normal((k, n)).astype("float32"), lie)
    size = gemm.packed_bytes(n, k, shape)
    ready = np.full(size + GUARD, 99, np.uint8)
    text = "\n\n".join([*gemm.gemm_ir(shape).values(), *gemm.declarations(shape)])
    name = gemm.pack_name_of(shape.dtype)
    pack = ctypes.CFUNCTYPE(None, WORD, WORD, POINTER, WORD, WORD, POINTER)(loaded(text, (name,)).addresses[name])
    pack(n, k, b.ctypes.data, *b.strides, ready.ctypes.data)
    assert (ready[size:] == 99).all()
    c, scratch = np.empty((m, n), "float32"), np.empty(gemm.scratch_bytes(m, n, k, shape), np.uint8)
    function(m, n, k, a.ctypes.data, *a.strides, ready.ctypes.data, -1, 0, c.ctypes.data, 4 * n, scratch.ctypes.data,
             None, None, None, None)  # fmt: skip
    np.testing.assert_array_equal(c, multiplied(products["float32"], a, b) if m > 24 else c)
    np.testing.assert_allclose(c, a @ b, atol=1e-3)


@pytest.mark.parametrize(
    "m, n, k", [(128, 32, 128), (37, 128, 300), (37, 129, 300), (30, 256, 9), (30, 257, 9), (47, 86, 95)]
)
@pytest.mark.parametrize("lie", ["rows", "columns", "sparse"])
def test_matrices_that_are_read_where_they_lie(products, m, n, k, lie):
    """Sizes around those up to which the first matrix, or a small second one, is not packed."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype("float32"), rng.standard_normal((k, n)).astype("float32")
    for own in (b, laid_out(b, "columns")):
        np.testing.assert_allclose(multiplied(products["float32"], laid_out(a, lie), own), a @ b, atol=1e-3)


def fenced(array, at_end):
    """The same elements with a page beside them that nobody may read: behind the last or before the first."""
    page = mmap.PAGESIZE
    room = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, room + page)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    fence, first = (start + room, room - array.nbytes) if at_end else (start, page)
    assert ctypes.CDLL(None).mprotect(POINTER(fence), ctypes.c_size_t(page), 0) == 0
    found = np.ndarray(array.shape, array.dtype, memory, first)
    found[...] = array
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="mprotect is POSIX's")
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize(
    "m, n, k",
    [(1, 1, 1), (1, 9, 5), (3, 67, 2), (4, 17, 3), (6, 15, 4), (13, 12, 40), (13, 33, 7), (37, 31, 64), (25, 130, 19),
     (37, 300, 257), (97, 64, 128)],
)  # fmt: skip
def test_nothing_outside_of_the_arrays_is_touched(products, m, n, k, at_end):
    shape, function = products["float32"]
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((m, k)).astype("float32"), rng.standard_normal((k, n)).astype("float32")
    scratch = fenced(np.zeros(gemm.scratch_bytes(m, n, k, shape), np.uint8), at_end)
    for lies_a, lies_b in itertools.product((False, True), repeat=2):
        a = fenced(x.T.copy(), at_end).T if lies_a else fenced(x, at_end)
        b = fenced(y.T.copy(), at_end).T if lies_b else fenced(y, at_end)
        c, along = fenced(np.zeros((m, n), "float32"), at_end), fenced(np.ones(n, "float32"), at_end)
        function(m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, 4 * n,
                 scratch.ctypes.data, None, None, None, along.ctypes.data)  # fmt: skip
        np.testing.assert_allclose(c, x @ y + 1, atol=1e-3)

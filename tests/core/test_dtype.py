"""Element types, conversion to them and promotion; the tables were measured on Paddle 3.3.1."""

import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core import dtype as d
from vitrify.core.errors import DTypeError

DTYPES = st.sampled_from(d.ALL)

SHORT = {
    "b1": d.bool_,
    "u1": d.uint8,
    "i1": d.int8,
    "i2": d.int16,
    "i4": d.int32,
    "i8": d.int64,
    "f2": d.float16,
    "bf": d.bfloat16,
    "f4": d.float32,
    "f8": d.float64,
    "c8": d.complex64,
    "c16": d.complex128,
}

# Rows: type of x; columns: type of y, in SHORT's order; "--": Paddle raises TypeError. Both have dimensions.
TENSORS = """
    b1   b1   --   --   --   --   --   --   --   --   --   c8   c16
    u1   --   u1   --   --   --   --   --   --   --   --   c8   c16
    i1   --   --   i1   --   --   --   --   --   --   --   c8   c16
    i2   --   --   --   i2   --   --   --   --   --   --   c8   c16
    i4   --   --   --   --   i4   --   --   --   --   --   c8   c16
    i8   --   --   --   --   --   i8   --   --   --   --   c8   c16
    f2   --   --   --   --   --   --   f2   f4   f4   f8   c8   c16
    bf   --   --   --   --   --   --   f4   bf   f4   f8   c8   c16
    f4   --   --   --   --   --   --   f4   f4   f4   f8   c8   c16
    f8   --   --   --   --   --   --   f8   f8   f8   f8   c16  c16
    c8   c8   c8   c8   c8   c8   c8   c8   c8   c8   c16  c8   c16
    c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16
"""

# y is 0-d. (Paddle's CPU build adds no float16, so row f2 follows bf; its floor_divide alone widens 0-d operands.)
SECOND_0D = """
    b1   b1   u1   i1   i2   i4   i8   f2   bf   f4   f8   c8   c16
    u1   u1   u1   u1   u1   u1   u1   f2   bf   f4   f8   c8   c16
    i1   i1   i1   i1   i1   i1   i1   f2   bf   f4   f8   c8   c16
    i2   i2   i2   i2   i2   i2   i2   f2   bf   f4   f8   c8   c16
    i4   i4   i4   i4   i4   i4   i4   f2   bf   f4   f8   c8   c16
    i8   i8   i8   i8   i8   i8   i8   f2   bf   f4   f8   c8   c16
    f2   f2   f2   f2   f2   f2   f2   f2   f2   f2   f2   c8   c16
    bf   bf   bf   bf   bf   bf   bf   bf   bf   bf   bf   c8   c16
    f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   c8   c16
    f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   c16  c16
    c8   c8   c8   c8   c8   c8   c8   c8   c8   c8   c16  c8   c8
    c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16
"""

BOTH_0D = """
    b1   b1   u1   i1   i2   i4   i8   f2   bf   f4   f8   c8   c16
    u1   u1   u1   i2   i2   i4   i8   f2   bf   f4   f8   c8   c16
    i1   i1   i2   i1   i2   i4   i8   f2   bf   f4   f8   c8   c16
    i2   i2   i2   i2   i2   i4   i8   f2   bf   f4   f8   c8   c16
    i4   i4   i4   i4   i4   i4   i8   f2   bf   f4   f8   c8   c16
    i8   i8   i8   i8   i8   i8   i8   f2   bf   f4   f8   c8   c16
    f2   f2   f2   f2   f2   f2   f2   f2   f4   f4   f8   c8   c16
    bf   bf   bf   bf   bf   bf   bf   f4   bf   f4   f8   c8   c16
    f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f8   c8   c16
    f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   c16  c16
    c8   c8   c8   c8   c8   c8   c8   c8   c8   c8   c16  c8   c16
    c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16  c16
"""

# x + value for Python numbers: True, 1, 1.5, 1j.
SCALARS = """
    b1   b1   i8   f4   c8
    u1   u1   u1   f4   c8
    i1   i1   i1   f4   c8
    i2   i2   i2   f4   c8
    i4   i4   i4   f4   c8
    i8   i8   i8   f4   c8
    f2   f2   f2   f2   c8
    bf   bf   bf   bf   c8
    f4   f4   f4   f4   c8
    f8   f8   f8   f8   c16
    c8   c8   c8   c8   c8
    c16  c16  c16  c16  c16
"""


def rows(table):
    for line in table.strip().splitlines():
        first, *others = line.split()
        yield SHORT[first], others


def test_a_dtype_has_a_name_a_size_and_a_numpy_twin():
    assert (d.float32.name, d.float32.itemsize, d.float32.np) == ("float32", 4, np.float32)
    assert str(d.float32) == repr(d.float32) == "paddle.float32"
    assert d.bfloat16.np == ml_dtypes.bfloat16 and d.bfloat16.itemsize == 2


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_exactly_one_kind_holds(dtype):
    kinds = [dtype.is_bool, dtype.is_integer, dtype.is_floating, dtype.is_complex]
    assert kinds.count(True) == 1 and kinds.index(True) == dtype.kind


@given(DTYPES)
def test_there_is_one_object_a_type(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is copy.copy(dtype) is dtype
    assert d.as_dtype(dtype.name) is d.as_dtype(str(dtype)) is d.as_dtype(dtype.np) is d.from_np(dtype.np) is dtype
    assert {dtype: 1}[d.as_dtype(dtype.name)] == 1


def test_a_dtype_equals_neither_its_name_nor_numpys_type():
    assert d.float32 != "float32" and d.float32 != d.float64 and d.float32 != np.float32


def test_a_dtype_cannot_be_changed():
    with pytest.raises(AttributeError):
        d.float32.name = "float64"


@pytest.mark.parametrize(
    ("word", "dtype"),
    [
        (bool, d.bool_),
        (int, d.int64),
        (float, d.float64),
        (complex, d.complex128),
        ("float", d.float64),
        ("double", d.float64),
        ("half", d.float16),
        ("int", d.int64),
        (np.float16, d.float16),
        (np.dtype(">f4").newbyteorder("<"), d.float32),
        (ml_dtypes.bfloat16, d.bfloat16),
        ("bfloat16", d.bfloat16),
    ],
)
def test_words_of_python_and_numpy_are_understood(word, dtype):
    assert d.as_dtype(word) is dtype


@pytest.mark.parametrize("word", [None, "foo", 3, object(), np.dtype("U3"), "datetime64", [], {}])
def test_other_words_are_refused_with_the_list_of_types(word):
    with pytest.raises(TypeError, match=r"dtype must be any of \[bool, uint8, .*complex128\], but received"):
        d.as_dtype(word)


def test_from_np_refuses_arrays_that_tensors_cannot_hold():
    assert d.from_np(np.zeros(1, np.int16).dtype) is d.int16
    with pytest.raises(DTypeError, match="received dtype\\('O'\\)"):
        d.from_np(np.array([None]).dtype)


@pytest.mark.parametrize(
    ("table", "x_0d", "y_0d"), [(TENSORS, False, False), (SECOND_0D, False, True), (BOTH_0D, True, True)]
)
def test_promotion_is_paddles(table, x_0d, y_0d):
    for x, results in rows(table):
        for y, expected in zip(SHORT.values(), results, strict=True):
            if expected == "--":
                with pytest.raises(TypeError, match=f"x: {x.name} and y: {y.name}"):
                    d.promote(x, y, x_0d, y_0d)
            else:
                assert d.promote(x, y, x_0d, y_0d) is SHORT[expected]


@given(DTYPES, DTYPES, st.booleans(), st.booleans())
def test_promotion_does_not_depend_on_the_order(x, y, x_0d, y_0d):
    try:
        expected = d.promote(x, y, x_0d, y_0d)
    except TypeError:
        with pytest.raises(TypeError):
            d.promote(y, x, y_0d, x_0d)
    else:
        assert d.promote(y, x, y_0d, x_0d) is expected


@given(DTYPES, DTYPES, DTYPES)
def test_promotion_of_0d_tensors_is_at_least_either(x, y, z):
    both = d.promote(x, y, True, True)
    assert both.kind == max(x.kind, y.kind)
    assert d.promote(both, x, True, True) is both or {x, y} <= {d.uint64, d.int64, d.int32, d.int16, d.int8}


def test_unsigned_and_signed_integers_meet_in_the_smallest_signed_type_that_holds_both():
    assert d.promote(d.uint16, d.int8, True, True) is d.int32
    assert d.promote(d.int64, d.uint64, True, True) is d.int64
    assert d.promote(d.uint8, d.uint32, True, True) is d.uint32


def test_the_error_of_promotion_says_what_to_do():
    with pytest.raises(DTypeError, match=r"hint: cast one of them, for example x.astype\('float32'\)"):
        d.promote(d.int32, d.float32)


def test_promotion_with_python_numbers_is_paddles():
    for x, results in rows(SCALARS):
        for value, expected in zip((True, 1, 1.5, 1j), results, strict=True):
            assert d.promote_scalar(x, value) is SHORT[expected]


class Celsius(float):
    """A user's own number."""


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.bool_(True), d.bool_),
        (np.int8(1), d.int64),
        (np.float64(1), d.float32),
        (np.float16(1), d.float32),
        (ml_dtypes.bfloat16(1), d.float32),
        (np.complex128(1), d.complex64),
        (Celsius(20), d.float32),
    ],
)
def test_numpy_numbers_count_as_the_python_numbers_they_hold(value, dtype):
    assert d.scalar_dtype(value) is dtype


def test_a_text_is_no_number():
    with pytest.raises(DTypeError, match=r"expected a number .* received str"):
        d.scalar_dtype("1")


def test_the_default_dtype_is_scoped():
    assert d.get_default_dtype() == "float32" and d.default_dtype() is d.float32
    with d.default_dtype_guard("float64"):
        assert d.default_dtype() is d.float64
        d.set_default_dtype(np.float16)
        assert d.get_default_dtype() == "float16"
    assert d.default_dtype() is d.float32


def test_set_default_dtype_reaches_every_thread_and_a_guard_only_its_own():
    seen = []

    def look():
        seen.append(d.default_dtype())

    try:
        d.set_default_dtype("float64")
        with d.default_dtype_guard("bfloat16"):
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
    finally:
        d.set_default_dtype("float32")
    assert seen == [d.float64]


@pytest.mark.parametrize("word", [float, int, "int32", "complex64", None, d.bool_])
def test_only_floating_types_can_be_the_default(word):
    with pytest.raises(TypeError):
        d.set_default_dtype(word)

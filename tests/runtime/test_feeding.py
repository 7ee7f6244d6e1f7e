"""What may be fed: dtypes, shapes, conversions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify import static
from vitrify.runtime.dense_tensor import DenseTensor
from vitrify.runtime.feeding import FeedSlot

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]


class Subclass(np.ndarray):
    """Such as np.memmap is."""


def slot(shape=(None, 2), dtype="float32"):
    with static.program_guard(static.Program(), static.Program()):
        return FeedSlot(static.data("x", shape, dtype))


def test_an_array_that_fits_is_taken_as_it_is():
    x = np.ones([3, 2], "float32")
    assert slot().array_of(x) is x


@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_arrays_must_have_the_dtype(want, got):
    x = np.ones([1, 2], got)
    if want == got:
        assert slot(dtype=want).array_of(x) is x
        return
    message = rf"feed 'x': expected {want}\[\?, 2\], got {got}\[1, 2\](.|\n)*astype\('{want}'\)"
    with pytest.raises(TypeError, match=message):
        slot(dtype=want).array_of(x)


def test_the_error_is_a_value_error_as_well():
    with pytest.raises(ValueError, match="expected float32"):
        slot().array_of(np.ones([1, 2]))


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=4),
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(st.integers(0, 3), max_size=4),
)
def test_shapes_fit_when_known_sizes_are_equal(want, first, second):
    taker = slot(want)
    for got in (first, second, first):  # what fitted last is remembered
        x = np.zeros(got, "float32")
        if len(want) == len(got) and all(w in (None, g) for w, g in zip(want, got)):
            assert taker.array_of(x) is x
        else:
            with pytest.raises(ValueError, match="feed 'x': expected float32"):
                taker.array_of(x)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("float32", [1, 2], [1, 2]),
        ("float32", [1.5, 2], [1.5, 2]),
        ("float32", (np.float64(1), True), [1, 1]),
        ("float32", [np.array(1.0), np.array(2.0)], [1, 2]),
        ("int64", [1, 2], [1, 2]),
        ("uint8", [0, 255], [0, 255]),
        ("bool", [True, False], [True, False]),
        ("complex64", [1, 2.5], [1, 2.5]),
        ("float16", range(2), [0, 1]),
    ],
)
def test_python_values_take_the_dtype(dtype, value, expected):
    array = slot([2], dtype).array_of(value)
    assert array.dtype == dtype and array.tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", [1.5, 2]), ("float32", [1j, 2]), ("uint8", [0, 256]), ("uint8", [-1, 0]), ("bool", [1, 0]),
        ("float32", [[1, 2], [3]]), ("float32", "ab"), ("float32", None), ("float32", ["a", "b"]), ("float32", {1, 2}),
    ],
)  # fmt: skip
def test_python_values_that_would_lose_something_are_refused(dtype, value):
    with pytest.raises(TypeError, match=f"feed 'x': expected {dtype}"):
        slot([2], dtype).array_of(value)


def test_a_number_feeds_a_tensor_without_dimensions():
    assert slot([], "float32").array_of(3).shape == ()
    with pytest.raises(ValueError, match="takes 1 dimensions, and 0 were given"):
        slot([1]).array_of(3.0)


def test_other_carriers_of_arrays():
    tensor = DenseTensor()
    tensor.set(np.ones([1, 2], "float32"))
    assert slot().array_of(tensor).tolist() == [[1, 1]]
    assert type(slot().array_of(np.ones([1, 2], "float32").view(Subclass))) is np.ndarray
    assert slot().array_of(np.array([[1, 2]], ">f4")).tolist() == [[1, 2]]
    half = slot(dtype="bfloat16").array_of(np.array([[0x3F80, 0x4000]], "uint16"))
    assert half.astype("float32").tolist() == [[1, 2]]
    with pytest.raises(TypeError, match="got float64"):
        slot().array_of(np.ones([1, 2]).view(Subclass))


def test_empty_lists_are_arrays_without_elements():
    assert slot([0]).array_of([]).shape == (0,) and slot([0], "int64").array_of([]).dtype == np.int64

"""Limits of the number types, as Paddle 3.3.1 prints them."""

import pytest

from vitrify.core.limits import finfo, iinfo

PRINTED = [
    "paddle.finfo(min=-65504, max=65504, eps=0.000976562, resolution=0.001, smallest_normal=6.10352e-05, "
    "tiny=6.10352e-05, bits=16, dtype=float16)",
    "paddle.finfo(min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, resolution=0.01, smallest_normal=1.17549e-38, "
    "tiny=1.17549e-38, bits=16, dtype=bfloat16)",
    "paddle.finfo(min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, resolution=1e-06, smallest_normal=1.17549e-38, "
    "tiny=1.17549e-38, bits=32, dtype=float32)",
    "paddle.finfo(min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, resolution=1e-15, "
    "smallest_normal=2.22507e-308, tiny=2.22507e-308, bits=64, dtype=float64)",
]


@pytest.mark.parametrize("text", PRINTED)
def test_finfo_is_paddles(text):
    name = text.rpartition("=")[2].rstrip(")")
    assert repr(finfo(name)) == text


def test_finfo_of_a_complex_type_is_that_of_its_parts():
    assert finfo("complex64") == finfo("float32") and finfo("complex128") == finfo("float64")


def test_finfo_has_exact_python_numbers():
    info = finfo("float32")
    assert (info.max, info.eps, info.bits) == (3.4028234663852886e38, 1.1920928955078125e-07, 32)


def test_iinfo():
    info = iinfo("int64")
    assert (info.min, info.max, info.bits, info.dtype) == (-(2**63), 2**63 - 1, 64, "int64")
    assert repr(iinfo("uint8")) == "paddle.iinfo(min=0, max=255, bits=8, dtype=uint8)"


@pytest.mark.parametrize(("function", "word"), [(finfo, "int32"), (finfo, "bool"), (iinfo, "float32"), (iinfo, "bool")])
def test_the_other_kinds_are_refused(function, word):
    with pytest.raises(ValueError, match=f"{function.__name__}: the dtype must be .* received {word}"):
        function(word)

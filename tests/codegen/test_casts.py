"""Conversions between all dtypes: numbers that fit and numbers that do not, as NumPy has them."""

import ml_dtypes
import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import kernel_of

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["bool", *[f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]]
NUMBERS = [
    0.0, -0.0, 1.5, -1.5, 0.7, -0.7, 127.9, 128.0, -128.9, -129.0, 255.5, 256.0, 300.0, -300.0, 65504.0, 65520.0, 7e4,
    2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 3e9, -3e9, 9.2e18, 9.3e18, 1.8e19, 2e19, -1e19, 3e38,
    1e-8, 6e-8, 2049.0, 2051.0, 1.0009765625, 1.00048828125, 1.00390625, 257.0, 1e300, 5e-324, np.inf, -np.inf, np.nan,
]  # fmt: skip
WHOLE = [0, 3, 127, 128, 255, 256, 2049, 2051, 65535, 65519, 65520, 2**24 + 1, 2**31, 2**53 + 1, 2**63 - 1, 2**64 - 1]


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def values(name):
    """Numbers of this dtype."""
    with np.errstate(all="ignore"):
        if name in FLOATS:
            return np.array(NUMBERS).astype(dtype_of(name))
        whole = np.array(WHOLE, np.uint64)
        return np.concatenate([whole, -whole]).astype(name)


def one_by_one(x, wanted):
    """NumPy's conversion of each alone: for many it takes other instructions, which differ in what does not fit."""
    with np.errstate(all="ignore"):
        return np.concatenate([x[i : i + 1].astype(dtype_of(wanted)) for i in range(x.size)])


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
def test_every_dtype_becomes_every_other(source):
    x = values(source)
    targets = [d for d in (*FLOATS, *INTEGERS) if d != source]
    found = kernel_of(lambda x: tuple(paddle.cast(x, d) for d in targets), ([-1], source))(x)
    for name, out in zip(targets, found):
        wanted = one_by_one(x, name)
        assert out.dtype == wanted.dtype
        a, b = (v.astype(float) if name in FLOATS else v for v in (out, wanted))
        np.testing.assert_array_equal(a, b, err_msg=f"{source} to {name}")

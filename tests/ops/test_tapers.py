"""Windows of signals: the values of SciPy, sizes and dtypes as asked for, compiled as well."""

import numpy as np
import pytest
from scipy import signal

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError

WINDOWS = {
    "hann": (paddle.hann_window, {}, "hann"),
    "hamming": (paddle.hamming_window, {}, "hamming"),
    "general hamming": (paddle.hamming_window, {"alpha": 0.6, "beta": 0.4}, ("general_hamming", 0.6)),
    "blackman": (paddle.blackman_window, {}, "blackman"),
    "bartlett": (paddle.bartlett_window, {}, "bartlett"),
    "kaiser": (paddle.kaiser_window, {}, ("kaiser", 12.0)),
    "wide kaiser": (paddle.kaiser_window, {"beta": 3.5}, ("kaiser", 3.5)),
}


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", WINDOWS)
def test_values_are_scipys(name, periodic):
    make, settings, known = WINDOWS[name]
    for length in (0, 1, 2, 3, 8, 49, 400):
        wanted = signal.get_window(known, length, fftbins=periodic) if length else np.zeros(0)
        for found in (
            make(length, periodic, dtype="float64", **settings),
            paddle.jit.to_static(lambda n=length: make(n, periodic, dtype="float64", **settings), full_graph=True)(),
        ):
            np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
            assert found.stop_gradient


@pytest.mark.parametrize("name", WINDOWS)
def test_dtypes_gradients_and_what_is_refused(name):
    make, settings, known = WINDOWS[name]
    assert make(5, **settings).dtype is paddle.float32 and make(5, dtype=None, **settings).dtype is paddle.float32
    half = make(5, dtype="float16", requires_grad=True, **settings)
    assert half.dtype is paddle.float16 and not half.stop_gradient
    np.testing.assert_allclose(half.astype("float32").numpy(), signal.get_window(known, 5), atol=1e-3)
    with pytest.raises(ArgumentError, match="window_length must be >= 0, got -1"):
        make(-1, **settings)
    with pytest.raises(DTypeError, match="dtype must be floating point, got int64"):
        make(4, dtype="int64", **settings)
    with pytest.raises(TypeError):
        make(4.5, **settings)

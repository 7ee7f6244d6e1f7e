"""Mel scale, windows and matrices that features of sounds are made with. Source: paddle.audio.functional."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import as_dtype, float64
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..eager.tensor import Tensor, to_tensor
from ..ops.arguments import is_tensor, rank_of, static_int
from ..ops.elementwise import add, multiply, subtract
from ..ops.failure import no_memory_for
from ..ops.meta_rules import need_reach
from ..ops.reduce import max as largest
from ..ops.select import maximum, where
from ..ops.unary import exp, expm1, log, log1p, log10

signal = lazy_module("scipy.signal")

WINDOWS = {
    "hamming", "hann", "gaussian", "general_gaussian", "exponential", "triang", "bohman", "blackman", "cosine", "tukey",
    "taylor", "bartlett", "kaiser", "nuttall",
}  # fmt: skip

# Slaney's scale: linear up to 1000 Hz, which is 15 mel, logarithmic above.
_HZ_A_MEL, _KNEE_HZ = 200.0 / 3, 1000.0
_KNEE_MEL, _LOG_STEP = _KNEE_HZ / _HZ_A_MEL, math.log(6.4) / 27.0


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Frequencies in Hz as mels; a Tensor of any shape, or a number, gives the same.

    htk: the formula of HTK, 2595 * log10(1 + freq / 700), in place of Slaney's.
    Source: paddle.audio.functional.hz_to_mel.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.hz_to_mel(200.0)
        3.0
    """
    if not is_tensor(freq):
        return float(_mels(np.float64(freq), htk))
    if htk:
        return multiply(log1p(multiply(freq, 1 / 700.0)), 2595.0 / math.log(10.0))
    high = add(multiply(log(maximum(freq, freq * 0 + 1e-10) / _KNEE_HZ), 1 / _LOG_STEP), _KNEE_MEL)
    return where(freq >= _KNEE_HZ, high, multiply(freq, 1 / _HZ_A_MEL))


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """Mels as frequencies in Hz: the inverse of `hz_to_mel`. Source: paddle.audio.functional.mel_to_hz.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.mel_to_hz(3.0)
        200.0
    """
    if not is_tensor(mel):
        return float(_hertz(np.float64(mel), htk))
    if htk:
        return multiply(expm1(multiply(mel, math.log(10.0) / 2595.0)), 700.0)
    high = multiply(exp(multiply(subtract(mel, _KNEE_MEL), _LOG_STEP)), _KNEE_HZ)
    return where(mel >= _KNEE_MEL, high, multiply(mel, _HZ_A_MEL))


def _mels(hertz: Any, htk: bool) -> Any:
    if htk:
        return 2595.0 * np.log10(1.0 + hertz / 700.0)
    high = _KNEE_MEL + np.log(np.maximum(hertz, 1e-10) / _KNEE_HZ) / _LOG_STEP
    return np.where(hertz >= _KNEE_HZ, high, hertz / _HZ_A_MEL)


def _hertz(mels: Any, htk: bool) -> Any:
    if htk:
        return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    return np.where(mels >= _KNEE_MEL, _KNEE_HZ * np.exp(_LOG_STEP * (mels - _KNEE_MEL)), mels * _HZ_A_MEL)


def _mel_grid(count: int, low: float, high: float, htk: bool) -> Any:
    """`count` frequencies in Hz that lie evenly on the mel scale."""
    return _hertz(np.linspace(_mels(np.float64(low), htk), _mels(np.float64(high), htk), count), htk)


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32"
) -> Tensor:
    """[n_mels] frequencies in Hz from f_min to f_max, evenly spaced in mels.

    Source: paddle.audio.functional.mel_frequencies.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.mel_frequencies(3, 0.0, 1000.0).tolist()
        [0.0, 500.0, 1000.0]
    """
    return _tensor(_mel_grid(n_mels, f_min, f_max, htk), dtype)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Tensor:
    """[n_fft // 2 + 1] frequencies in Hz of a Fourier transform of n_fft samples, sr samples a second.

    Source: paddle.audio.functional.fft_frequencies.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.fft_frequencies(16, 4).tolist()
        [0.0, 4.0, 8.0]
    """
    return _tensor(np.linspace(0.0, float(sr) / 2, 1 + n_fft // 2), dtype)


def compute_fbank_matrix(
    sr: int, n_fft: int, n_mels: int = 64, f_min: float = 0.0, f_max: float | None = None, htk: bool = False,
    norm: str | float | None = "slaney", dtype: str = "float32",
) -> Tensor:  # fmt: skip
    """[n_mels, n_fft // 2 + 1]: how much each Fourier frequency counts in each mel band; triangles that overlap.

    sr: samples a second. f_max: in Hz, sr / 2 by default. norm: "slaney" divides each band by its width, a number
    gives each row that p-norm of 1, None leaves the triangles 1 high. Raises ArgumentError for another text.
    Source: paddle.audio.functional.compute_fbank_matrix.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.compute_fbank_matrix(16, 8, n_mels=2, norm=None).shape
        paddle.Size([2, 5])
    """
    if isinstance(norm, str) and norm != "slaney":
        raise ArgumentError(f"compute_fbank_matrix: norm must be 'slaney', a number or None, got {norm!r}")
    hertz = np.linspace(0.0, float(sr) / 2, 1 + n_fft // 2)
    edges = _mel_grid(n_mels + 2, f_min, sr / 2 if f_max is None else f_max, htk)
    widths = np.diff(edges)
    ramps = edges[:, None] - hertz[None, :]
    rising, falling = -ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]
    bands = np.maximum(0.0, np.minimum(rising, falling))
    if norm == "slaney":
        bands *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif norm is not None:
        bands /= np.maximum(np.linalg.norm(bands, float(norm), axis=-1, keepdims=True), 1e-12)
    return _tensor(bands, dtype)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Tensor:
    """[n_mels, n_mfcc]: the cosines of the discrete cosine transform of type II, one a column.

    norm: "ortho" for columns of length 1, else None. Raises ArgumentError for another.
    Source: paddle.audio.functional.create_dct.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.create_dct(1, 4).tolist()
        [[0.5], [0.5], [0.5], [0.5]]
    """
    if norm not in ("ortho", None):
        raise ArgumentError(f"create_dct: norm must be 'ortho' or None, got {norm!r}")
    n_mfcc, n_mels = static_int("create_dct", n_mfcc, "n_mfcc"), static_int("create_dct", n_mels, "n_mels")
    if n_mfcc < 1 or n_mels < 1:
        raise ArgumentError(f"create_dct: n_mfcc and n_mels must be positive, got {n_mfcc} and {n_mels}")
    need_reach("create_dct", Meta((n_mels, n_mfcc), float64))
    columns = np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc)[None, :])
    if norm is None:
        return _tensor(columns * 2.0, dtype)
    columns[:, 0] *= math.sqrt(0.5)
    return _tensor(columns * math.sqrt(2.0 / n_mels), dtype)


def power_to_db(spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Any:
    """Powers in decibel, 10 * log10(spect / ref_value); the same shape and dtype.

    amin: smaller powers count as this. top_db: what lies further below the largest is raised to that; None: nothing.
    Raises ArgumentError unless amin and ref_value are positive and top_db is not negative.
    Source: paddle.audio.functional.power_to_db.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 100.0]), top_db=None).round().tolist()
        [0.0, 20.0]
    """
    rank_of("power_to_db", spect, "spect")
    if amin <= 0 or ref_value <= 0:
        raise ArgumentError(f"power_to_db: amin and ref_value must be positive, got {amin} and {ref_value}")
    if top_db is not None and top_db < 0:
        raise ArgumentError(f"power_to_db: top_db must not be negative, got {top_db}")
    floor = to_tensor(amin, dtype=spect.dtype)
    found = multiply(log10(maximum(spect, floor)), 10.0)
    found = subtract(found, 10.0 * math.log10(max(ref_value, amin)))
    return found if top_db is None else maximum(found, subtract(largest(found), top_db))


def get_window(window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: str = "float64") -> Tensor:
    """[win_length]: a window by its name, or by a tuple of the name and its parameters.

    fftbins: periodic, as Fourier transforms want it; False: symmetric. Raises ArgumentError for an unknown name and for
    one that needs parameters, DTypeError for another type. Source: paddle.audio.functional.get_window; SciPy makes it.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.functional.get_window("hann", 4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    if not isinstance(window, (str, tuple)):
        raise DTypeError(f"get_window: window must be a name or a tuple, got a {type(window).__name__}")
    name = window if isinstance(window, str) else window[0]
    if name not in WINDOWS:
        raise ArgumentError(f"get_window: no window is named {name!r}", hint=f"there are {', '.join(sorted(WINDOWS))}")
    if isinstance(win_length, int):
        need_reach("get_window", Meta((win_length,), float64))
    try:
        found = signal.get_window(window, win_length, fftbins=fftbins)
    except MemoryError:
        raise no_memory_for("get_window", [Meta((win_length,), float64)]) from None
    except (TypeError, ValueError, OverflowError) as err:
        raise ArgumentError(f"get_window: {window!r} of {win_length}: {err}", hint="('gaussian', 7.0)") from err
    return _tensor(found, dtype)


def _tensor(values: Any, dtype: Any) -> Tensor:
    found: Tensor = to_tensor(np.asarray(values), dtype=as_dtype(dtype))
    return found


__all__ = [
    "compute_fbank_matrix", "create_dct", "fft_frequencies", "get_window", "hz_to_mel", "mel_frequencies", "mel_to_hz",
    "power_to_db",
]  # fmt: skip

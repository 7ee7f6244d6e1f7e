"""Layers that turn sounds into features: spectrograms, mel bands, cepstral coefficients.

Source: paddle.audio.features.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..nn import Layer
from ..ops.matmul import matmul
from ..ops.signal import stft
from ..ops.transpose import swapaxes
from .functional import compute_fbank_matrix, create_dct, get_window, power_to_db


class Spectrogram(Layer):
    """The magnitudes of short-time Fourier transforms to a power: [n, t] -> [n, n_fft // 2 + 1, frames].

    hop_length: samples from frame to frame, win_length // 4 by default; win_length: samples of the window, n_fft by
    default, named by `window` (see `functional.get_window`). center: pad both ends so that frames are centred.
    Raises ArgumentError unless power is positive. Source: paddle.audio.features.Spectrogram.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.features.Spectrogram(n_fft=8, hop_length=4)(paddle.ones([1, 16])).shape
        paddle.Size([1, 5, 5])
    """

    def __init__(
        self, n_fft: int = 512, hop_length: int | None = 512, win_length: int | None = None, window: str = "hann",
        power: float = 1.0, center: bool = True, pad_mode: str = "reflect", dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if power <= 0:
            raise ArgumentError(f"Spectrogram: power must be positive, got {power}")
        self.power = power
        length = n_fft if win_length is None else win_length
        hop = length // 4 if hop_length is None else hop_length
        self._frames = (n_fft, hop, length)
        self._padding = (center, pad_mode)
        self.register_buffer("fft_window", get_window(window, length, fftbins=True, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The spectrogram of sounds [n, t]."""
        return stft(x, *self._frames, self.fft_window, *self._padding).abs().pow(self.power)


class MelSpectrogram(Layer):
    """Spectrograms in mel bands: [n, t] -> [n, n_mels, frames].

    sr: samples a second; f_min, f_max: the range of the bands in Hz, f_max is sr / 2 by default; htk, norm: see
    `functional.compute_fbank_matrix`; the rest as in Spectrogram. Source: paddle.audio.features.MelSpectrogram.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.features.MelSpectrogram(8000, 64, hop_length=16, n_mels=8)(paddle.ones([1, 128])).shape
        paddle.Size([1, 8, 9])
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 2048, hop_length: int | None = 512, win_length: int | None = None,
        window: str = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney",
        dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels = n_mels
        self.register_buffer("fbank_matrix", compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype))

    def forward(self, x: Any) -> Any:
        """The mel bands of sounds [n, t]."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """Mel bands in decibel: [n, t] -> [n, n_mels, frames].

    ref_value, amin, top_db: see `functional.power_to_db`; the rest as in MelSpectrogram.
    Source: paddle.audio.features.LogMelSpectrogram.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.features.LogMelSpectrogram(8000, 64, n_mels=8)(paddle.ones([1, 128])).shape
        paddle.Size([1, 8, 9])
    """

    def __init__(
        self, sr: int = 22050, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: str = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: str | float | None = "slaney",
        ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self._decibel = (ref_value, amin, top_db)

    def forward(self, x: Any) -> Any:
        """The mel bands of sounds [n, t] in decibel."""
        return power_to_db(self._melspectrogram(x), *self._decibel)


class MFCC(Layer):
    """Mel frequency cepstral coefficients: [n, t] -> [n, n_mfcc, frames].

    The other arguments are those of LogMelSpectrogram. Raises ArgumentError where n_mfcc exceeds n_mels.
    Source: paddle.audio.features.MFCC.

    Example:
        >>> import vitrify as paddle
        >>> paddle.audio.features.MFCC(8000, n_mfcc=4, n_fft=64, n_mels=8)(paddle.ones([1, 128])).shape
        paddle.Size([1, 4, 9])
    """

    def __init__(
        self, sr: int = 22050, n_mfcc: int = 40, n_fft: int = 512, hop_length: int | None = None,
        win_length: int | None = None, window: str = "hann", power: float = 2.0, center: bool = True,
        pad_mode: str = "reflect", n_mels: int = 64, f_min: float = 50.0, f_max: float | None = None, htk: bool = False,
        norm: str | float | None = "slaney", ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if n_mfcc > n_mels:
            raise ArgumentError(f"MFCC: n_mfcc must not exceed n_mels, got {n_mfcc} and {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype,
        )  # fmt: skip
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The coefficients of sounds [n, t]."""
        bands = swapaxes(self._log_melspectrogram(x), 1, 2)
        return swapaxes(matmul(bands, self.dct_matrix), 1, 2)


__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]

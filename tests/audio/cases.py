"""Calls of `paddle.audio`, for vitrify and for PaddlePaddle.

`python tests/audio/cases.py paddle FILE` writes what they give; tests/data/paddle_audio.npz is of PaddlePaddle 3.3.1.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

_NAMED = ["hamming", "hann", "triang", "bohman", "blackman", "cosine", "tukey", "taylor", "bartlett", "nuttall"]
_WITH_PARAMETERS = [("gaussian", 7), ("general_gaussian", 1.5, 7), ("exponential", None, 3.0), ("kaiser", 8.0)]
_SOUND = (np.sin(np.arange(400).reshape(2, 200) ** 1.3) * 0.1).astype("float32")
_POWERS = (np.arange(1, 7).reshape(2, 3) / 3.0).astype("float32")

Case = Callable[[Any], Any]
CASES: dict[str, Case] = {}


def _case(name: str, case: Case) -> None:
    CASES[name] = case


for _window in [*_NAMED, *_WITH_PARAMETERS]:
    for _length in (1, 7, 8):
        for _periodic in (True, False):
            _case(
                f"window {_window} {_length} {_periodic}",
                lambda p, w=_window, n=_length, b=_periodic: p.audio.functional.get_window(w, n, fftbins=b),
            )
_case("window float32", lambda p: p.audio.functional.get_window("hann", 8, dtype="float32"))
for _htk in (False, True):
    for _hertz in (0.0, 440.0, 1500.0):
        _case(f"mel of {_hertz} {_htk}", lambda p, f=_hertz, h=_htk: p.audio.functional.hz_to_mel(f, h))
    for _mel in (0.0, 3.0, 30.0):
        _case(f"hz of {_mel} {_htk}", lambda p, m=_mel, h=_htk: p.audio.functional.mel_to_hz(m, h))
    _case(f"mels {_htk}", lambda p, h=_htk: p.audio.functional.hz_to_mel(p.to_tensor([100.0, 1000.0, 4000.0]), h))
    _case(f"hertz {_htk}", lambda p, h=_htk: p.audio.functional.mel_to_hz(p.to_tensor([3.0, 15.0, 40.0]), h))
    _case(f"mel grid {_htk}", lambda p, h=_htk: p.audio.functional.mel_frequencies(8, 10.0, 8000.0, h))
    for _norm in ("slaney", 1.0, 2.0, None):
        _case(
            f"bands {_htk} {_norm}",
            lambda p, h=_htk, n=_norm: p.audio.functional.compute_fbank_matrix(16000, 32, 4, 0.0, None, h, n),
        )
_case("bands float64", lambda p: p.audio.functional.compute_fbank_matrix(16000, 32, 4, 50.0, 7e3, dtype="float64"))
_case("fft even", lambda p: p.audio.functional.fft_frequencies(16000, 10))
_case("fft odd", lambda p: p.audio.functional.fft_frequencies(16000, 9, "float64"))
_case("cosines", lambda p: p.audio.functional.create_dct(5, 8))
_case("cosines plain", lambda p: p.audio.functional.create_dct(5, 8, None))
_case("decibel", lambda p: p.audio.functional.power_to_db(p.to_tensor(_POWERS)))
_case("decibel cut", lambda p: p.audio.functional.power_to_db(p.to_tensor(_POWERS), 2.0, 0.5, 3.0))
_case("decibel all", lambda p: p.audio.functional.power_to_db(p.to_tensor(_POWERS), top_db=None))


def _feature(name: str, layer: str, **options: Any) -> None:
    _case(name, lambda p: getattr(p.audio.features, layer)(**options)(p.to_tensor(_SOUND)))


_feature("spectrogram", "Spectrogram", n_fft=32, hop_length=16)
_feature("spectrogram uncentred", "Spectrogram", n_fft=32, hop_length=None, power=2.0, center=False)
_feature("spectrogram short window", "Spectrogram", n_fft=32, win_length=20, window="hamming", hop_length=20)
_feature("mel", "MelSpectrogram", sr=8000, n_fft=32, hop_length=16, n_mels=5)
_feature("log mel", "LogMelSpectrogram", sr=8000, n_fft=64, n_mels=5, top_db=20.0)
_feature("mfcc", "MFCC", sr=8000, n_mfcc=3, n_fft=64, n_mels=5)


def results(paddle: Any) -> dict[str, Any]:
    """Return what each case gives, as an array."""
    found = {name: case(paddle) for name, case in CASES.items()}
    return {name: value.numpy() if hasattr(value, "numpy") else np.asarray(value) for name, value in found.items()}


if __name__ == "__main__":
    np.savez_compressed(sys.argv[2], **results(import_module(sys.argv[1])))

"""WAV files of 16-bit samples, by Python's own module. Source: paddle.audio.info, load, save."""

from __future__ import annotations

import os
import wave
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, FileFormatError, ShapeError
from ..eager.tensor import Tensor, to_tensor

_SCALE = 1 << 15


@dataclass
class AudioInfo:
    """What a file says of its sound; num_samples are those of one channel. Source: paddle.audio.backends.AudioInfo."""

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def info(filepath: Any) -> AudioInfo:
    """What a WAV file (a path or an open file) holds.

    Raises FileNotFoundError, and FileFormatError for another kind of file. Source: paddle.audio.info.
    """
    with _reading(filepath) as file:
        return AudioInfo(file.getframerate(), file.getnframes(), file.getnchannels(), file.getsampwidth() * 8, "PCM_S")


def load(
    filepath: Any, frame_offset: int = 0, num_frames: int = -1, normalize: bool = True, channels_first: bool = True
) -> tuple[Tensor, int]:
    """The samples of a WAV file, float32 [channels, time], and how many there are a second.

    frame_offset, num_frames: the first one and how many (-1: all). normalize: between -1 and 1, else as integers from
    -32768. channels_first=False: [time, channels]. Raises FileNotFoundError, and FileFormatError for other files.
    Source: paddle.audio.load.

    Example:
        >>> import tempfile, vitrify as paddle
        >>> path = tempfile.mkdtemp() + "/sound.wav"
        >>> paddle.audio.save(path, paddle.to_tensor([[0.0, 0.5, -1.0]]), 8000)
        >>> samples, rate = paddle.audio.load(path)
        >>> samples.tolist(), rate
        ([[0.0, 0.5, -1.0]], 8000)
    """
    with _reading(filepath) as file:
        if file.getsampwidth() != 2:
            raise FileFormatError(f"audio.load: samples have {file.getsampwidth() * 8} bits, only 16 are read")
        rate, channels = file.getframerate(), file.getnchannels()
        content = file.readframes(file.getnframes())
    samples = np.frombuffer(content, "<i2").reshape(-1, channels).astype(np.float32)
    samples = samples[frame_offset : None if num_frames == -1 else frame_offset + num_frames]
    if normalize:
        samples = samples / np.float32(_SCALE)
    return to_tensor(np.ascontiguousarray(samples.T if channels_first else samples)), rate


def save(
    filepath: Any, src: Any, sample_rate: int, channels_first: bool = True, encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:  # fmt: skip
    """Write sounds from -1 to 1, [channels, time], as a WAV file of 16-bit samples; what lies beyond is cut off.

    channels_first=False: src is [time, channels]. Integers are written as they are. Raises ShapeError unless src has
    two dimensions, ArgumentError for other encodings and bits. Source: paddle.audio.save.
    """
    if len(src.shape) != 2:
        raise ShapeError(f"audio.save: src must be [channels, time], got shape {list(src.shape)}")
    if bits_per_sample not in (None, 16) or encoding not in (None, "PCM16", "PCM_16"):
        raise ArgumentError(f"audio.save: only PCM of 16 bits is written, got {encoding!r} of {bits_per_sample}")
    samples = src.numpy()
    samples = samples.T if channels_first else samples
    if samples.dtype.kind == "f":
        samples = np.clip(samples * float(_SCALE), -_SCALE, _SCALE - 1)  # fractions are cut off, as Paddle does
    with atomic_file(filepath) as out, wave.open(out, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(np.ascontiguousarray(samples.astype("<i2")).tobytes())


def _reading(filepath: Any) -> wave.Wave_read:
    path = os.fspath(filepath) if isinstance(filepath, os.PathLike) else filepath
    try:
        return wave.open(path, "rb")
    except (wave.Error, EOFError) as err:
        raise FileFormatError(f"audio: {filepath} is no WAV file of plain samples: {err}") from err

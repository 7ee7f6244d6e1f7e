"""Short-time Fourier transforms, and the overlapping frames that they are made of."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import rank_of
from .complex_ import real
from .creation import ones
from .elementwise import conj
from .fft import fft, ifft, irfft, rfft
from .pad import pad_op
from .registry import OpDef, define_op
from .shape import squeeze, unsqueeze
from .sizes import size_of
from .transpose import moveaxis, swapped
from .windows import overlap_added, unfold_op

# -- frames ----------------------------------------------------------------------------------------------------------


def _length(count: int, size: int, step: int) -> int:
    return UNKNOWN if UNKNOWN in (count, size) else (count - 1) * step + size if count else 0


def _overlap_meta(x: Meta, *, axis: int, step: int) -> Meta:
    count, size = x.shape[axis], x.shape[-1]
    if size != UNKNOWN and step > size:
        raise ShapeError(f"overlap_add: hop_length {step} exceeds the length {size} of frames: x is {x}")
    shape = list(x.shape[:-1])
    shape[axis] = _length(count, size, step)
    return x.with_shape(shape)


def _overlap_kernel(xp: Any, x: Any, *, axis: int, step: int) -> Any:
    return overlap_added(xp, x, axis, step, _length(x.shape[axis], x.shape[-1], step))


def _overlap_vjp(ct: Any, *, x_like: Any, axis: int, step: int) -> Any:
    return unfold_op(ct, axis=axis, size=size_of(x_like, -1), step=step)


# x has its windows along `axis` and their elements last, as `unfold_windows` gives them.
overlap_add_op: OpDef = define_op(
    "overlap_add",
    kernel=_overlap_kernel,
    meta=_overlap_meta,
    vjp={"x": _overlap_vjp},
    maps={"paddle": "overlap_add"},
)


def _end(op: str, axis: int) -> bool:
    """Whether `axis`, of which signals allow 0 and -1, is the last one."""
    if axis not in (0, -1):
        raise ArgumentError(f"{op}: axis must be 0 or -1, got {axis}")
    return axis == -1


def _positive(op: str, name: str, value: Any) -> int:
    if not isinstance(value, Integral) or value <= 0:
        raise ArgumentError(f"{op}: {name} must be a positive int, got {value!r}")
    return int(value)


def frame(x: Any, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Any:
    """The frames of frame_length elements, hop_length apart: [*b, t] -> [*b, frame_length, frames].

    axis: 0 for [t, *b] -> [frames, frame_length, *b]. Raises ArgumentError, and ShapeError where no frame fits.
    Source: paddle.signal.frame.

    Example:
        >>> import vitrify as paddle
        >>> paddle.signal.frame(paddle.to_tensor([0, 1, 2, 3, 4]), 3, 2).tolist()
        [[0, 2], [1, 3], [2, 4]]
    """
    if not rank_of("frame", x):
        raise ShapeError("frame: x must have at least 1 dimension, got shape []")
    last = _end("frame", axis)
    size, step = _positive("frame", "frame_length", frame_length), _positive("frame", "hop_length", hop_length)
    windows = unfold_op(x, axis=x.ndim - 1 if last else 0, size=size, step=step)
    return swapped(windows, -1, -2) if last else moveaxis(windows, -1, 1)


def overlap_add(x: Any, hop_length: int, axis: int = -1, name: str | None = None) -> Any:
    """The signal that sums overlapping frames, hop_length apart: [*b, frame_length, frames] -> [*b, t].

    axis: 0 for [frames, frame_length, *b] -> [t, *b]. Raises ArgumentError, ShapeError.
    Source: paddle.signal.overlap_add.

    Example:
        >>> import vitrify as paddle
        >>> paddle.signal.overlap_add(paddle.to_tensor([[0, 2], [1, 3], [2, 4]]), 2).tolist()
        [0, 1, 4, 3, 4]
    """
    rank_of("overlap_add", x)
    last = _end("overlap_add", axis)
    step = _positive("overlap_add", "hop_length", hop_length)
    if x.ndim < 2:
        raise ShapeError(f"overlap_add: x must have at least 2 dimensions, got shape {list(x.shape)}")
    windows = swapped(x, -1, -2) if last else moveaxis(x, 1, -1)
    return overlap_add_op(windows, axis=x.ndim - 2 if last else 0, step=step)


# -- what both directions check --------------------------------------------------------------------------------------


def _sizes(op: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int, int]:
    size = _positive(op, "n_fft", n_fft)
    hop = _positive(op, "hop_length", size // 4 if hop_length is None else hop_length)
    width = _positive(op, "win_length", size if win_length is None else win_length)
    if width > size:
        raise ArgumentError(f"{op}: win_length must be at most n_fft {size}, got {width}")
    return size, hop, width


def _window(op: str, window: Any, width: int, size: int, dtype: Any) -> Any:
    """The window in the middle of n_fft elements."""
    if window is None:
        window = ones([width], dtype)
    elif window.ndim != 1 or window.shape[0] not in (width, UNKNOWN):
        raise ArgumentError(f"{op}: window must have one dimension of size {width}, got shape {list(window.shape)}")
    before = (size - width) // 2
    return window if width == size else pad_op(
        window, pads=(before, size - width - before), mode="constant", value=0.0
    )  # fmt: skip


# -- forward ---------------------------------------------------------------------------------------------------------


def _padded(x: Any, size: int, pad_mode: str) -> Any:
    if pad_mode not in ("reflect", "constant"):
        raise ArgumentError(f"stft: pad_mode must be 'reflect' or 'constant', got {pad_mode!r}")
    return pad_op(x, pads=(0, 0, size // 2, size // 2), mode=pad_mode, value=0.0)


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: str | None = None,
) -> Any:
    """The Fourier transforms of frames of x: [t] or [b, t] -> [b, frequencies, frames], complex.

    hop_length: between frames, n_fft // 4 by default. window: win_length (by default n_fft) numbers that each frame is
    multiplied with, in its middle. center: pad x by pad_mode, so that frame i has its middle at i * hop_length.
    normalized: divide by the root of n_fft. onesided: only the n_fft // 2 + 1 frequencies that real x needs, the
    default for it. Raises ArgumentError, ShapeError. Source: paddle.signal.stft.

    Example:
        >>> import vitrify as paddle
        >>> paddle.signal.stft(paddle.ones([16]), n_fft=8).shape
        paddle.Size([5, 9])
    """
    rank_of("stft", x)
    size, hop, width = _sizes("stft", n_fft, hop_length, win_length)
    if x.ndim not in (1, 2):
        raise ShapeError(f"stft: x must have 1 or 2 dimensions, got shape {list(x.shape)}")
    if x.shape[-1] != UNKNOWN and size > x.shape[-1]:
        raise ArgumentError(f"stft: n_fft must be at most the length {x.shape[-1]} of x, got {size}")
    is_complex = x.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if is_complex and onesided:
        raise ArgumentError("stft: onesided must be False for complex x or window")
    rows = unsqueeze(x, 0) if x.ndim == 1 else x
    rows = _padded(rows, size, pad_mode) if center else rows
    frames = unfold_op(rows, axis=1, size=size, step=hop)
    frames = frames * _window("stft", window, width, size, x.dtype)
    transform = fft if is_complex or onesided is False else rfft
    found = swapped(transform(frames, norm="ortho" if normalized else "backward"), -1, -2)
    return squeeze(found, 0) if x.ndim == 1 else found


# -- backward --------------------------------------------------------------------------------------------------------


def _nonzero_kernel(xp: Any, x: Any) -> Any:
    if x.size and not float(xp.abs(x).min()) > 1e-11:
        raise ArgumentError(
            "istft: frames are multiplied by 0 everywhere at some element, which cannot be found again",
            hint="use a window that is not 0 where frames do not overlap, center=True, or a smaller hop_length",
        )
    return x.copy()


nonzero_envelope_op: OpDef = define_op(
    "nonzero_envelope", kernel=_nonzero_kernel, meta=lambda x: x, vjp={"x": lambda ct: ct}, raises=True
)


def _check_spectrum(x: Any, size: int, onesided: bool, return_complex: bool, window: Any) -> None:
    rank_of("istft", x)
    if x.ndim not in (2, 3):
        raise ShapeError(f"istft: x must have 2 or 3 dimensions, got shape {list(x.shape)}")
    frequencies = size // 2 + 1 if onesided else size
    if x.shape[-2] not in (frequencies, UNKNOWN):
        raise ArgumentError(f"istft: x must have {frequencies} frequencies for n_fft {size}, got {x.shape[-2]}")
    if onesided and (return_complex or (window is not None and window.dtype.is_complex)):
        raise ArgumentError("istft: onesided must be False where the result or window is complex")
    if not x.dtype.is_inexact:
        raise DTypeError(f"istft: x is {Meta(tuple(x.shape), x.dtype)}, expected floating point numbers")


def _signals(x: Any, size: int, norm: str, onesided: bool, return_complex: bool) -> Any:
    frames = swapped(x, -1, -2)
    if onesided:
        return irfft(frames, n=size, norm=norm)
    found = ifft(frames, norm=norm)
    return found if return_complex else real(found)


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Any:
    """The signal whose `stft`, with the same arguments, comes closest to x: [b, frequencies, frames] -> [b, t].

    length: how many elements the result has. return_complex: for the `stft` of complex numbers, with onesided=False.
    Raises ArgumentError, also where windows leave an element undetermined. Source: paddle.signal.istft.

    Example:
        >>> import vitrify as paddle
        >>> paddle.signal.istft(paddle.signal.stft(paddle.ones([16]), n_fft=8), n_fft=8).shape
        paddle.Size([16])
    """
    size, hop, width = _sizes("istft", n_fft, hop_length, win_length)
    if hop > width:
        raise ArgumentError(f"istft: hop_length must be at most win_length {width}, got {hop}")
    _check_spectrum(x, size, onesided, return_complex, window)
    spectrum = unsqueeze(x, 0) if x.ndim == 2 else x
    frames = _signals(spectrum, size, "ortho" if normalized else "backward", onesided, return_complex)
    weight = _window("istft", window, width, size, real(frames).dtype)
    total = overlap_add_op(frames * weight, axis=1, step=hop)
    shares = unsqueeze(weight * conj(weight), 0) * ones([size_of(x, -1), 1], weight.dtype)
    envelope = overlap_add_op(shares, axis=0, step=hop)
    start = size // 2 if center else 0
    end = -start if center and length is None and start else None if length is None else start + length
    found = total[:, start:end] / nonzero_envelope_op(envelope[start:end])
    return squeeze(found, 0) if x.ndim == 2 else found


METHODS: dict[str, Any] = {"stft": stft, "istft": istft}
INPLACE = ()
__all__ = ()

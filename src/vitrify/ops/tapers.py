"""Windows that fade a signal in and out, by the names of Hann, Hamming, Blackman, Bartlett and Kaiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.dtype import as_dtype, float32
from ..core.errors import ArgumentError, DTypeError
from .arguments import finish, static_int
from .complex_ import abs as abs_
from .creation import arange, ones
from .like import cast
from .select import maximum
from .special import i0
from .trig import cos
from .unary import sqrt

Shape = Callable[[Any, int], Any]  # from places 0, 1, ... and the last place to the values there


def _window(
    op: str, length: Any, periodic: bool, values: Shape, dtype: Any, device: Any, requires_grad: bool
) -> Any:  # fmt: skip
    """The values at `length` places, of a window that is one longer if it is periodic; one place alone has a 1."""
    count = static_int(op, length, "window_length")
    if count < 0:
        raise ArgumentError(f"{op}: window_length must be >= 0, got {count}")
    wanted = float32 if dtype is None else as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"{op}: dtype must be floating point, got {wanted.name}")
    last = count if periodic else count - 1
    found = ones([count], "float64") if count < 2 else values(arange(0, count, dtype="float64"), last)
    return finish(op, cast(found, wanted), None, device, requires_grad)


def _cosines(*weights: float) -> Shape:
    """A sum of weighted cosines of 0, 1, ... whole turns over the window."""

    def values(places: Any, last: int) -> Any:
        turn = places * (2 * math.pi / last)
        return sum((w * cos(turn * k) for k, w in enumerate(weights[1:], start=1)), start=weights[0])

    return values


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", layout: str | None = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Hann's window, half a cosine above 0: [window_length].

    periodic: for Fourier transforms, a window that would end with the next value; False: a symmetric one. dtype: a
    floating one, float32 for None. layout and pin_memory change nothing. Raises ArgumentError for a length below 0,
    DTypeError for dtypes that are not floating. Source: paddle.hann_window.

    Example:
        >>> import vitrify as paddle
        >>> [round(v, 2) for v in paddle.hann_window(4).tolist()]
        [0.0, 0.5, 1.0, 0.5]
    """
    return _window("hann_window", window_length, periodic, _cosines(0.5, -0.5), dtype, device, requires_grad)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = "float32",
    layout: str | None = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Hamming's window, alpha - beta cos: [window_length]. The other arguments and errors are `hann_window`'s.

    Source: paddle.hamming_window.

    Example:
        >>> import vitrify as paddle
        >>> paddle.hamming_window(3, periodic=False, alpha=0.5, beta=0.25).tolist()
        [0.25, 0.75, 0.25]
    """
    return _window("hamming_window", window_length, periodic, _cosines(alpha, -beta), dtype, device, requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", layout: str | None = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Blackman's window, of two cosines: [window_length]. The arguments and errors are `hann_window`'s.

    Source: paddle.blackman_window.

    Example:
        >>> import vitrify as paddle
        >>> [round(v, 2) for v in paddle.blackman_window(4).tolist()]
        [-0.0, 0.34, 1.0, 0.34]
    """
    shape = _cosines(0.42, -0.5, 0.08)
    return _window("blackman_window", window_length, periodic, shape, dtype, device, requires_grad)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", layout: str | None = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Bartlett's window, a triangle: [window_length]. The arguments and errors are `hann_window`'s.

    Source: paddle.bartlett_window.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bartlett_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """

    def triangle(places: Any, last: int) -> Any:
        return 1.0 - abs_(places * (2.0 / last) - 1.0)

    return _window("bartlett_window", window_length, periodic, triangle, dtype, device, requires_grad)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = "float32", layout: str | None = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Kaiser's window, of Bessel functions; the larger beta, the narrower: [window_length].

    The other arguments and errors are `hann_window`'s. Source: paddle.kaiser_window.

    Example:
        >>> import vitrify as paddle
        >>> paddle.kaiser_window(3, periodic=False, beta=0.0).tolist()
        [1.0, 1.0, 1.0]
    """

    def bell(places: Any, last: int) -> Any:
        along = places * (2.0 / last) - 1.0
        return i0(sqrt(maximum(1.0 - along * along, 0)) * beta) / i0(ones([], "float64") * beta)

    return _window("kaiser_window", window_length, periodic, bell, dtype, device, requires_grad)


__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]

"""Paddle's functions for Fourier transforms, all made from three ops; sample frequencies and shifts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import as_dtype, complex64, complex128, default_dtype, float32, float64
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta, Shape
from ..core.modes import amp_state
from .arguments import finish, rank_of
from .arrange import roll
from .fourier import ADJOINT_NORM, fft_c2c_op, fft_c2r_op, fft_r2c_op, resize_axes_op
from .like import as_float, cast
from .registry import get_op
from .sizes import size_of

Sizes = Sequence[int] | None

# -- arguments -------------------------------------------------------------------------------------------------------


def _size(op: str, n: Any) -> int:
    try:
        size = operator.index(n)
    except TypeError:
        raise ArgumentError(f"{op}: sizes must be ints, got {n!r}") from None
    if size < 1:
        raise ArgumentError(f"{op}: sizes must be positive, got {size}")
    return size


def _axis(op: str, axis: Any, ndim: int) -> int:
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise ArgumentError(f"{op}: axes must be ints in [{-ndim}, {ndim}), got {axis!r}")
    return axis % ndim


def _sizes_and_axes(op: str, s: Sizes, axes: Sizes, ndim: int, count: int | None = None) -> tuple[Shape | None, Shape]:
    for name, given in (("s", s), ("axes", axes)):
        if given is not None and not isinstance(given, Iterable):
            raise ArgumentError(f"{op}: {name} must be a list of ints, got {given!r}")
    if count is not None and any(given is not None and len(given) != count for given in (s, axes)):
        raise ArgumentError(f"{op}: s and axes must hold {count} ints, got {s} and {axes}")
    sizes = None if s is None else tuple(_size(op, n) for n in s)
    if axes is None:
        axes = range(ndim - len(sizes), ndim) if sizes is not None else range(ndim)
    found = tuple(_axis(op, a, ndim) for a in axes)
    if len(set(found)) != len(found) or not found:
        raise ArgumentError(f"{op}: axes must name at least one dimension, each once, got {list(axes)}")
    if sizes is not None and len(sizes) != len(found):
        raise ArgumentError(f"{op}: {len(sizes)} sizes for {len(found)} axes")
    return sizes, found


def _checked(op: str, x: Any, norm: str) -> Any:
    if norm not in ADJOINT_NORM:
        raise ArgumentError(f"{op}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    rank_of(op, x)
    if amp_state.get() is not None and x.dtype.name in ("float16", "bfloat16"):
        x = cast(x, "float32")
    if x.dtype.is_bool or x.dtype.name in ("float16", "bfloat16"):
        found = Meta(tuple(x.shape), x.dtype)
        raise DTypeError(f"{op}: x is {found}, expected integers, float32, float64 or complex numbers")
    return as_float(x)


def _resized(x: Any, sizes: Shape | None, axes: Shape) -> Any:
    """x cut, or filled up with zeros, to these sizes."""
    if sizes is None or all(x.shape[a] == n for a, n in zip(axes, sizes)):
        return x
    return resize_axes_op(x, axes=axes, sizes=sizes)


# -- the three transforms --------------------------------------------------------------------------------------------


def _whole(x: Any, sizes: Shape | None, axes: Shape, norm: str, forward: bool) -> Any:
    return fft_c2c_op(_resized(x, sizes, axes), axes=axes, norm=norm, forward=forward)


def _to_half(x: Any, sizes: Shape | None, axes: Shape, norm: str, forward: bool) -> Any:
    return fft_r2c_op(_resized(x, sizes, axes), axes=axes, norm=norm, forward=forward)


def _from_half(x: Any, sizes: Shape | None, axes: Shape, norm: str, forward: bool) -> Any:
    spectrum = x if x.dtype.is_complex else cast(x, complex128 if x.dtype is float64 else complex64)
    halved = None if sizes is None else (*sizes[:-1], sizes[-1] // 2 + 1)
    odd = sizes is not None and sizes[-1] % 2 == 1
    return fft_c2r_op(_resized(spectrum, halved, axes), axes=axes, norm=norm, forward=forward, odd=odd)


Transform = Callable[[Any, Shape | None, Shape, str, bool], Any]
# name -> (transform, forward?, what it gives, an example's input and result)
_KINDS: dict[str, tuple[Transform, bool, str, tuple[str, str]]] = {
    "fft": (_whole, True, "The discrete Fourier transform of x, real or complex", ("[1.0, 0.0]", "[(1+0j), (1+0j)]")),
    "ifft": (_whole, False, "The inverse discrete Fourier transform of x", ("[2.0, 0.0]", "[(1+0j), (1+0j)]")),
    "rfft": (
        _to_half, True, "The discrete Fourier transform of real x, without the frequencies that follow from the others",
        ("[1.0, 0.0]", "[(1+0j), (1+0j)]"),
    ),
    "irfft": (
        _from_half, False, "The real numbers whose Fourier transform is x, with n // 2 + 1 frequencies",
        ("[2.0, 0.0]", "[1.0, 1.0]"),
    ),
    "hfft": (
        _from_half, True, "The real Fourier transform of numbers that are symmetric about 0, of which x has n // 2 + 1",
        ("[1.0, 0.0]", "[1.0, 1.0]"),
    ),
    "ihfft": (
        _to_half, False, "The n // 2 + 1 numbers, symmetric about 0, whose Fourier transform is the real x",
        ("[2.0, 0.0]", "[(1-0j), (1-0j)]"),
    ),
}  # fmt: skip
_LAST = "half (with n // 2 + 1 frequencies) is the last of them"


def _published(
    fn: Callable[..., Any], name: str, text: str, example: tuple[str, str], **aliases: str
) -> Callable[..., Any]:
    fn.__name__ = fn.__qualname__ = name
    call = f"paddle.fft.{name}(paddle.to_tensor({example[0]})).tolist()"
    fn.__doc__ = (
        f"{text}\n\n    norm: where the scale 1/n stands: 'backward' in inverse transforms, 'forward' in the others,"
        f" 'ortho' for its\n    root in both. Raises ArgumentError, DTypeError. Source: paddle.fft.{name}.\n\n"
        f"    Example:\n        >>> import vitrify as paddle\n        >>> {call}\n        {example[1]}\n    "
    )
    return aliased(x="input", **aliases)(fn)


def _along_one(kind: str) -> Callable[..., Any]:
    transform, forward, text, example = _KINDS[kind]

    def call(
        x: Any, n: int | None = None, axis: int | None = -1, norm: str = "backward", name: str | None = None, *,
        out: Any = None,
    ) -> Any:  # fmt: skip
        values = _checked(kind, x, norm)
        sizes = None if n is None else (_size(kind, n),)
        place = _axis(kind, -1 if axis is None else axis, x.ndim)
        found = transform(values, sizes, (place,), norm, forward)
        return finish(kind, found, out)

    return _published(call, kind, f"{text}, along `axis`, cut or filled up with zeros to n.", example, axis="dim")


def _along_two(kind: str) -> Callable[..., Any]:
    transform, forward, text, (given, found) = _KINDS[kind]
    name_of = kind + "2"

    def call(
        x: Any, s: Sizes = None, axes: Sizes = (-2, -1), norm: str = "backward", name: str | None = None, *,
        out: Any = None,
    ) -> Any:  # fmt: skip
        values = _checked(name_of, x, norm)
        sizes, places = _sizes_and_axes(name_of, s, axes, x.ndim, 2)
        return finish(name_of, transform(values, sizes, places, norm, forward), out)

    text = f"{text}, along two axes (None: all, or the last two with s), cut or filled up to the sizes s; {_LAST}."
    return _published(call, name_of, text, (f"[{given}]", f"[{found}]"), axes="dim")


def _along_many(kind: str) -> Callable[..., Any]:
    transform, forward, text, example = _KINDS[kind]
    name_of = kind + "n"

    def call(
        x: Any, s: Sizes = None, axes: Sizes = None, norm: str = "backward", name: str | None = None, *,
        out: Any = None,
    ) -> Any:  # fmt: skip
        values = _checked(name_of, x, norm)
        sizes, places = _sizes_and_axes(name_of, s, axes, x.ndim)
        return finish(name_of, transform(values, sizes, places, norm, forward), out)

    text = f"{text}, along axes (all, or as many as s has), cut or filled up with zeros to the sizes s; {_LAST}."
    return _published(call, name_of, text, example, axes="dim")


fft, fft2, fftn = _along_one("fft"), _along_two("fft"), _along_many("fft")
ifft, ifft2, ifftn = _along_one("ifft"), _along_two("ifft"), _along_many("ifft")
rfft, rfft2, rfftn = _along_one("rfft"), _along_two("rfft"), _along_many("rfft")
irfft, irfft2, irfftn = _along_one("irfft"), _along_two("irfft"), _along_many("irfft")
hfft, hfft2, hfftn = _along_one("hfft"), _along_two("hfft"), _along_many("hfft")
ihfft, ihfft2, ihfftn = _along_one("ihfft"), _along_two("ihfft"), _along_many("ihfft")

# -- frequencies and shifts ------------------------------------------------------------------------------------------


def _frequencies(op: str, values: Callable[[int, float], Any], n: int, d: float, dtype: Any) -> Any:
    if n <= 0 or d == 0:
        raise ArgumentError(f"{op}: n must be positive and d not 0, got {n} and {d}")
    kind = default_dtype() if dtype is None else as_dtype(dtype)
    if kind.is_integer or kind.is_bool:  # shares of numbers are no whole numbers: float32, as in PaddlePaddle
        kind = float32
    return get_op("assign")(values(n, d).astype(kind.np))


def fftfreq(
    n: int, d: float = 1.0, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """The frequencies of an `fft` of n samples that are d apart: [n], those below 0 last.

    dtype: floating, or float32 is what comes. Raises ArgumentError for n < 1 or d = 0. Source: paddle.fft.fftfreq.

    Example:
        >>> import vitrify as paddle
        >>> paddle.fft.fftfreq(4, 0.5).tolist()
        [0.0, 0.5, -1.0, -0.5]
    """
    return finish("fftfreq", _frequencies("fftfreq", np.fft.fftfreq, n, d, dtype), out, device, requires_grad)


def rfftfreq(
    n: int, d: float = 1.0, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """The frequencies of an `rfft` of n samples that are d apart: [n // 2 + 1].

    dtype: floating, or float32 is what comes. Raises ArgumentError for n < 1 or d = 0. Source: paddle.fft.rfftfreq.

    Example:
        >>> import vitrify as paddle
        >>> paddle.fft.rfftfreq(4, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    return finish("rfftfreq", _frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype), out, device, requires_grad)


def _shifted(op: str, x: Any, axes: Any, share: Callable[[Any], Any]) -> Any:
    named = range(rank_of(op, x)) if axes is None else (axes,) if isinstance(axes, int) else axes
    places = [_axis(op, a, x.ndim) for a in named]
    return roll(x, [share(size_of(x, a)) for a in places], places)


@aliased(x="input", axes="dim")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """x with frequency 0, first in each of `axes` (all by default), moved to the middle. Source: paddle.fft.fftshift.

    Example:
        >>> import vitrify as paddle
        >>> paddle.fft.fftshift(paddle.to_tensor([0, 1, 2, -2, -1])).tolist()
        [-2, -1, 0, 1, 2]
    """
    return _shifted("fftshift", x, axes, lambda size: size // 2)


@aliased(x="input", axes="dim")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """What `fftshift` made x from. Source: paddle.fft.ifftshift.

    Example:
        >>> import vitrify as paddle
        >>> paddle.fft.ifftshift(paddle.to_tensor([-2, -1, 0, 1, 2])).tolist()
        [0, 1, 2, -2, -1]
    """
    return _shifted("ifftshift", x, axes, lambda size: -(size // 2))

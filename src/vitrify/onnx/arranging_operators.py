"""What ONNX operators that move elements, shift bits or put windows together mean here."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import UnsupportedError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, known_ints, sizes_argument
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .node import Node, axis_in
from .operator_table import operator
from .reading import dtype_of
from .sizes import extent

_fft = lazy_module("vitrify.ops.fft")


@operator("BitShift")
def shift_bits(node: Node, x: Any, by: Any) -> Any:
    """x with its bits moved up or down; nothing is left after as many as there are, or after fewer than none."""
    found, places = as_tensor(x), as_tensor(by)
    width = found.dtype.itemsize * 8
    move = F.bitwise_left_shift if node.text("direction") == "LEFT" else F.bitwise_right_shift
    is_signed = found.dtype.np.kind == "i"
    inside = (places >= 0) & (places < width) if is_signed else places < width
    moved = move(found, F.where(inside, places, F.zeros_like(places)))
    nothing = F.zeros_like(moved)
    if is_signed and node.text("direction") != "LEFT":
        nothing = F.where(F.zeros_like(places) + found < 0, nothing - 1, nothing)  # the sign is what is left
    return F.where(inside, moved, nothing)


@operator("BitCast")
def other_bits(node: Node, x: Any) -> Any:
    """The bytes of x as another dtype of the same width."""
    return get_op("view_dtype")(as_tensor(x), dtype=dtype_of(node.number("to")))


@operator("CumProd")
def running_product(node: Node, x: Any, axis: Any) -> Any:
    """Running products, without the element itself where they are exclusive."""
    found = as_tensor(x)
    place, reverse = axis_in(known_ints(axis)[0], found.ndim), bool(node.number("reverse", 0))
    found = F.flip(found, place) if reverse else found
    out = F.cumprod(found, place)
    if node.number("exclusive", 0):
        before = (slice(None),) * place
        out = F.concat([F.ones_like(out[(*before, slice(0, 1))]), out[(*before, slice(0, -1))]], place)
    return F.flip(out, place) if reverse else out


@operator("ReverseSequence")
def turned_sequences(node: Node, x: Any, lengths: Any) -> Any:
    """The first elements of each sequence in reverse, as many as its length says."""
    found, held = as_tensor(x), as_tensor(lengths)
    batch, time = (axis_in(node.number(f"{name}_axis", usual), found.ndim) for name, usual in
                   (("batch", 1), ("time", 0)))  # fmt: skip
    places = F.reshape(F.arange(extent(found, time), dtype=int64), [-1 if d == time else 1 for d in range(found.ndim)])
    ends = F.reshape(held, [-1 if d == batch else 1 for d in range(found.ndim)])
    index = F.where(places < ends, ends - 1 - places, F.zeros_like(ends) + places)
    whole = F.zeros_like(found, int64) + index
    return get_op("take_along_axis")(found, whole, axis=time, broadcast=False)


@operator("CenterCropPad")
def middle(node: Node, x: Any, sizes: Any) -> Any:
    """x cut or padded with zeros on both sides to other sizes."""
    found, wanted = as_tensor(x), sizes_argument(sizes)
    axes = [axis_in(a, found.ndim) for a in node.ints("axes", list(range(found.ndim)))]
    if UNKNOWN in [found.shape[a] for a in axes] or not all(isinstance(w, int) for w in wanted):
        raise UnsupportedError("CenterCropPad needs known sizes")
    pads, parts = [0] * (2 * found.ndim), [slice(None)] * found.ndim
    for axis, size in zip(axes, wanted):
        have = found.shape[axis]
        low = abs(have - size) // 2
        if have > size:
            parts[axis] = slice(low, low + size)
        else:
            pads[2 * axis : 2 * axis + 2] = [low, size - have - low]
    return get_op("pad")(found[tuple(parts)], pads=tuple(pads), mode="constant", value=0)


@operator("TensorScatter")
def written(node: Node, cache: Any, update: Any, starts: Any = None) -> Any:
    """A cache with new elements at a place along one dimension, of each sample its own."""
    held, new = as_tensor(cache), as_tensor(update)
    axis, n = axis_in(node.number("axis", -2), held.ndim), held.ndim
    places = F.reshape(F.arange(extent(new, axis), dtype=int64), [-1 if d == axis else 1 for d in range(n)])
    if starts is not None:
        places = F.reshape(cast(as_tensor(starts), int64), [-1, *[1] * (n - 1)]) + places
    if node.text("mode", "linear") == "circular":
        places = places % extent(held, axis)
    return get_op("put_along_axis")(
        held, F.zeros_like(new, int64) + places, new, axis=axis, reduce="assign", include_self=True, broadcast=False
    )


@operator("Col2Im", known=(1, 2))
def put_together(node: Node, x: Any, sizes: Any, block: Any) -> Any:
    """Blocks of images summed where they lie."""
    kernel = known_ints(block)
    if len(kernel) != 2:
        raise UnsupportedError(f"Col2Im of {len(kernel)} dimensions cannot be read")
    pads = node.ints("pads", [0] * 4)
    return get_op("fold_patches")(
        as_tensor(x), sizes=tuple(known_ints(sizes)), kernel=tuple(kernel), stride=tuple(node.ints("strides", [1, 1])),
        pads=((pads[0], pads[2]), (pads[1], pads[3])), dilation=tuple(node.ints("dilations", [1, 1])),
    )  # fmt: skip


@operator("AffineGrid", known=(1,))
def grid(node: Node, theta: Any, sizes: Any) -> Any:
    """Where matrices take the places of a regular grid."""
    return F.affine_grid(as_tensor(theta), known_ints(sizes), bool(node.number("align_corners", 0)))


# -- signals -----------------------------------------------------------------------------------------------------------

_COSINES = {
    "HannWindow": (0.5, -0.5, 0.0), "HammingWindow": (25 / 46, -21 / 46, 0.0), "BlackmanWindow": (0.42, -0.5, 0.08)
}  # fmt: skip


@operator(*_COSINES, known=(0,))
def window(node: Node, size: Any) -> Any:
    """A sum of cosines over one period, or over as many steps as there are between the elements."""
    (count,) = known_ints(size)
    span = count if node.number("periodic", 1) else count - 1
    at = 2 * np.pi * np.arange(count) / max(span, 1)
    found = sum(by * np.cos(k * at) for k, by in enumerate(_COSINES[node.type]))
    return cast(as_tensor(np.asarray(found)), dtype_of(node.number("output_datatype", 1)))


def _transformed(x: Any, axis: int, count: int | None, inverse: bool, onesided: bool) -> Any:
    """The Fourier transform of x [*, 1 or 2], whose last dimension holds real and imaginary parts."""
    is_real = x.shape[-1] == 1
    if inverse and onesided:
        whole = _fft.irfft(F.as_complex(x), count, axis)
        return F.unsqueeze(whole, -1)
    given = F.squeeze(x, -1) if is_real else F.as_complex(x)
    if onesided and is_real:
        return F.as_real(_fft.rfft(given, count, axis))
    return F.as_real((_fft.ifft if inverse else _fft.fft)(given, count, axis))


@operator("DFT", known=(1, 2))
def transform(node: Node, x: Any, count: Any = None, axis: Any = None) -> Any:
    """The discrete Fourier transform along a dimension, real and imaginary parts side by side."""
    found = as_tensor(x)
    named = known_ints(axis)[0] if axis is not None else node.number("axis", 1 if node.opset < 20 else -2)
    length = None if count is None else known_ints(count)[0]
    return _transformed(found, axis_in(named, found.ndim), length, bool(node.number("inverse", 0)),
                        bool(node.number("onesided", 0)))  # fmt: skip


@operator("STFT", known=(1, 3))
def transforms(node: Node, x: Any, step: Any, weights: Any = None, length: Any = None) -> Any:
    """The transforms of frames of signals [batch, length, 1 or 2]: [batch, frames, frequencies, 2]."""
    found = as_tensor(x)
    if length is not None:
        (size,) = known_ints(length)
    else:
        size = found.shape[1] if weights is None else as_tensor(weights).shape[0]
    frames = get_op("unfold_windows")(found, axis=1, size=size, step=known_ints(step)[0])
    frames = F.transpose(frames, [0, 1, 3, 2])
    if weights is not None:
        frames = frames * F.unsqueeze(as_tensor(weights), 1)
    return _transformed(frames, 2, None, False, bool(node.number("onesided", 1)) and found.shape[-1] == 1)

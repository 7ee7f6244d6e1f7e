"""Moving elements between channels and space: pixel shuffles, channel shuffle, masks from lengths."""

from __future__ import annotations

from typing import Any

from ..core.dtype import as_dtype, int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN
from .arguments import rank_of
from .creation import arange
from .like import cast
from .reduce import max
from .shape import flatten, unflatten, unsqueeze
from .transpose import transpose

FORMATS = ("NCHW", "NHWC")


def _sizes(op: str, x: Any, data_format: str) -> tuple[Any, int, Any, Any]:
    """(n, c, h, w) of x; the batch and space may be unknown."""
    if data_format not in FORMATS:
        raise ArgumentError(f"{op}: data_format must be NCHW or NHWC, got {data_format!r}")
    if rank_of(op, x) != 4:
        raise ShapeError(f"{op}: x must have 4 dimensions, got {list(x.shape)}")
    n, *rest = x.shape
    c, h, w = rest if data_format == "NCHW" else (rest[2], rest[0], rest[1])
    return n, c, h, w


def _divisible(op: str, size: int, factor: int, what: str) -> int:
    if factor < 1 or (size != UNKNOWN and size % factor):
        raise ShapeError(f"{op}: {what} ({size}) must be divisible by {factor}")
    return size if size == UNKNOWN else size // factor


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Channels spread over space. x: [n, c*r*r, h, w] -> [n, c, h*r, w*r] for r = upscale_factor.

    Source: paddle.nn.functional.pixel_shuffle; Shi et al., 2016.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.pixel_shuffle(paddle.ones([1, 4, 2, 3]), 2).shape
        paddle.Size([1, 1, 4, 6])
    """
    r = upscale_factor
    _, c, _, _ = _sizes("pixel_shuffle", x, data_format)
    out = _divisible("pixel_shuffle", c, r * r, "the number of channels")
    channels, rows = (1, 2) if data_format == "NCHW" else (3, 1)
    spread = transpose(unflatten(x, channels, [out, r, r]), [0, 1, 4, 2, 5, 3])
    return flatten(flatten(spread, rows, rows + 1), rows + 1, rows + 2)


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Space gathered into channels, the inverse of pixel_shuffle. x: [n, c, h*r, w*r] -> [n, c*r*r, h, w].

    Source: paddle.nn.functional.pixel_unshuffle.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.pixel_unshuffle(paddle.ones([1, 1, 4, 6]), 2).shape
        paddle.Size([1, 4, 2, 3])
    """
    r = downscale_factor
    _, _, height, width = _sizes("pixel_unshuffle", x, data_format)
    h = _divisible("pixel_unshuffle", height, r, "the height")
    w = _divisible("pixel_unshuffle", width, r, "the width")
    channels, rows = (1, 2) if data_format == "NCHW" else (3, 1)
    blocks = unflatten(unflatten(x, rows + 1, [w, r]), rows, [h, r])
    return flatten(transpose(blocks, [0, 1, 3, 5, 2, 4]), channels, channels + 2)


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Channels dealt out in turn from `groups` groups. x: [n, c, h, w] -> the same shape.

    Source: paddle.nn.functional.channel_shuffle; Zhang et al., ShuffleNet, 2018.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    _, c, _, _ = _sizes("channel_shuffle", x, data_format)
    each = _divisible("channel_shuffle", c, groups, "the number of channels")
    at, order = (1, [0, 2, 1, 3, 4]) if data_format == "NCHW" else (3, [0, 1, 2, 4, 3])
    return flatten(transpose(unflatten(x, at, [groups, each]), order), at, at + 1)


def sequence_mask(x: Any, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """1 up to each length and 0 beyond. x: [*n] lengths -> [*n, maxlen]; the longest one by default.

    Source: paddle.nn.functional.sequence_mask.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    rank_of("sequence_mask", x)
    longest = cast(max(x), int64) if maxlen is None else maxlen
    steps = arange(longest, dtype=x.dtype)
    return (steps < unsqueeze(x, -1)).astype(as_dtype(dtype))


__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "sequence_mask"]

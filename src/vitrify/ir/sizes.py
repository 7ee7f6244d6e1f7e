"""How many bytes values take, where some of their sizes are unknown."""

from __future__ import annotations

from ..core.meta import UNKNOWN, Meta, numel
from .program import AnyMeta

UNKNOWN_SIZE = 32
"""What a dimension of unknown size counts as."""


def sized(meta: Meta) -> Meta:
    """The meta with a size for each dimension.

    >>> from vitrify.core.dtype import float32
    >>> sized(Meta((-1, 4), float32))
    Meta(shape=(32, 4), dtype=paddle.float32)
    """
    if UNKNOWN not in meta.shape:
        return meta
    return meta.with_shape(tuple(UNKNOWN_SIZE if size == UNKNOWN else size for size in meta.shape))


def bytes_of(meta: AnyMeta | None) -> int:
    """The size of a buffer for it; 0 for what is not one array."""
    if not isinstance(meta, Meta):
        return 0
    return numel((meta if meta.is_static else sized(meta)).shape) * meta.dtype.np.itemsize


__all__ = ["UNKNOWN_SIZE", "bytes_of", "sized"]

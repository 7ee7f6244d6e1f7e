"""Results that no array can be: found out from their sizes, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import ArgumentError
from ..core.meta import Meta
from ..core.size_text import size_text

MOST_BYTES = (1 << 63) - 1
"""Bytes that addresses tell apart: an array of more can be neither made nor seen as a view."""


def within_reach(op: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """A meta rule that raises ArgumentError, with the size, for a result of more bytes than there are addresses.

    Dimensions of size 0 and unknown ones count as 1, for the steps between elements must be addresses, too.
    """

    def sized(*inputs: Any, **attrs: Any) -> Any:
        found = rule(*inputs, **attrs)
        for meta in (found,) if found.__class__ is Meta else found if isinstance(found, (tuple, list)) else ():
            if meta.__class__ is Meta and least_bytes(meta) > MOST_BYTES:
                need_reach(op, meta)
        return found

    return sized


def need_reach(op: str, meta: Meta) -> None:
    """Raise ArgumentError for a result of more bytes than there are addresses."""
    size = least_bytes(meta)
    if size > MOST_BYTES:
        raise ArgumentError(f"{op}: the result {meta} takes {size_text(size)}, more than any array can have")


def least_bytes(meta: Meta) -> int:
    """The bytes of a tensor whose dimensions of size 0 and of unknown size have one element."""
    size = meta.dtype.itemsize
    for dim in meta.shape:
        if dim > 1:
            size *= dim
    return size


__all__ = ["MOST_BYTES", "least_bytes", "need_reach", "within_reach"]

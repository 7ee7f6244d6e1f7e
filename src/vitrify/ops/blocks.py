"""Expressions of several passes over large NumPy arrays, computed block by block.

A block's temporaries stay in the cache and their memory is used again by the next one, where a whole array's would go
to main memory and back for every pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

# Elements a block holds.
_BLOCK = 1 << 14


def in_blocks(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(*arrays, **attrs)`, elementwise, that works in blocks where its arrays are large and lie alike in memory."""

    @functools.wraps(fn)
    def call(*args: Any, **attrs: Any) -> Any:
        flat = _flattened(args)
        if flat is None:
            return fn(*args, **attrs)
        like = next(a for a in args if a.__class__ is np.ndarray and a.ndim)
        first = fn(*_part(flat, slice(0, _BLOCK)), **attrs)
        out = np.empty_like(like, dtype=first.dtype)
        target = _in_memory_order(out)
        target[:_BLOCK] = first
        for start in range(_BLOCK, like.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            target[block] = fn(*_part(flat, block), **attrs)
        return out

    return call


def _flattened(args: tuple[Any, ...]) -> list[Any] | None:
    """`args` with each array as its elements in memory order, numbers as they are; None if it is not worth it."""
    like = None
    for arg in args:
        if arg.__class__ is not np.ndarray or arg.ndim == 0:
            continue
        if arg.size <= 2 * _BLOCK or (like is not None and (arg.shape != like.shape or _places(arg) != _places(like))):
            return None
        like = arg
    if like is None or _in_memory_order(like) is None:
        return None
    return [_in_memory_order(a) if a.__class__ is np.ndarray and a.ndim else a for a in args]


def _places(array: Any) -> tuple[int, ...]:
    """The array's strides in elements, so that dtypes of different sizes compare."""
    return tuple(s // array.itemsize for s in array.strides)


def _in_memory_order(array: Any) -> Any:
    """A flat view of the elements as they lie in memory; None where there are gaps between them."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    order = sorted(range(array.ndim), key=lambda i: -array.strides[i])
    ordered = array.transpose(order)
    return ordered.reshape(-1) if ordered.flags.c_contiguous else None


def _part(flat: list[Any], block: slice) -> list[Any]:
    return [f[block] if f.__class__ is np.ndarray and f.ndim else f for f in flat]

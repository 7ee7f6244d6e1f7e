"""Operators that lowering inserts between others, to bring a value to where a kernel takes it, or into a form.

No user calls them and no saved program holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.meta import Meta
from .registry import NoGradient, define_op

_INSERTED = NoGradient("programs are differentiated before they are lowered")


def each_array(fn: Callable[[Any], Any], value: Any) -> Any:
    """`value` with `fn` applied to it, or to every array of a list; None and what is no array stays."""
    if isinstance(value, (list, tuple)):
        return [each_array(fn, item) for item in value]
    return fn(value) if hasattr(value, "dtype") else value


def _to_host(xp: Any, x: Any) -> Any:
    return x if xp is np else each_array(xp.asnumpy, x)


def _to_device(xp: Any, x: Any) -> Any:
    return x if xp is np else each_array(xp.asarray, x)


memcpy_d2h_op = define_op("memcpy_d2h", kernel=_to_host, meta=lambda x: x, vjp=_INSERTED, view=True, moves="d2h")
memcpy_h2d_op = define_op("memcpy_h2d", kernel=_to_device, meta=lambda x: x, vjp=_INSERTED, view=True, moves="h2d")


def _relaid(xp: Any, x: Any, *, channel_last: bool) -> Any:
    """channel_last: where the channels go."""
    moved = xp.moveaxis(x, 1, -1) if channel_last else xp.moveaxis(x, -1, 1)
    return xp.ascontiguousarray(moved)


def _relaid_meta(x: Meta, *, channel_last: bool) -> Meta:
    first, *rest = x.shape
    return x.with_shape((first, *rest[1:], rest[0]) if channel_last else (first, rest[-1], *rest[:-1]))


transfer_dtype_op = define_op(
    "transfer_dtype",
    kernel=lambda xp, x, *, dtype: x.astype(dtype.np),
    meta=lambda x, *, dtype: x.with_dtype(dtype),
    vjp=_INSERTED,
)
transfer_layout_op = define_op("transfer_layout", kernel=_relaid, meta=_relaid_meta, vjp=_INSERTED)

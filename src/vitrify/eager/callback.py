"""Ops that call a Python function on arrays, in the middle of eager code or of a program, with a vjp if wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import ShapeError
from ..core.meta import Meta
from ..core.place import CPUPlace
from ..core.sequences import as_list
from ..device.api import put
from ..ops.registry import NoGradient, OpDef, define_op
from .arrays import to_array
from .host_ops import always_called

_CPU = CPUPlace()


def run_callback(function: Callable[..., Any], values: Sequence[Any], out: Sequence[Meta]) -> tuple[Any, ...]:
    """What `function` gives for the arrays of `values`; raises ShapeError where `out` says something else."""
    found = function(*map(_read_only, values))
    results = found if isinstance(found, (list, tuple)) else [found]
    if len(results) != len(out):
        raise ShapeError(f"host_callback: the function gave {len(results)} values, out says {len(out)}")
    return tuple([_checked(value, meta) for value, meta in zip(results, out)])


def _read_only(value: Any) -> Any:
    array = np.asarray(put(value, _CPU)).view()
    array.flags.writeable = False
    return array


def _checked(value: Any, meta: Meta) -> Any:
    array = np.asarray(value)
    fits = len(array.shape) == len(meta.shape) and all(b in (-1, a) for a, b in zip(array.shape, meta.shape))
    if not fits or array.dtype != meta.dtype.np:
        raise ShapeError(f"host_callback: the function gave {array.dtype}{list(array.shape)}, out says {meta}")
    return to_array(array, meta.dtype, None)


def _pulled(vjp: Callable[..., Any], count: int, *arrays: Any) -> list[Any]:
    """The cotangents of the first `count` arrays, zeros for those that `vjp` leaves out."""
    found = vjp(*arrays)
    found = as_list(found)
    if len(found) != count:
        raise ShapeError(f"host_callback: vjp gave {len(found)} cotangents for {count} tensors")
    return [np.zeros_like(a) if ct is None else ct for ct, a in zip(found, arrays)]


def _callback_vjp(cts: Sequence[Any], *, values: Sequence[Any], function: Any, out: Any, vjp: Any) -> dict[str, Any]:
    wanted = tuple([Meta(tuple(v.shape), v.dtype) for v in values])
    pulled = partial(_pulled, vjp, len(wanted))
    return {"values": list(callback_op(*values, *cts, function=pulled, out=wanted))}


callback_op: OpDef = define_op(
    "host_callback",
    kernel=lambda xp, *values, function, out: run_callback(function, values, out),
    meta=lambda *values, function, out: out,
    called_back=always_called,
    vjp=NoGradient("a Python function computed it, without a vjp"),
    outputs=("*outs",),
    effect=True,
)
differentiable_callback_op: OpDef = define_op(
    "differentiable_host_callback",
    kernel=lambda xp, *values, function, out, vjp: run_callback(function, values, out),
    meta=lambda *values, function, out, vjp: out,
    called_back=always_called,
    vjp=_callback_vjp,
    outputs=("*outs",),
    effect=True,
)

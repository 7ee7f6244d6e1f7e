"""Calls of functions of the Program, and the frames that their runs keep for gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.meta import FrameMeta
from .control_flow import Callee, Steps, check_block
from .registry import VARIADIC_OUTPUTS, StructuralGradient, define_op


def _call_steps(xp: Any, *values: Any, function: Callee) -> Steps:
    """Runs the function in a frame of its own."""
    return (yield function, list(values))


def _call_meta(*values: Any, function: Any) -> tuple[Any, ...]:
    if not function.name:
        raise ArgumentError("call: what it calls is no function")
    check_block("call", "function", function, values)
    return tuple(v.meta for v in function.outputs)


call_op = define_op(
    "call",
    amp="keep",
    steps=_call_steps,
    meta=_call_meta,
    native=lambda n, *values, function: n.call(function, values),
    vjp=StructuralGradient("the function is differentiated as a block, once; its gradient is a function too"),
    outputs=VARIADIC_OUTPUTS,
)


def _check_metas(op: str, metas: Any) -> None:
    if not isinstance(metas, tuple):
        raise ArgumentError(f"{op}: metas is a tuple of what the frame holds")


def _pack_meta(*values: Any, metas: Any) -> Any:
    _check_metas("pack_frame", metas)
    if len(values) != len(metas):
        raise ArgumentError(f"pack_frame: {len(values)} values for a frame of {len(metas)}")
    return FrameMeta()


def _packed(xp: Any, *values: Any, metas: Any) -> tuple[Any, ...]:
    """NumPy's scalars become arrays, which native code can read."""
    return tuple([np.asarray(v) if isinstance(v, np.generic) else v for v in values])


pack_frame_op = define_op(
    "pack_frame",
    amp="keep",
    kernel=_packed,
    meta=_pack_meta,
    native=lambda n, *values, metas: n.pack(values),
    vjp=StructuralGradient("the cotangent of a frame is a frame"),
)


def _unpack_meta(frame: Any, *, metas: Any) -> Any:
    _check_metas("unpack_frame", metas)
    if not isinstance(frame, (FrameMeta, tuple)):  # at run time rules are asked about the values themselves
        raise ArgumentError(f"unpack_frame: given is {frame}, not a frame")
    return metas


unpack_frame_op = define_op(
    "unpack_frame",
    amp="keep",
    kernel=lambda xp, frame, *, metas: frame,
    meta=_unpack_meta,
    native=lambda n, frame, metas: n.unpack(frame, metas),
    vjp=StructuralGradient("the cotangent of a frame is a frame"),
    outputs=VARIADIC_OUTPUTS,
)

"""Mixed precision as a property of ops: `amp="allow"` computes in the low precision, `"deny"` in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import as_dtype
from ..core.modes import amp_state
from .registry import OpDef, get_op

_LOW = ("float16", "bfloat16")


def cast_for_amp(op: OpDef, inputs: Sequence[Any]) -> list[Any]:
    """`inputs` cast as the current auto_cast state asks for this op; integer inputs are left alone."""
    state = amp_state.get()
    if state is None or op.name == "cast":
        return list(inputs)
    policy = "allow" if op.name in state.allow else "deny" if op.name in state.deny else op.amp
    if policy == "allow" or (policy is None and state.level == "O2"):
        return _cast_floats(inputs, state.dtype, from_names=("float32", *_LOW))
    if policy == "deny":
        return _cast_floats(inputs, "float32", from_names=_LOW)
    return list(inputs)


def _cast_floats(inputs: Sequence[Any], to: str, from_names: Sequence[str]) -> list[Any]:
    cast = get_op("cast")
    target = as_dtype(to)
    return [
        cast(v, dtype=target) if hasattr(v, "dtype") and v.dtype.name in from_names and v.dtype is not target else v
        for v in inputs
    ]

"""Mixed precision as a property of ops: `amp="allow"` computes in the low precision, `"deny"` in float32, and
`"wide"`, for ops that need float32's range, in float32 except at level O2; `"keep"`, for ops that hand values
on instead of computing with them, leaves every dtype as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import as_dtype
from ..core.modes import AmpState, amp_state
from .registry import OpDef, get_op

_LOW = ("float16", "bfloat16")


def cast_for_amp(op: OpDef, inputs: Sequence[Any]) -> list[Any]:
    """`inputs` cast as the current auto_cast state asks for this op; integer inputs are left alone."""
    state = amp_state.get()
    if state is None or op.amp == "keep":
        return list(inputs)
    policy = "allow" if op.name in state.allow else "deny" if op.name in state.deny else op.amp
    if policy == "wide":
        policy = None if state.level == "O2" else "deny"
    if policy is None:
        policy = _by_level(state, inputs)
    if policy == "allow":
        return _cast_floats(inputs, state.dtype, from_names=("float32", *_LOW))
    if policy == "deny":
        return _cast_floats(inputs, "float32", from_names=_LOW)
    return list(inputs)


def _by_level(state: AmpState, inputs: Sequence[Any]) -> str | None:
    """The policy of an op that has none: its inputs' widest dtype at O1, low precision at O2, float32 at OD."""
    if state.level == "O1":
        names = set(map(_dtype_name, inputs))
        return "deny" if "float32" in names and not names.isdisjoint(_LOW) else None
    full = state.level == "OD" or (state.promote and any(_dtype_name(v) == "float32" for v in inputs))
    return "deny" if full else "allow"


def _dtype_name(value: Any) -> str | None:
    return value.dtype.name if hasattr(value, "dtype") else None


def _cast_floats(inputs: Sequence[Any], to: str, from_names: Sequence[str]) -> list[Any]:
    cast = get_op("cast")
    target = as_dtype(to)
    return [cast(v, dtype=target) if _dtype_name(v) in from_names and v.dtype is not target else v for v in inputs]

"""Values between memory and registers: how each dtype lies in memory."""

from __future__ import annotations

from .casts import bfloat_bits, widened_bits
from .emit import BFLOAT16, BOOL, FLOAT16, Dtype, Emitter, Register, memory_type


def load(emit: Emitter, pointer: str, dtype: Dtype, lanes: int, index: str = "0") -> Register:
    """`lanes` neighbouring elements, from element `index` on."""
    type = memory_type(dtype)
    at = emit.value(f"getelementptr {type}, ptr {pointer}, i64 {index}", "ptr", 1)
    full = f"<{lanes} x {type}>" if lanes > 1 else type
    raw = emit.value(f"load {full}, ptr {at.text}, align {dtype.itemsize}", type, lanes)
    if dtype == BOOL:
        return emit.compare("icmp ne", raw, Register("i8", "0", 1))
    if dtype == FLOAT16:
        return emit.convert("fpext", raw, "float")
    return widened_bits(emit, raw) if dtype == BFLOAT16 else raw


def store(emit: Emitter, x: Register, pointer: str, dtype: Dtype, index: str = "0") -> None:
    """Put all lanes of x into neighbouring elements, from element `index` on."""
    if dtype == BOOL:
        x = emit.convert("zext", x, "i8")
    elif dtype == FLOAT16:
        x = emit.convert("fptrunc", x, "half")
    elif dtype == BFLOAT16:
        x = bfloat_bits(emit, x)
    at = emit.value(f"getelementptr {memory_type(dtype)}, ptr {pointer}, i64 {index}", "ptr", 1)
    emit.line(f"store {x.full_type} {x.text}, ptr {at.text}, align {dtype.itemsize}")

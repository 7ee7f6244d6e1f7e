"""Values between memory and registers: how each dtype lies in memory."""

from __future__ import annotations

from .casts import bfloat_bits, widened_bits
from .emit import BFLOAT16, BOOL, FLOAT16, Dtype, Emitter, Register, memory_type

# The type of an element in memory -> the end of the names of LLVM's functions for vectors of it.
_SUFFIX = {"float": "f32", "double": "f64", "half": "f16"}


def load(
    emit: Emitter, pointer: str, dtype: Dtype, lanes: int, index: str = "0", mask: Register | None = None
) -> Register:
    """`lanes` neighbouring elements, from element `index` on; where there is a mask, zeros where it is not set."""
    type = memory_type(dtype)
    at = emit.value(f"getelementptr {type}, ptr {pointer}, i64 {index}", "ptr", 1)
    full = f"<{lanes} x {type}>" if lanes > 1 else type
    if mask is None:
        raw = emit.value(f"load {full}, ptr {at.text}, align {dtype.itemsize}", type, lanes)
    else:
        symbol = f"@llvm.masked.load.v{lanes}{_SUFFIX.get(type, type)}.p0"
        emit.declarations[symbol] = f"declare {full} {symbol}(ptr, i32, <{lanes} x i1>, {full})"
        raw = emit.value(
            f"call {full} {symbol}(ptr {at.text}, i32 {dtype.itemsize}, <{lanes} x i1> {mask.text}, "
            f"{full} zeroinitializer)",
            type, lanes,
        )  # fmt: skip
    if dtype == BOOL:
        return emit.compare("icmp ne", raw, Register("i8", "0", 1))
    if dtype == FLOAT16:
        return emit.convert("fpext", raw, "float")
    return widened_bits(emit, raw) if dtype == BFLOAT16 else raw


def store(
    emit: Emitter, x: Register, pointer: str, dtype: Dtype, index: str = "0", mask: Register | None = None
) -> None:
    """Put all lanes of x, or those that a mask chooses, into neighbouring elements, from element `index` on."""
    if dtype == BOOL:
        x = emit.convert("zext", x, "i8")
    elif dtype == FLOAT16:
        x = emit.convert("fptrunc", x, "half")
    elif dtype == BFLOAT16:
        x = bfloat_bits(emit, x)
    at = emit.value(f"getelementptr {memory_type(dtype)}, ptr {pointer}, i64 {index}", "ptr", 1)
    if mask is None:
        emit.line(f"store {x.full_type} {x.text}, ptr {at.text}, align {dtype.itemsize}")
        return
    symbol = f"@llvm.masked.store.v{x.lanes}{_SUFFIX.get(x.type, x.type)}.p0"
    emit.declarations[symbol] = f"declare void {symbol}({x.full_type}, ptr, i32, <{x.lanes} x i1>)"
    emit.line(
        f"call void {symbol}({x.full_type} {x.text}, ptr {at.text}, i32 {dtype.itemsize}, "
        f"<{mask.lanes} x i1> {mask.text})"
    )

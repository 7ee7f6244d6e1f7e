"""Conversions between dtypes with NumPy's results on x86, those of numbers that do not fit included."""

from __future__ import annotations

from .emit import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, Dtype, Emitter, Register, constant, is_float, register_type


def converted(emit: Emitter, x: Register, source: Dtype, wanted: Dtype) -> Register:
    """x, a value of dtype `source`, as one of dtype `wanted`."""
    if source == wanted:
        return x
    if wanted == BOOL:
        return truth(emit, x, source)
    if is_float(source):
        return _float_to_float(emit, x, wanted) if is_float(wanted) else _float_to_integer(emit, x, wanted)
    if is_float(wanted):
        return _integer_to_float(emit, x, source, wanted)
    bits, type = int(x.type[1:]), register_type(wanted)
    if bits == int(type[1:]):
        return x
    is_wider = int(type[1:]) > bits
    return emit.convert(("sext" if source.kind == "i" else "zext") if is_wider else "trunc", x, type)


def truth(emit: Emitter, x: Register, dtype: Dtype) -> Register:
    """Whether x is not zero; NaN is not."""
    if dtype == BOOL:
        return x
    zero = Register(x.type, constant(0, dtype), 1)
    return emit.compare("fcmp une" if is_float(dtype) else "icmp ne", x, zero)


def rounded(emit: Emitter, x: Register, dtype: Dtype) -> Register:
    """A float register as the nearest number of a 16-bit type, kept as float; other types as they are."""
    if dtype == FLOAT16:
        return emit.convert("fpext", emit.convert("fptrunc", x, "half"), "float")
    if dtype == BFLOAT16:
        return widened_bits(emit, bfloat_bits(emit, x))
    return x


def bfloat_bits(emit: Emitter, x: Register) -> Register:
    """The 16 bits of a float rounded to bfloat16: to the even neighbour on a tie; every NaN is the quiet one."""
    bits = emit.convert("bitcast", x, "i32")
    odd = emit.binary("and", emit.binary("lshr", bits, _i32(16)), _i32(1))
    up = emit.binary("add", bits, emit.binary("add", odd, _i32(0x7FFF)))
    nan = emit.binary("or", emit.binary("and", bits, _i32(-(2**31))), _i32(0x7FC00000))
    found = emit.select(emit.compare("fcmp uno", x, x), nan, up)
    return emit.convert("trunc", emit.binary("lshr", found, _i32(16)), "i16")


def widened_bits(emit: Emitter, x: Register) -> Register:
    """The float whose upper half these 16 bits are."""
    return emit.convert("bitcast", emit.binary("shl", emit.convert("zext", x, "i32"), _i32(16)), "float")


def _i32(value: int) -> Register:
    return Register("i32", str(value), 1)


def _float_to_float(emit: Emitter, x: Register, wanted: Dtype) -> Register:
    if wanted == FLOAT64:
        return emit.convert("fpext", x, "double")
    if x.type == "double":
        x = _odd(emit, x) if wanted == FLOAT16 else emit.convert("fptrunc", x, "float")
    return rounded(emit, x, wanted)


def _odd(emit: Emitter, x: Register) -> Register:
    """A double as a float whose last bit says whether something was cut off, so that rounding it again is exact."""
    near = emit.convert("fptrunc", x, "float")
    back = emit.convert("fpext", near, "double")
    bits = emit.convert("bitcast", near, "i32")
    beyond = emit.compare("fcmp ogt", emit.intrinsic("fabs", back), emit.intrinsic("fabs", x))
    cut = emit.binary("sub", bits, emit.convert("zext", beyond, "i32"))
    inexact = emit.convert("zext", emit.compare("fcmp one", back, x), "i32")
    return emit.convert("bitcast", emit.binary("or", cut, inexact), "float")


def _integer_to_float(emit: Emitter, x: Register, source: Dtype, wanted: Dtype) -> Register:
    opcode = "sitofp" if source.kind == "i" else "uitofp"
    return rounded(emit, emit.convert(opcode, x, register_type(wanted)), wanted)


def _float_to_integer(emit: Emitter, x: Register, wanted: Dtype) -> Register:
    """Towards zero. What does not fit gives what the processor's conversion to a signed integer gives, cut to size."""
    bits = 8 * wanted.itemsize
    if wanted.kind == "u" and bits == 64:
        return _to_unsigned(emit, x)
    work = 64 if bits == 64 or (wanted.kind == "u" and bits == 32) else 32
    found = _to_signed(emit, x, work)
    return found if work == bits else emit.convert("trunc", found, f"i{bits}")


def _to_signed(emit: Emitter, x: Register, bits: int) -> Register:
    limit = 2.0 ** (bits - 1)
    dtype = FLOAT64 if x.type == "double" else FLOAT32
    low = "fcmp ogt" if bits == 32 and x.type == "double" else "fcmp oge"
    least = -limit - 1 if low == "fcmp ogt" else -limit
    above = emit.compare(low, x, Register(x.type, constant(least, dtype), 1))
    below = emit.compare("fcmp olt", x, Register(x.type, constant(limit, dtype), 1))
    cut = emit.convert("fptosi", x, f"i{bits}")
    return emit.select(emit.binary("and", above, below), cut, Register(f"i{bits}", str(-(2 ** (bits - 1))), 1))


def _to_unsigned(emit: Emitter, x: Register) -> Register:
    """Numbers from 2**63 on are converted without their highest bit, which is put back."""
    dtype = FLOAT64 if x.type == "double" else FLOAT32
    half = Register(x.type, constant(2.0**63, dtype), 1)
    high = _to_signed(emit, emit.binary("fsub", x, half), 64)
    flipped = emit.binary("xor", high, Register("i64", str(-(2**63)), 1))
    return emit.select(emit.compare("fcmp oge", x, half), flipped, _to_signed(emit, x, 64))

"""Functions of libm in float32 as instructions of their own, where the CPU multiplies and adds in one of them.

A call of libm's costs more than what it computes: all registers are free to be overwritten in it, so what a loop holds
in them goes to memory and comes back. The numbers of lanes play no part, so each element gets the same bits anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from .emit import FLOAT32, Emitter, Register, constant
from .llvm import Target

# 1.5 * 2**23: a float of this size has no bits behind the point, so what is added to it is rounded.
_ROUNDING = 12582912.0
_LOG2_E = 1.4426950408889634
# log(2) in two parts, the first what float32 holds of it.
_LN2_HIGH, _LN2_LOW = 0.693147182464599609375, -1.904654299957767e-9
# (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2: the polynomial whose largest error is least (2**-28 of exp(r)).
_EXP = (0.49999993372854495, 0.1666651952179944, 0.041668401130071135, 0.008368851278842428, 0.0013814318366407446)
# The same, its error least where exp(r) - 1 is what counts.
_EXPM1 = (0.5000000062641177, 0.1666654204683067, 0.041666279116878646, 0.0083667107946338, 0.0013946667379776399)
# From here on exp is infinite or 0, and tanh is 1.
_EXP_ENDS, _TANH_IS_ONE = 104.0, 9.02
# erf(x) / x - 1 by x**2 up to the first number (error 2**-31), from there on -log(1 - erf(x)) by x (error 2**-29), up
# to the second, where erf is 1.
_ERF_IS_LARGE, _ERF_IS_ONE = 0.92, 4.0
_ERF = (
    0.1283791665798095, -0.3761263318842567, 0.11283687188682993, -0.02685894150743088, 0.0051999066622293465,
    -0.0008130012574174447, 8.316774777471555e-05,
)  # fmt: skip
_ERF_TAIL = (
    0.00019567344451143498, 1.1276756359071007, 0.6371822301461367, 0.10393161295481869, -0.02222692861336879,
    0.0030432196118824555, -0.0001959374793995092,
)  # fmt: skip


def function(emit: Emitter, target: Target, name: str, x: Register) -> Register | None:
    """libm's `name` of floats, within 4 units in the last place; None where libm itself is better."""
    made = _FUNCTIONS.get(name)
    return made(emit, target, x) if made is not None and target.has_fma and x.type == "float" else None


def _number(value: float) -> Register:
    return Register("float", constant(value, FLOAT32), 1)


def _integer(value: int) -> Register:
    return Register("i32", str(value), 1)


def _fma(emit: Emitter, x: Register, y: Register, z: Register) -> Register:
    return emit.intrinsic("fma", x, y, z)


def _at_most(emit: Emitter, x: Register, most: float) -> Register:
    """The smaller of both; NaN where x is."""
    return emit.select(emit.compare("fcmp ogt", x, _number(most)), _number(most), x)


def _at_least(emit: Emitter, x: Register, least: float) -> Register:
    return emit.select(emit.compare("fcmp olt", x, _number(least)), _number(least), x)


def _polynomial(emit: Emitter, x: Register, coefficients: tuple[float, ...]) -> Register:
    found = _number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        found = _fma(emit, found, x, _number(c))
    return found


def _reduced(emit: Emitter, x: Register) -> tuple[Register, Register, Register]:
    """The whole n next to x / log(2), as a float and in the lowest bits of an integer, and x - n log(2)."""
    shifted = _fma(emit, x, _number(_LOG2_E), _number(_ROUNDING))
    n = emit.binary("fsub", shifted, _number(_ROUNDING))
    minus = emit.unary("fneg", n)
    rest = _fma(emit, minus, _number(_LN2_LOW), _fma(emit, minus, _number(_LN2_HIGH), x))
    bits = emit.binary("sub", emit.convert("bitcast", shifted, "i32"), _integer(0x4B400000))
    return n, bits, rest


def _power_of_two(emit: Emitter, n: Register) -> Register:
    """2**n of integers from -126 to 127."""
    return emit.convert("bitcast", emit.binary("shl", emit.binary("add", n, _integer(127)), _integer(23)), "float")


def _scaled(emit: Emitter, target: Target, x: Register, n: Register, bits: Register) -> Register:
    """x * 2**n, for |n| up to 252, rounded once."""
    if x.lanes == 16 and target.has_scalef:
        full, symbol = x.full_type, "@llvm.x86.avx512.mask.scalef.ps.512"
        emit.declarations[symbol] = f"declare {full} {symbol}({full}, {full}, {full}, i16, i32 immarg) #0"
        given = f"{full} {x.text}, {full} {n.text}, {full} zeroinitializer, i16 -1, i32 4"
        return emit.value(f"call {full} {symbol}({given}) #0", x.type, x.lanes)
    half = emit.binary("ashr", bits, _integer(1))
    first = emit.binary("fmul", x, _power_of_two(emit, half))
    return emit.binary("fmul", first, _power_of_two(emit, emit.binary("sub", bits, half)))


def _exp(emit: Emitter, target: Target, x: Register) -> Register:
    x = _at_least(emit, _at_most(emit, x, _EXP_ENDS), -_EXP_ENDS)
    n, bits, r = _reduced(emit, x)
    tail = _fma(emit, _polynomial(emit, r, _EXP), emit.binary("fmul", r, r), r)
    return _scaled(emit, target, emit.binary("fadd", tail, _number(1.0)), n, bits)


def _tanh(emit: Emitter, target: Target, x: Register) -> Register:
    """(e - 1) / (e + 1) of e = exp(2 |x|), by e - 1, which small numbers leave accurate."""
    size = _at_most(emit, emit.intrinsic("fabs", x), _TANH_IS_ONE)
    _, bits, r = _reduced(emit, emit.binary("fadd", size, size))
    tail = _fma(emit, _polynomial(emit, r, _EXPM1), emit.binary("fmul", r, r), r)
    scale = _power_of_two(emit, bits)
    less = _fma(emit, scale, tail, emit.binary("fsub", scale, _number(1.0)))
    found = emit.binary("fdiv", less, emit.binary("fadd", less, _number(2.0)))
    return emit.intrinsic("copysign", found, x)


def _erf(emit: Emitter, target: Target, x: Register) -> Register:
    """Two polynomials, and exp for the tail: 1 - exp(...) is accurate where the result is not small."""
    size = _at_most(emit, emit.intrinsic("fabs", x), _ERF_IS_ONE)
    _, bits, r = _reduced(emit, emit.unary("fneg", _polynomial(emit, size, _ERF_TAIL)))
    tail = _fma(emit, _polynomial(emit, r, _EXP), emit.binary("fmul", r, r), r)
    rest = _fma(emit, tail, _power_of_two(emit, bits), _power_of_two(emit, bits))
    large = emit.intrinsic("copysign", emit.binary("fsub", _number(1.0), rest), x)
    small = _fma(emit, _polynomial(emit, emit.binary("fmul", x, x), _ERF), x, x)
    return emit.select(emit.compare("fcmp ogt", size, _number(_ERF_IS_LARGE)), large, small)


_FUNCTIONS: dict[str, Callable[[Emitter, Target, Register], Register]] = {"erf": _erf, "exp": _exp, "tanh": _tanh}

__all__ = ["function"]

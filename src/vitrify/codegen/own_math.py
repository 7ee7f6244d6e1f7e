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
# (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2 (largest error 2**-28 of exp(r)), where the CPU scales by any 2**n; for
# |r| <= log(2) (2**-26), where that takes two factors, which are one and the same if n is even.
_EXP = (0.49999993372854495, 0.1666651952179944, 0.041668401130071135, 0.008368851278842428, 0.0013814318366407446)
_EXP_OF_EVEN = (
    0.5000003463743761, 0.16666614148919937, 0.04166126843049339, 0.008336103168393064, 0.0014104469865158999,
    0.00019611598790912139,
)  # fmt: skip
# The same, as accurate as what is no part of the first two digits of a result must be (2**-23).
_EXP_OF_PART = (0.4999922882514493, 0.16667116314090688, 0.04189055002797969, 0.008312477652061735)
# ((exp(2 r) - 1) / 2 - r) / r**2 for |r| <= log(2) / 4, its error least where exp(2 r) - 1 is what counts.
_EXPM1 = (1.0000000125283554, 0.6666616818732268, 0.3333302329353028, 0.1338673532767008, 0.04462933561529528)
# From here on exp is infinite or 0, and tanh is 1.
_EXP_ENDS, _TANH_IS_ONE = 104.0, 9.02
# erf(x) / x - 1 by x**2 up to the first number (error 2**-27), from there on log(1 - erf(x)) by x (error 2**-29), up
# to the second, where erf is 1.
_ERF_IS_LARGE, _ERF_IS_ONE = 0.85, 4.0
_ERF = (
    0.12837916023039536, -0.37612571837104725, 0.11282717404154831, -0.026802547866487843, 0.0050510949542751345,
    -0.00063151299799959,
)  # fmt: skip
_ERF_TAIL = (
    -0.00011470345938472423, -1.1280154438869765, -0.6366016642887942, -0.10444803041374533, 0.02247897446885262,
    -0.0031071790613020783, 0.00020252735495014415,
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
    """Its even and its odd part side by side: half as long to wait for as one after the other."""
    square = emit.binary("fmul", x, x)
    even, odd = (_horner(emit, square, coefficients[start::2]) for start in (0, 1))
    return _fma(emit, odd, x, even)


def _horner(emit: Emitter, x: Register, coefficients: tuple[float, ...]) -> Register:
    found = _number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        found = _fma(emit, found, x, _number(c))
    return found


def _and_more(emit: Emitter, x: Register, coefficients: tuple[float, ...]) -> Register:
    """x + x**2 p(x)."""
    return _fma(emit, _polynomial(emit, x, coefficients), emit.binary("fmul", x, x), x)


def _one_and_more(emit: Emitter, x: Register, coefficients: tuple[float, ...]) -> Register:
    """1 + x + x**2 p(x)."""
    return emit.binary("fadd", _and_more(emit, x, coefficients), _number(1.0))


def _reduced(emit: Emitter, x: Register, unit: float, is_exact: bool = True) -> tuple[Register, Register, Register]:
    """2**n of the whole n next to x / (unit log(2)), where a float has it; n; and x - n unit log(2).

    Unless it is exact, the last is off by some n 2**-29: less than what counts where exp of it is a part of the result.
    """
    # The lowest bits of what rounds are then the exponent that a float of 2**n has.
    rounding = _number(_ROUNDING + 127)
    shifted = _fma(emit, x, _number(_LOG2_E / unit), rounding)
    n = emit.binary("fsub", shifted, rounding)
    minus = emit.unary("fneg", n)
    rest = _fma(emit, minus, _number(_LN2_HIGH * unit), x)
    rest = _fma(emit, minus, _number(_LN2_LOW * unit), rest) if is_exact else rest
    exponent = emit.binary("shl", emit.convert("bitcast", shifted, "i32"), _integer(23))
    return emit.convert("bitcast", exponent, "float"), n, rest


def _exp(emit: Emitter, target: Target, x: Register) -> Register:
    x = _at_least(emit, _at_most(emit, x, _EXP_ENDS), -_EXP_ENDS)
    if x.lanes == 16 and target.has_scalef:
        _, n, r = _reduced(emit, x, 1.0)
        return _scaled(emit, _one_and_more(emit, r, _EXP), n)
    power, _, r = _reduced(emit, x, 2.0)
    return emit.binary("fmul", emit.binary("fmul", _one_and_more(emit, r, _EXP_OF_EVEN), power), power)


def _scaled(emit: Emitter, x: Register, n: Register) -> Register:
    """x * 2**n, rounded once, by the instruction for it."""
    full, symbol = x.full_type, "@llvm.x86.avx512.mask.scalef.ps.512"
    emit.declarations[symbol] = f"declare {full} {symbol}({full}, {full}, {full}, i16, i32 immarg) #0"
    given = f"{full} {x.text}, {full} {n.text}, {full} zeroinitializer, i16 -1, i32 4"
    return emit.value(f"call {full} {symbol}({given}) #0", x.type, x.lanes)


def _tanh(emit: Emitter, target: Target, x: Register) -> Register:
    """h / (h + 1) of h = (exp(2 |x|) - 1) / 2, which small numbers leave accurate."""
    size = _at_most(emit, emit.intrinsic("fabs", x), _TANH_IS_ONE)
    power, _, r = _reduced(emit, size, 0.5, is_exact=False)
    tail = _and_more(emit, r, _EXPM1)
    half = _fma(emit, power, tail, _fma(emit, power, _number(0.5), _number(-0.5)))
    return emit.intrinsic("copysign", emit.binary("fdiv", half, emit.binary("fadd", half, _number(1.0))), x)


def _erf(emit: Emitter, target: Target, x: Register) -> Register:
    """Two polynomials, and exp for the tail: 1 - exp(...) is accurate where the result is not small."""
    size = _at_most(emit, emit.intrinsic("fabs", x), _ERF_IS_ONE)
    power, _, r = _reduced(emit, _polynomial(emit, size, _ERF_TAIL), 1.0, is_exact=False)
    rest = emit.unary("fneg", _one_and_more(emit, r, _EXP_OF_PART))
    large = emit.intrinsic("copysign", _fma(emit, rest, power, _number(1.0)), x)
    small = _fma(emit, _polynomial(emit, emit.binary("fmul", x, x), _ERF), x, x)
    return emit.select(emit.compare("fcmp ogt", size, _number(_ERF_IS_LARGE)), large, small)


_FUNCTIONS: dict[str, Callable[[Emitter, Target, Register], Register]] = {"erf": _erf, "exp": _exp, "tanh": _tanh}

__all__ = ["function"]

"""The scalar primitives of elementwise ops, emitting LLVM instructions: the second reading of every scalar expression.

`ArrayScalars` of ops/scalar.py says what they mean; results here are NumPy's, to the last bit but for transcendental
functions. What is not here has no native form: then the whole kernel has none and its operators run one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import DType
from . import libm, own_math
from .casts import converted, rounded, truth
from .emit import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    SHORT_FLOATS,
    Dtype,
    Emitter,
    Register,
    constant,
    is_float,
    register_type,
)
from .errors import NoNativeForm
from .llvm import Target

_LN2 = 0.6931471805599453
_NUMBERS = (bool, int, float)
# Below these exp is less than half of the smallest number.
_EXP_IS_ZERO = {"float": -104.0, "double": -745.2}
# Integers to a constant power are multiplied out up to here.
_LARGEST_POWER = 64


class Operand:
    """A value of a scalar expression: a register with its dtype. Python's operators on it are the primitives."""

    __slots__ = ("dtype", "register", "scalars")

    def __init__(self, scalars: LlvmScalars, register: Register, dtype: Dtype) -> None:
        self.scalars = scalars
        self.register = register
        self.dtype = dtype

    def __bool__(self) -> bool:
        raise NoNativeForm("a scalar expression asks for the truth of a value while it is compiled")

    __hash__ = None  # type: ignore[assignment]


def _forward(name: str, is_reflected: bool = False) -> Callable[[Operand, Any], Any]:
    def method(x: Operand, y: Any) -> Any:
        primitive = getattr(x.scalars, name)
        return primitive(y, x) if is_reflected else primitive(x, y)

    return method


for _method, _name in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "and": "bitand", "or": "bitor", "xor": "bitxor", "lshift": "shl", "rshift": "shr",
}.items():  # fmt: skip
    setattr(Operand, f"__{_method}__", _forward(_name))
    setattr(Operand, f"__r{_method}__", _forward(_name, is_reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Operand, f"__{_name}__", _forward(_name))
setattr(Operand, "__neg__", lambda x: x.scalars.neg(x))  # noqa: B010 - as those above
setattr(Operand, "__invert__", lambda x: x.scalars.bitnot(x))  # noqa: B010 - likewise


def _float_of(dtype: Dtype) -> Dtype:
    """The dtype in which functions with fractional results compute integers; NumPy's, where we have it."""
    if is_float(dtype):
        return dtype
    return np.dtype({1: "float16", 2: "float32"}.get(dtype.itemsize, "float64"))


class LlvmScalars:
    """The namespace `s` given to scalar expressions."""

    def __init__(self, emit: Emitter, target: Target) -> None:
        self.emit = emit
        self.target = target

    def __getattr__(self, name: str) -> Any:
        """Functions of libm by their names; what is neither has no native form."""
        if name in libm.UNARY:
            return lambda x: self._float_function(libm.UNARY[name], x)
        if name in ("atan2", "hypot"):
            return lambda x, y: self._float_function(name, x, y)
        raise NoNativeForm(f"{name} has no native form")

    # -- operands and results ------------------------------------------------------------------------------------------

    def operand(self, register: Register, dtype: Dtype) -> Operand:
        """A register as an operand of expressions."""
        return Operand(self, register, dtype)

    def number(self, value: Any, dtype: Dtype) -> Operand:
        """A constant."""
        return self.operand(Register(register_type(dtype), constant(value, dtype), 1), dtype)

    def _result(self, register: Register, dtype: Dtype) -> Operand:
        return self.operand(rounded(self.emit, register, dtype), dtype)

    def cast(self, x: Operand, dtype: DType) -> Operand:
        """x in another dtype: the primitive."""
        return self.to(self._one(x), dtype.np)

    def to(self, x: Operand, dtype: Dtype) -> Operand:
        """x in another dtype of NumPy's."""
        if x.dtype == dtype:
            return x
        register_type(dtype)
        return self.operand(converted(self.emit, x.register, x.dtype, dtype), dtype)

    def _common(self, *values: Any) -> list[Operand]:
        """The values in one dtype: NumPy's promotion, in which Python's numbers are weak."""
        typed = [v for v in values if isinstance(v, Operand)]
        if not typed:
            raise NoNativeForm("an expression computes with constants alone")
        dtype = np.result_type(*[v.dtype for v in typed])
        for value in values:
            if not isinstance(value, Operand):
                dtype = _with_number(dtype, value)
        register_type(dtype)
        return [self.to(v, dtype) if isinstance(v, Operand) else self.number(v, dtype) for v in values]

    def _one(self, x: Any) -> Operand:
        if not isinstance(x, Operand):
            raise NoNativeForm("an expression computes with constants alone")
        return x

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def _arithmetic(self, x: Any, y: Any, of_floats: str, of_integers: str) -> Operand:
        a, b = self._common(x, y)
        opcode = of_floats if is_float(a.dtype) else of_integers
        return self._result(self.emit.binary(opcode, a.register, b.register), a.dtype)

    def add(self, x: Any, y: Any) -> Operand:
        """x + y; of truth values, whether one holds."""
        a, b = self._common(x, y)
        return self._arithmetic(a, b, "fadd", "or" if a.dtype == BOOL else "add")

    def sub(self, x: Any, y: Any) -> Operand:
        """x - y."""
        a, b = self._common(x, y)
        _refuse_bool(a.dtype, "subtraction")
        return self._arithmetic(a, b, "fsub", "sub")

    def mul(self, x: Any, y: Any) -> Operand:
        """x * y; of truth values, whether both hold."""
        a, b = self._common(x, y)
        return self._arithmetic(a, b, "fmul", "and" if a.dtype == BOOL else "mul")

    def div(self, x: Any, y: Any) -> Operand:
        """x / y; of integers in float64, as NumPy has it."""
        a, b = self._common(x, y)
        if not is_float(a.dtype):
            a, b = self.to(a, FLOAT64), self.to(b, FLOAT64)
        return self._arithmetic(a, b, "fdiv", "fdiv")

    def floordiv(self, x: Any, y: Any) -> Operand:
        """x / y rounded down, by the remainder, so that it fits it."""
        a, b = self._floats(x, y, "floor division")
        e, p, q = self.emit, a.register, b.register
        zero, one, half = (self.number(v, a.dtype).register for v in (0.0, 1.0, 0.5))
        rest = e.binary("frem", p, q)
        quotient = e.binary("fdiv", e.binary("fsub", p, rest), q)
        quotient = e.select(self._crosses(rest, q, zero), e.binary("fsub", quotient, one), quotient)
        down = e.intrinsic("floor", quotient)
        is_more = e.compare("fcmp ogt", e.binary("fsub", quotient, down), half)
        down = e.select(is_more, e.binary("fadd", down, one), down)
        plain = e.binary("fdiv", p, q)
        found = e.select(e.compare("fcmp une", quotient, zero), down, e.intrinsic("copysign", zero, plain))
        return self._result(e.select(e.compare("fcmp oeq", q, zero), plain, found), a.dtype)

    def mod(self, x: Any, y: Any) -> Operand:
        """The remainder, with y's sign."""
        a, b = self._floats(x, y, "the remainder")
        e, q = self.emit, b.register
        zero = self.number(0.0, a.dtype).register
        rest = e.binary("frem", a.register, q)
        found = e.select(self._crosses(rest, q, zero), e.binary("fadd", rest, q), rest)
        found = e.select(e.compare("fcmp oeq", rest, zero), e.intrinsic("copysign", zero, q), found)
        return self._result(e.select(e.compare("fcmp oeq", q, zero), rest, found), a.dtype)

    def _floats(self, x: Any, y: Any, what: str) -> list[Operand]:
        a, b = self._common(x, y)
        if not is_float(a.dtype):
            raise NoNativeForm(f"{what} of integers raises an error where y is 0")
        return [a, b]

    def _crosses(self, rest: Register, y: Register, zero: Register) -> Register:
        """Whether a remainder is there and has the other sign than y."""
        e = self.emit
        signs = e.binary("xor", e.compare("fcmp olt", rest, zero), e.compare("fcmp olt", y, zero))
        return e.binary("and", e.compare("fcmp une", rest, zero), signs)

    def fmod(self, x: Any, y: Any) -> Operand:
        """The remainder, with x's sign."""
        a, b = self._floats(x, y, "the remainder")
        return self._arithmetic(a, b, "frem", "frem")

    def pow(self, x: Any, y: Any) -> Operand:
        """x to the power of y; of integers where y is a small constant."""
        a, b = self._common(x, y)
        if is_float(a.dtype):
            return self._result(libm.call(self.emit, self.target, "pow", a.register, b.register), a.dtype)
        exponent = int(b.register.text) if b.register.is_constant and a.dtype != BOOL else -1
        if not 0 <= exponent <= _LARGEST_POWER:
            raise NoNativeForm("powers of integers raise an error where the exponent is negative")
        found = self.number(1, a.dtype)
        for bit in f"{exponent:b}":
            found = self.mul(found, found)
            found = self.mul(found, a) if bit == "1" else found
        return found

    def neg(self, x: Any) -> Operand:
        """-x."""
        a = self._one(x)
        _refuse_bool(a.dtype, "the negative")
        if is_float(a.dtype):
            return self._result(self.emit.unary("fneg", a.register), a.dtype)
        return self.sub(self.number(0, a.dtype), a)

    def abs(self, x: Any) -> Operand:
        """The absolute value; that of the smallest integer is itself."""
        a = self._one(x)
        if is_float(a.dtype):
            return self._result(self.emit.intrinsic("fabs", a.register), a.dtype)
        return self.where(self.lt(a, 0), self.neg(a), a) if a.dtype.kind == "i" else a

    def sign(self, x: Any) -> Operand:
        """1, 0 or -1; NaN stays."""
        a = self._one(x)
        _refuse_bool(a.dtype, "the sign")
        zero, one = self.number(0, a.dtype), self.number(1, a.dtype)
        if a.dtype.kind == "u":
            return self.where(self.gt(a, zero), one, zero)
        other = self.where(self.eq(a, zero), zero, a)
        return self.where(self.gt(a, zero), one, self.where(self.lt(a, zero), self.number(-1, a.dtype), other))

    def copysign(self, x: Any, y: Any) -> Operand:
        """x with y's sign."""
        a, b = self._floats(x, y, "the sign of another number")
        return self._result(self.emit.intrinsic("copysign", a.register, b.register), a.dtype)

    def square(self, x: Any) -> Operand:
        """x * x."""
        return self.mul(self._one(x), x)

    def reciprocal(self, x: Any) -> Operand:
        """1 / x."""
        a = self._one(x)
        if not is_float(a.dtype):
            raise NoNativeForm("the reciprocal of integers is one of integers")
        return self.div(1, a)

    def sqrt(self, x: Any) -> Operand:
        """The square root."""
        a = self._as_float(x)
        return self._result(self.emit.intrinsic("sqrt", a.register), a.dtype)

    def rsqrt(self, x: Any) -> Operand:
        """1 / sqrt(x)."""
        return self.reciprocal(self.sqrt(x))

    # -- functions -----------------------------------------------------------------------------------------------------

    def _as_float(self, x: Any) -> Operand:
        a = self._one(x)
        return self.to(a, _float_of(a.dtype))

    def _float_function(self, name: str, *values: Any) -> Operand:
        operands = self._common(*values)
        operands = [self._as_float(x) for x in operands]
        registers = [x.register for x in operands]
        found = own_math.function(self.emit, self.target, name, *registers) if len(registers) == 1 else None
        if found is None:
            found = libm.call(self.emit, self.target, name, *registers)
        return self._result(found, operands[0].dtype)

    def exp(self, x: Any) -> Operand:
        """e**x. Vectors with numbers so small that the result is 0, as masks of attention have, are slow in libm."""
        a = self._as_float(x)
        if (found := own_math.function(self.emit, self.target, "exp", a.register)) is not None:
            return self._result(found, a.dtype)
        zero = self.number(0.0, a.dtype)
        is_gone = self._compared(a, self.number(_EXP_IS_ZERO[a.register.type], a.dtype), "lt")
        asked = self.operand(self.emit.select(is_gone, zero.register, a.register), a.dtype)
        there = self._float_function("exp", asked)
        return self.operand(self.emit.select(is_gone, zero.register, there.register), a.dtype)

    def nextafter(self, x: Any, y: Any) -> Operand:
        """The number after x on the way to y."""
        a, b = self._common(x, y)
        if a.dtype in SHORT_FLOATS:
            raise NoNativeForm("the next number of a 16-bit type is not libm's")
        return self._float_function("nextafter", a, b)

    def logaddexp(self, x: Any, y: Any) -> Operand:
        """log(exp(x) + exp(y)) without overflow."""
        a, b = [self._as_float(v) for v in self._common(x, y)]
        dtype = a.dtype
        if dtype in SHORT_FLOATS:
            a, b = self.to(a, FLOAT32), self.to(b, FLOAT32)
        gap = self.sub(a, b)
        above = self.add(a, self.log1p(self.exp(self.neg(gap))))
        below = self.add(b, self.log1p(self.exp(gap)))
        found = self.where(self.gt(gap, 0), above, self.where(self.le(gap, 0), below, gap))
        return self.to(self.where(self.eq(a, b), self.add(a, _LN2), found), dtype)

    def angle(self, x: Any) -> Operand:
        """0 or π."""
        a = self._as_float(x)
        turned: Operand = self.atan2(self.number(0.0, a.dtype), a)
        return turned

    def sigmoid(self, x: Any) -> Operand:
        """1 / (1 + exp(-x))."""
        return self.reciprocal(self.add(self.exp(self.neg(x)), 1))

    def softplus(self, x: Any) -> Operand:
        """log(1 + exp(x)) without overflow."""
        return self.add(self.maximum(x, 0), self.log1p(self.exp(self.neg(self.abs(x)))))

    def _rounding(self, name: str, x: Any) -> Operand:
        a = self._one(x)
        return self._result(self.emit.intrinsic(name, a.register), a.dtype) if is_float(a.dtype) else a

    def floor(self, x: Any) -> Operand:
        """x rounded down."""
        return self._rounding("floor", x)

    def ceil(self, x: Any) -> Operand:
        """x rounded up."""
        return self._rounding("ceil", x)

    def rint(self, x: Any) -> Operand:
        """x rounded to the nearest integer, halves to the even one."""
        return self._rounding("rint", x)

    def trunc(self, x: Any) -> Operand:
        """x rounded towards zero."""
        return self._rounding("trunc", x)

    # -- choices -------------------------------------------------------------------------------------------------------

    def where(self, condition: Any, x: Any, y: Any) -> Operand:
        """x where the condition holds, else y."""
        a, b = self._common(x, y)
        return self.operand(self.emit.select(self._truth(condition), a.register, b.register), a.dtype)

    def _truth(self, x: Any) -> Register:
        a = self._one(x)
        return truth(self.emit, a.register, a.dtype)

    def _chosen(self, x: Any, y: Any, predicate: str, keeps_nan: bool) -> Operand:
        """x where the comparison holds or NaN decides, else y: of zeros of unlike signs the second, as in NumPy."""
        a, b = self._common(x, y)
        wins = self._compared(a, b, predicate)
        if is_float(a.dtype):
            asked = a.register if keeps_nan else b.register
            wins = self.emit.binary("or", wins, self.emit.compare("fcmp uno", asked, asked))
        return self.operand(self.emit.select(wins, a.register, b.register), a.dtype)

    def maximum(self, x: Any, y: Any) -> Operand:
        """The larger; NaN where either is NaN."""
        return self._chosen(x, y, "gt", keeps_nan=True)

    def minimum(self, x: Any, y: Any) -> Operand:
        """The smaller; NaN where either is NaN."""
        return self._chosen(x, y, "lt", keeps_nan=True)

    def fmax(self, x: Any, y: Any) -> Operand:
        """The larger; the other one where one is NaN."""
        return self._chosen(x, y, "gt", keeps_nan=False)

    def fmin(self, x: Any, y: Any) -> Operand:
        """The smaller; the other one where one is NaN."""
        return self._chosen(x, y, "lt", keeps_nan=False)

    # -- comparisons and logic -----------------------------------------------------------------------------------------

    def _compared(self, a: Operand, b: Operand, predicate: str) -> Register:
        if is_float(a.dtype):
            opcode = f"fcmp {'une' if predicate == 'ne' else 'o' + predicate}"
        elif predicate in ("eq", "ne"):
            opcode = f"icmp {predicate}"
        else:
            opcode = f"icmp {'s' if a.dtype.kind == 'i' else 'u'}{predicate}"
        return self.emit.compare(opcode, a.register, b.register)

    def _comparison(self, x: Any, y: Any, predicate: str) -> Operand:
        signs = {v.dtype.kind for v in (x, y) if isinstance(v, Operand)}
        if signs == {"i", "u"}:
            raise NoNativeForm("NumPy compares signed with unsigned integers exactly, in no common dtype")
        a, b = self._common(x, y)
        return self.operand(self._compared(a, b, predicate), BOOL)

    def eq(self, x: Any, y: Any) -> Operand:
        """x == y."""
        return self._comparison(x, y, "eq")

    def ne(self, x: Any, y: Any) -> Operand:
        """x != y."""
        return self._comparison(x, y, "ne")

    def lt(self, x: Any, y: Any) -> Operand:
        """x < y."""
        return self._comparison(x, y, "lt")

    def le(self, x: Any, y: Any) -> Operand:
        """x <= y."""
        return self._comparison(x, y, "le")

    def gt(self, x: Any, y: Any) -> Operand:
        """x > y."""
        return self._comparison(x, y, "gt")

    def ge(self, x: Any, y: Any) -> Operand:
        """x >= y."""
        return self._comparison(x, y, "ge")

    def _logic(self, opcode: str, x: Any, y: Any) -> Operand:
        a, b = self._common(x, y)
        return self.operand(self.emit.binary(opcode, self._truth(a), self._truth(b)), BOOL)

    def and_(self, x: Any, y: Any) -> Operand:
        """Whether both are non-zero."""
        return self._logic("and", x, y)

    def or_(self, x: Any, y: Any) -> Operand:
        """Whether one is non-zero."""
        return self._logic("or", x, y)

    def xor(self, x: Any, y: Any) -> Operand:
        """Whether exactly one is non-zero."""
        return self._logic("xor", x, y)

    def not_(self, x: Any) -> Operand:
        """Whether x is zero."""
        return self.operand(self.emit.binary("xor", self._truth(x), Register("i1", "true", 1)), BOOL)

    # -- bits ----------------------------------------------------------------------------------------------------------

    def _bits(self, opcode: str, x: Any, y: Any) -> Operand:
        a, b = self._common(x, y)
        if is_float(a.dtype):
            raise NoNativeForm("floating-point numbers have no bits to combine")
        return self.operand(self.emit.binary(opcode, a.register, b.register), a.dtype)

    def bitand(self, x: Any, y: Any) -> Operand:
        """The bits of both."""
        return self._bits("and", x, y)

    def bitor(self, x: Any, y: Any) -> Operand:
        """The bits of either."""
        return self._bits("or", x, y)

    def bitxor(self, x: Any, y: Any) -> Operand:
        """The bits of exactly one."""
        return self._bits("xor", x, y)

    def bitnot(self, x: Any) -> Operand:
        """The other bits."""
        a = self._one(x)
        return self._bits("xor", a, self.number(True, BOOL) if a.dtype == BOOL else self._ones(a.dtype))

    def _ones(self, dtype: Dtype) -> Operand:
        return self.operand(Register(register_type(dtype), "-1", 1), dtype)

    def _shifted(self, x: Any, y: Any, opcode: str) -> Operand:
        """Shifts by as many bits as there are, or by negative numbers, leave the sign alone where it is kept."""
        a, b = self._common(x, y)
        if is_float(a.dtype) or a.dtype == BOOL:
            raise NoNativeForm(f"{a.dtype} is not shifted")
        bits = 8 * a.dtype.itemsize
        most = Register(a.register.type, str(bits - 1), 1)
        fits = self.emit.compare("icmp ule", b.register, most)
        by = self.emit.select(fits, b.register, most)
        shifted = self.emit.binary(opcode, a.register, by)
        if opcode == "ashr":
            return self.operand(shifted, a.dtype)
        return self.operand(self.emit.select(fits, shifted, Register(most.type, "0", 1)), a.dtype)

    def shl(self, x: Any, y: Any) -> Operand:
        """x shifted left."""
        return self._shifted(x, y, "shl")

    def shr(self, x: Any, y: Any) -> Operand:
        """x shifted right, with its sign."""
        a, b = self._common(x, y)
        return self._shifted(a, b, "ashr" if a.dtype.kind == "i" else "lshr")

    def lshr(self, x: Any, y: Any) -> Operand:
        """x shifted right, with zeros coming in."""
        return self._shifted(x, y, "lshr")

    # -- what kind of number -------------------------------------------------------------------------------------------

    def _test(self, x: Any, of_integers: bool, of_floats: Callable[[Register], Register]) -> Operand:
        a = self._one(x)
        if not is_float(a.dtype):
            return self.operand(self.emit.spread(Register("i1", str(of_integers).lower(), 1), a.register.lanes), BOOL)
        return self.operand(of_floats(a.register), BOOL)

    def isnan(self, x: Any) -> Operand:
        """Whether x is NaN."""
        return self._test(x, False, lambda r: self.emit.compare("fcmp uno", r, r))

    def _size_against_infinity(self, predicate: str) -> Callable[[Register], Register]:
        e = self.emit
        return lambda r: e.compare(
            predicate, e.intrinsic("fabs", r), Register(r.type, constant(float("inf"), FLOAT64), 1)
        )

    def isinf(self, x: Any) -> Operand:
        """Whether x is infinite."""
        return self._test(x, False, self._size_against_infinity("fcmp oeq"))

    def isfinite(self, x: Any) -> Operand:
        """Whether x is neither infinite nor NaN."""
        return self._test(x, True, self._size_against_infinity("fcmp one"))

    def signbit(self, x: Any) -> Operand:
        """Whether x has a minus sign; zeros and NaN have one too."""
        a = self._one(x)
        if not is_float(a.dtype):
            return self.lt(a, 0) if a.dtype.kind == "i" else self._test(x, False, lambda r: r)
        type = "i64" if a.register.type == "double" else "i32"
        bits = self.emit.convert("bitcast", a.register, type)
        return self.operand(self.emit.compare("icmp slt", bits, Register(type, "0", 1)), BOOL)

    # -- complex numbers, as far as real ones have to do with them -----------------------------------------------------

    def conj(self, x: Any) -> Operand:
        """x itself: it is real."""
        return self._one(x)

    def real(self, x: Any) -> Operand:
        """x itself: it is real."""
        return self._one(x)

    def imag(self, x: Any) -> Operand:
        """0: x is real."""
        a = self._one(x)
        return self.number(0, a.dtype)


def _with_number(dtype: Dtype, number: Any) -> Dtype:
    """The dtype in which a value meets a Python number, which is weak."""
    if number.__class__ not in _NUMBERS:
        raise NoNativeForm(f"{number.__class__.__name__} is no number that kernels compute with")
    if number.__class__ is float:
        return dtype if is_float(dtype) else FLOAT64
    return INT64 if number.__class__ is int and dtype == BOOL else dtype


def _refuse_bool(dtype: Dtype, what: str) -> None:
    if dtype == BOOL:
        raise NoNativeForm(f"{what} of truth values is an error in NumPy")


def evaluated(scalars: LlvmScalars, scalar: Any, operands: list[Any], attrs: dict[str, Any], dtype: Dtype) -> Operand:
    """What an op's scalar expression gives, of the dtype that its meta rule says.

    One of several primitives is computed in float32 for 16-bit types and rounded once.
    """
    if isinstance(scalar, str):
        found = getattr(scalars, scalar)(*operands)
    else:
        # NumPy takes None for float64, so it is not compared with dtypes.
        short = [v.dtype for v in operands if v is not None and v.dtype in SHORT_FLOATS][:1]
        wide = [v if v is None or v.dtype not in short else scalars.to(v, FLOAT32) for v in operands]
        found = scalar(scalars, *wide, **attrs)
        if dtype in short and isinstance(found, Operand) and found.dtype == FLOAT32:
            found = scalars.to(found, dtype)
    if not isinstance(found, Operand) or found.dtype != dtype:
        raise NoNativeForm(f"an expression gives {getattr(found, 'dtype', found)}, its meta rule {dtype}")
    return found

"""Scalar primitives: the alphabet of elementwise ops (D2), and its NumPy/CuPy reading.

An op's scalar expression is a function of a namespace `s` and its operands. Given `ArrayScalars(numpy)` it works on
whole arrays; a code generator passes its own namespace that emits instructions instead. Expressions also use Python's
operators (+ - * / ** and comparisons, & | ~ on truth values, unary -) on operands, and numbers among them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import DType
from ..core.errors import ArgumentError
from ..core.lazy import lazy_module
from .blocks import in_blocks
from .error_function import error_function

# Infinities and NaN come without a word, as from every tensor library. NumPy attributes its warnings to the module that
# calls it, so this silences our own calls only; np.errstate would cost each op more than a microsecond.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"vitrify\.")

# name here -> name in NumPy and CuPy
UFUNCS: dict[str, str] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "fmod": "fmod", "pow": "power", "neg": "negative", "abs": "absolute", "sign": "sign",
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10",
    "sqrt": "sqrt", "square": "square", "reciprocal": "reciprocal",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "atan2": "arctan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "floor": "floor", "ceil": "ceil", "rint": "rint", "trunc": "trunc",
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin", "hypot": "hypot",
    "copysign": "copysign", "nextafter": "nextafter", "ldexp": "ldexp", "heaviside": "heaviside",
    "logaddexp": "logaddexp", "gcd": "gcd", "lcm": "lcm",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "and_": "logical_and", "or_": "logical_or", "not_": "logical_not", "xor": "logical_xor",
    "bitand": "bitwise_and", "bitor": "bitwise_or", "bitxor": "bitwise_xor", "bitnot": "bitwise_not",
    "shl": "left_shift", "shr": "right_shift",
    "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": "signbit",
    "conj": "conjugate", "real": "real", "imag": "imag", "angle": "angle",
}  # fmt: skip
# name here -> name in scipy.special and cupyx.scipy.special
SPECIAL: dict[str, str] = {
    "erf": "erf", "erfinv": "erfinv", "lgamma": "gammaln", "digamma": "digamma", "i0": "i0", "i0e": "i0e",
    "i1": "i1", "i1e": "i1e", "gammainc": "gammainc", "gammaincc": "gammaincc", "zeta": "zeta",
}  # fmt: skip
# Primitives that no instruction and no function of libm computes: they have no machine code.
WITHOUT_CODE = frozenset(SPECIAL) - {"erf"} | {"gcd", "lcm", "ldexp", "heaviside", "pair"}
# Conditions from this size on are applied as bit masks.
_MASK_FROM = 2048
# bytes of an element -> the integer that holds its bits
_BITS: dict[int, Any] = {4: np.int32, 8: np.int64}
# arity of the primitives that take two operands and are no ufunc of NumPy
BINARY = frozenset({"lshr", "gammainc", "gammaincc", "zeta", "pair"})


class ArrayScalars:
    """The scalar primitives applied to whole arrays of `xp` (numpy or cupy)."""

    def __init__(self, xp: Any, special: Any) -> None:
        self.xp = xp
        for name, theirs in UFUNCS.items():
            setattr(self, name, getattr(xp, theirs))
        for name, theirs in SPECIAL.items():
            setattr(self, name, _special(special, theirs))
        self.where = xp.where
        if xp is np:
            self.floordiv, self.mod = _refusing_zero(np.floor_divide), _refusing_zero(np.remainder)
            self.where, self.erf = _select, _keeping_dtype(error_function)

    def __getattr__(self, name: str) -> Any:  # only reached for names that are no primitive
        raise AttributeError(f"no scalar primitive is named {name!r}")

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + exp(-x)), exact to the last digits on both sides; exp(-x) may overflow to inf, which gives 0."""
        return self.reciprocal(self.exp(-x) + 1)

    def softplus(self, x: Any) -> Any:
        """log(1 + exp(x)) without overflow."""
        return self.maximum(x, 0) + self.log1p(self.exp(-self.abs(x)))

    def cast(self, x: Any, dtype: DType) -> Any:
        """x converted to `dtype`, in memory of its own."""
        if x.dtype.kind == "c" and not dtype.is_complex:
            x = x.real if not dtype.is_bool else x != 0
        return x.astype(dtype.np)

    def pair(self, real: Any, imag: Any) -> Any:
        """The complex number with these parts."""
        real, imag = self.xp.broadcast_arrays(real, imag)
        out = self.xp.empty(real.shape, "complex128" if real.dtype == self.xp.float64 else "complex64")
        out.real, out.imag = real, imag
        return out

    def lshr(self, x: Any, y: Any) -> Any:
        """x shifted right by y bits with zeros coming in."""
        if x.dtype.kind != "i":
            return x >> y
        unsigned = f"u{x.dtype.itemsize}"
        return (x.astype(unsigned) >> self.xp.asarray(y).astype(unsigned)).astype(x.dtype)

    def rsqrt(self, x: Any) -> Any:
        """1 / sqrt(x)."""
        return self.reciprocal(self.sqrt(x))


def _refusing_zero(divide: np.ufunc) -> Callable[[Any, Any], Any]:
    """The division as it is, but that of integers by zero, which has no value, raises ArgumentError."""

    def checked(x: Any, y: Any) -> Any:
        if not np.all(y) and np.result_type(x, y).kind in "biu":
            raise ArgumentError("division of an integer by zero")
        return divide(x, y)

    return checked


def _select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y. Large ones are chosen by bit masks: np.where takes a branch for each
    element, and on conditions that follow no pattern (as the signs of activations) that costs ten times as much.
    """
    dtype = np.result_type(x, y)
    bits = _BITS.get(dtype.itemsize) if dtype.kind in "fiu" else None
    if bits is None or np.size(condition) < _MASK_FROM or condition.dtype.kind != "b":
        return np.where(condition, x, y)
    a, b = (np.asarray(v, dtype).view(bits) for v in (x, y))
    mask = condition.view(np.int8).astype(bits)
    np.negative(mask, mask)  # a bool of 1 becomes all ones
    if b.ndim == 0 and b == 0:
        return (a & mask).view(dtype)
    if a.ndim == 0 and a == 0:
        return (b & np.invert(mask, mask)).view(dtype)
    return ((a ^ b) & mask ^ b).view(dtype)


def _special(module: Any, name: str) -> Callable[..., Any]:
    """The special function of that name, found when it is called: SciPy is imported when first needed."""
    return _keeping_dtype(lambda *args: getattr(module, name)(*args))


def _keeping_dtype(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` with the result cast back to the argument's dtype: SciPy computes half types in a wider one."""

    @functools.wraps(fn, updated=())
    def call(*args: Any) -> Any:
        dtype = (args[-1] if hasattr(args[-1], "dtype") else args[0]).dtype  # the other one may be a Python number
        if dtype.kind == "V" or dtype.itemsize == 2:
            return fn(*[a.astype(np.float32) if hasattr(a, "dtype") else a for a in args]).astype(dtype)
        return fn(*args).astype(dtype, copy=False)

    return call


NUMPY = ArrayScalars(np, lazy_module("scipy.special"))


@functools.lru_cache(maxsize=8)
def _foreign_scalars(xp: Any) -> ArrayScalars:
    special = __import__(f"{xp.__name__}x.scipy.special", fromlist=["special"])
    return ArrayScalars(xp, special)


def scalars_for(xp: Any) -> ArrayScalars:
    """The primitives of one array library."""
    return NUMPY if xp is np else _foreign_scalars(xp)


def scalar_kernel(scalar: Any) -> Callable[..., Any]:
    """`kernel(xp, *arrays, **attrs)` of a scalar expression, with the expression's own parameter names."""
    if isinstance(scalar, str):
        arity = _arity(scalar)
        if arity == 1:
            return lambda xp, x: getattr(scalars_for(xp), scalar)(x)
        return lambda xp, x, y: getattr(scalars_for(xp), scalar)(x, y)

    expression = _composite(scalar)

    @functools.wraps(scalar)
    def kernel(xp: Any, *arrays: Any, **attrs: Any) -> Any:
        return expression(scalars_for(xp), *arrays, **attrs)

    return kernel


def _arity(scalar: str) -> int:
    if scalar in BINARY:
        return 2
    return getattr(getattr(np, UFUNCS.get(scalar, "exp")), "nin", 1)


def scalar_ufunc(scalar: Any) -> Callable[..., Any]:
    """The expression as a plain function of NumPy arrays: the ufunc itself where it is one primitive."""
    if isinstance(scalar, str):
        found: Callable[..., Any] = getattr(NUMPY, scalar)
        return found
    return in_blocks(functools.partial(_composite(scalar), NUMPY))


def _composite(scalar: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar expression of several primitives, computed in float32 for the 16-bit types and rounded once."""

    @functools.wraps(scalar)
    def kernel(s: ArrayScalars, *arrays: Any, **attrs: Any) -> Any:
        dtypes = [a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.itemsize == 2 and a.dtype.kind in "fV"]
        if not dtypes:
            return scalar(s, *arrays, **attrs)
        wide = [a.astype(s.xp.float32) if hasattr(a, "dtype") and a.dtype == dtypes[0] else a for a in arrays]
        out = scalar(s, *wide, **attrs)
        return out.astype(dtypes[0]) if out.dtype == s.xp.float32 else out

    return kernel

"""Functions of Python numbers given tensors that stand for numbers: round, divmod, pow, complex, and module math.

Like `float(x)` of a tensor they give a 0-D tensor through which no gradient flows.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from ..core.errors import UnsupportedError
from ..core.modes import grad_enabled, scoped
from ..eager.host_ops import assert_op
from ..ir.graph_tensor import as_number, number
from ..ops.like import cast
from ..ops.power import atan2, copysign, hypot
from ..ops.unary import ceil, floor
from ..ops.unary import round as round_op
from .deferred import Call, record
from .handlers import refuse_if_caught
from .values import is_graph


def convert_round(value: Any, ndigits: Any = None) -> Any:
    """`round(value, ndigits)`: halves go to the even neighbour."""
    if not is_graph(value):
        return builtins.round(value) if ndigits is None else builtins.round(value, ndigits)
    if ndigits is None:
        return as_number(cast(round_op(number(value)), "int64"))
    scale = 10.0**ndigits
    wide = number(value, "float64")
    return as_number(cast(round_op(wide * scale) / scale, value.dtype))


def convert_divmod(a: Any, b: Any) -> Any:
    """`divmod(a, b)`."""
    return (a // b, a % b) if is_graph(a) or is_graph(b) else builtins.divmod(a, b)


def convert_pow(base: Any, exp: Any, mod: Any = None) -> Any:
    """`pow(base, exp, mod)`."""
    if mod is None:
        return builtins.pow(base, exp)
    if any(is_graph(v) for v in (base, exp, mod)):
        return base**exp % mod
    return builtins.pow(base, exp, mod)


def convert_complex(*args: Any) -> Any:
    """`complex(real, imag)`."""
    if len(args) == 1 and is_graph(args[0]):
        return number(args[0], "complex64" if not args[0].dtype.is_complex else None)
    if any(is_graph(a) for a in args):
        real, imag = (number(a, "complex64") if is_graph(a) else a for a in args)
        return real + imag * 1j
    return builtins.complex(*args)


def _real(value: Any) -> Any:
    """The number that a tensor stands for, floating."""
    if not is_graph(value):
        return value
    return number(value, None if value.dtype.is_floating else "float64")


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: cast(rounded(x), "int64")


def _within(test: Callable[[Any], Any], compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`compute` of numbers that pass the test; others raise ValueError when the program runs, as `math` does."""

    def checked(x: Any) -> Any:
        refuse_if_caught(ValueError())
        record(assert_op, test(x), error=Call(ValueError, ("math domain error",)))
        return compute(x)

    return checked


def _log(x: Any, base: Any = None) -> Any:
    positive = _within(lambda v: v > 0, lambda v: v.log())
    if base is None:
        return positive(x)
    top = positive(x) if is_graph(x) else math.log(x)
    return top / (positive(base) if is_graph(base) else math.log(base))


def _close(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    a, b = (cast(v, "float64") if is_graph(v) else v for v in (a, b))
    largest = abs(a).maximum(abs(b) * 1.0) if is_graph(a) else abs(b).maximum(abs(b) * 0.0 + abs(a))
    return abs(a - b) <= (largest * rel_tol).clip(min=abs_tol)



def _is_in_unit(value: Any) -> Any:
    return value.abs() <= 1


_MATH: dict[Any, Callable[..., Any]] = {
    math.sqrt: _within(lambda v: v >= 0, lambda v: v.sqrt()),
    math.log: _log,
    math.log2: _within(lambda v: v > 0, lambda v: v.log2()),
    math.log10: _within(lambda v: v > 0, lambda v: v.log10()),
    math.log1p: _within(lambda v: v > -1, lambda v: v.log1p()),
    math.acos: _within(_is_in_unit, lambda v: v.acos()),
    math.asin: _within(_is_in_unit, lambda v: v.asin()),
    math.acosh: _within(lambda v: v >= 1, lambda v: v.acosh()),
    math.atanh: _within(lambda v: v.abs() < 1, lambda v: v.atanh()),
    **{
        getattr(math, name): (lambda v, name=name: getattr(v, name)())
        for name in ("exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "lgamma")
    },
    math.floor: _whole(floor),
    math.ceil: _whole(ceil),
    math.trunc: lambda v: cast(v, "int64"),
    math.fabs: lambda v: v.abs(),
    math.degrees: lambda v: v * (180.0 / math.pi),
    math.radians: lambda v: v * (math.pi / 180.0),
    math.isnan: lambda v: v.isnan(),
    math.isinf: lambda v: v.isinf(),
    math.isfinite: lambda v: v.isfinite(),
    math.pow: lambda a, b: a**b,
    math.fmod: lambda a, b: a - b * cast(cast(a / b, "int64"), "float32"),
    math.atan2: lambda a, b: atan2(*_both(a, b)),
    math.hypot: lambda a, b: hypot(*_both(a, b)),
    math.copysign: lambda a, b: copysign(*_both(a, b)),
    math.isclose: _close,
}


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands as tensors of one dtype."""
    return (a, a * 0 + b) if is_graph(a) else (b * 0 + a, b)


def _math_form(function: Any) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if not any(is_graph(a) for a in args):
            return function(*args, **kwargs)
        if function not in _MATH:
            raise UnsupportedError(
                f"math.{function.__name__}() of a tensor whose value is known only when the program runs",
                hint=f"use a tensor operation in place of math.{function.__name__}",
            )
        with scoped(grad_enabled, False):
            return as_number(_MATH[function](*[_real(a) for a in args], **kwargs))

    return convert


_OF_NUMBERS = [f for n, f in vars(math).items() if not n.startswith("_") and callable(f)]
_OF_SEQUENCES = frozenset({math.prod, math.fsum, math.dist} | {getattr(math, "sumprod", math.dist)})
MATH: dict[Any, Callable[..., Any]] = {f: _math_form(f) for f in _OF_NUMBERS if f not in _OF_SEQUENCES}
"""What to call for each function of module math."""

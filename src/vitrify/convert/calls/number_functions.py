"""Functions of Python numbers given tensors that stand for numbers: round, divmod, pow, complex, and module math.

Like `float(x)` of a tensor they give a 0-D tensor through which no gradient flows. Those that a Tensor does not have
the method for (`__round__`, `__divmod__`, ...) raise the TypeError that they raise in eager code.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...core.errors import UnsupportedError
from ...core.modes import grad_enabled, scoped
from ...eager.host_ops import assert_op
from ...eager.tensor import Tensor
from ...ir.graph_tensor import as_number, number, sample
from ...ir.numbers import number_dtype
from ...ops.creation import full
from ...ops.like import cast
from ...ops.number import number_pow_modulo_op, number_round_op
from ...ops.power import atan2, copysign, hypot
from ...ops.unary import ceil, floor
from ...ops.unary import round as round_op
from ..control.raise_ import convert_raise
from ..operators.operate import operate
from ..values.base import is_graph
from ..values.bounds import is_never_negative
from ..values.deferred import Call, record
from ..values.emit import scalar_dtype
from ..values.facts import class_of_tensor, of_its_class
from ..values.handlers import refuse_if_caught


def _of_numbers(python: Callable[..., Any], form: Callable[..., Any]) -> Callable[..., Any]:
    """`python`, a function that takes no Tensor, for numbers of the program: `form`; of Python values itself."""

    @functools.wraps(python)
    def convert(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if not any(map(is_graph, given)):
            return python(*args, **kwargs)
        if any(is_graph(v) and class_of_tensor(v) is Tensor for v in given):
            raise convert_raise(_error_of(python, args, kwargs))
        return form(*args, **kwargs)

    return convert


def _error_of(python: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> BaseException:
    """What the function raises when given these, because of their classes."""
    try:
        python(*map(of_its_class, args), **{name: of_its_class(value) for name, value in kwargs.items()})
    except TypeError as err:
        return err.with_traceback(None)
    raise AssertionError(f"{python.__name__} takes these")


def _round(number: Any, ndigits: Any = None) -> Any:
    if ndigits is None:
        return as_number(cast(round_op(_full(number)), "int64"))
    return as_number(number_round_op(_full(number), _full(ndigits)))


def _full(value: Any) -> Any:
    """A number, known now or later, as one of the program, in 64 bits."""
    found = value if is_graph(value) else full([], value, number_dtype(scalar_dtype(value)))
    return cast(found, "int64" if found.dtype.is_bool else number_dtype(found.dtype))


def _divmod(a: Any, b: Any) -> Any:
    return a // b, a % b


def _pow(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return base**exp
    given = [base, exp, mod]
    if not all(isinstance(sample(v) if is_graph(v) else v, int) for v in given):
        raise convert_raise(_error_of(pow, given, {}))
    refuse_if_caught(ValueError())
    return as_number(number_pow_modulo_op(*map(_full, given)))


def convert_pow(base: Any, exp: Any, mod: Any = None) -> Any:
    """`pow(base, exp, mod)`; of two operands it is the operator, which takes Tensors."""
    is_operator = mod is None and (is_graph(base) or is_graph(exp))
    return operate("**", base, exp) if is_operator else _pow_of_numbers(base, exp, mod)


convert_round = _of_numbers(builtins.round, _round)
convert_divmod = _of_numbers(builtins.divmod, _divmod)
_pow_of_numbers = _of_numbers(builtins.pow, _pow)


def convert_complex(*args: Any) -> Any:
    """`complex(real, imag)`."""
    if len(args) == 1 and is_graph(args[0]):
        return number(args[0], "complex()", "complex64" if not args[0].dtype.is_complex else None)
    if any(is_graph(a) for a in args):
        real, imag = (number(a, "complex()", "complex64") if is_graph(a) else a for a in args)
        return real + imag * 1j
    return builtins.complex(*args)


def _real(value: Any) -> Any:
    """The number that a tensor stands for, floating."""
    if not is_graph(value):
        return value
    return number(value, "float()", None if value.dtype.is_floating else "float64")


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: cast(rounded(x), "int64")


def _within(test: Callable[[Any], Any], compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`compute` of numbers that pass the test; others raise ValueError when the program runs, as `math` does."""

    def checked(x: Any) -> Any:
        refuse_if_caught(ValueError())
        record(assert_op, test(x), error=Call(ValueError, ("math domain error",)))
        return compute(x)

    return checked


def _square_root(x: Any) -> Any:
    return x.sqrt() if is_never_negative(x) else _checked_square_root(x)


_checked_square_root = _within(lambda v: v >= 0, lambda v: v.sqrt())


def _remainder(a: Any, b: Any) -> Any:
    """The remainder with the sign of `a`."""
    left = _within(lambda v: v.abs() != math.inf, lambda v: v.abs())(a)
    return copysign(_within(lambda v: v != 0, lambda v: left % v.abs())(b), a)


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
    math.sqrt: _square_root,
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
    math.fabs: lambda v: v.abs(),
    math.degrees: lambda v: v * (180.0 / math.pi),
    math.radians: lambda v: v * (math.pi / 180.0),
    math.isnan: lambda v: v.isnan(),
    math.isinf: lambda v: v.isinf(),
    math.isfinite: lambda v: v.isfinite(),
    math.pow: lambda a, b: a**b,
    math.fmod: lambda a, b: _remainder(*_both(a, b)),
    math.atan2: lambda a, b: atan2(*_both(a, b)),
    math.hypot: lambda *values: functools.reduce(lambda a, b: hypot(*_both(a, b)), values, 0.0),
    math.copysign: lambda a, b: copysign(*_both(a, b)),
    math.isclose: _close,
}


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, one of them a tensor, as tensors of one dtype."""
    if not (is_graph(a) or is_graph(b)):
        a = full([], a, "float64")
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
MATH[math.trunc] = _of_numbers(math.trunc, lambda x: as_number(cast(x, "int64")))
"""What to call for each function of module math."""

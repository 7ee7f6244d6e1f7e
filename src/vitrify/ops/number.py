"""Arithmetic among Python numbers, in programs, where it may fail: done as Python does it, errors included."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.dtype import as_dtype
from ..core.errors import ArgumentError
from ..core.meta import Meta
from .elementwise import divide_op, floor_divide_op, mod_op
from .power import pow_op
from .registry import NoGradient, OpDef, define_op


def _power(x: Any, y: Any) -> Any:
    """x ** y, of the kind that a program expects."""
    result = x**y
    kind = max(type(x), type(y), key=(bool, int, float, complex).index)
    if type(result) is kind or kind is bool:
        return result
    raise ArgumentError(
        f"{x!r} ** {y!r} is a {type(result).__name__}, where a program expects a {kind.__name__}",
        hint="write the power with floats, or leave this function out with @not_to_static",
    )


def _float_meta(x: Meta, y: Meta) -> Meta:
    is_complex = x.dtype.is_complex or y.dtype.is_complex
    return Meta((), as_dtype("complex128" if is_complex else "float64"))


def _define(name: str, compute: Callable[[Any, Any], Any], meta: Callable[..., Any]) -> OpDef:
    def kernel(xp: Any, x: Any, y: Any) -> Any:
        result = compute(x.item(), y.item())
        return xp.asarray(result, np.int64 if type(result) is int else None)

    constant = NoGradient("it computes with Python numbers")
    return define_op(name, kernel=kernel, meta=meta, vjp=constant, promote=("x", "y"), raises=True)


def _power_modulo(x: Any, y: Any, z: Any) -> Any:
    return pow(x, y, z)


def _define_exact(name: str, compute: Callable[..., Any]) -> OpDef:
    """An op that gives a number of the kind of its first input; the others are ints as they are."""

    def kernel(xp: Any, *values: Any) -> Any:
        return xp.asarray(compute(*[value.item() for value in values]), values[0].dtype)

    constant = NoGradient("it computes with Python numbers")
    return define_op(name, kernel=kernel, meta=lambda *metas: Meta((), metas[0].dtype), vjp=constant, raises=True)


number_pow_op = _define("number_pow", _power, pow_op.meta)
number_round_op = _define_exact("number_round", round)
number_pow_modulo_op = _define_exact("number_pow_modulo", _power_modulo)
_divide_op = _define("number_divide", operator.truediv, _float_meta)
_floor_divide_op = _define("number_floor_divide", operator.floordiv, floor_divide_op.meta)
_mod_op = _define("number_mod", operator.mod, mod_op.meta)
DIVISIONS: Mapping[OpDef, Callable[[Any, Any], Any]] = {
    _divide_op: operator.truediv, _floor_divide_op: operator.floordiv, _mod_op: operator.mod
}  # fmt: skip
"""Python's operator of each op that fails where it divides by zero."""
NUMBER_OPS: Mapping[OpDef, OpDef] = {
    divide_op: _divide_op, floor_divide_op: _floor_divide_op, mod_op: _mod_op, pow_op: number_pow_op
}  # fmt: skip
"""What stands for an op where all its inputs are Python numbers, so that 1 / 0 raises and int ** int stays exact."""

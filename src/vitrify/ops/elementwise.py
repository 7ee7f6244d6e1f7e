"""Arithmetic of two tensors, elementwise with broadcasting: + - * / // % ** and scale."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dispatch import bind_pair, operator_of
from ..core.dtype import fitted, from_np
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.suggest import did_you_mean
from .arguments import finish, is_python_number, is_tensor, rank_of
from .like import as_float, assign_op, cast, constant, zeros_like
from .meta_rules import elementwise, numeric, real_number
from .order_forms import division_form
from .promote import promote_inputs, with_numpy_numbers
from .registry import NoGradient, OpDef, define_elementwise

_activation, _softmax = lazy_module("vitrify.ops.activation"), lazy_module("vitrify.ops.softmax")

XY = ("x", "y")
# For ops that are constant between steps: a gradient that is 0, as Paddle gives it.
STEPS = {"x": lambda ct: zeros_like(ct)}
QUOTIENT = NoGradient("the result is constant between steps")


def conj(value: Any) -> Any:
    """The complex conjugate of a complex tensor or scalar; anything real as it is."""
    if is_tensor(value):
        return conj_op(value) if value.dtype.is_complex else value
    return value.conjugate() if isinstance(value, complex) else value


def _times(x: Any, y: Any) -> Any:
    return bind_pair(multiply_op, x, y)


def _trunc_divide(s: Any, x: Any, y: Any) -> Any:
    quotient = s.floordiv(x, y)
    # rounding down and towards zero differ by one where the quotient is negative and something remains
    return s.where((quotient < 0) & (quotient * y != x), quotient + 1, quotient)


# -- the ops ---------------------------------------------------------------------------------------------------------


add_op: OpDef = define_elementwise(
    "add",
    scalar="add",
    meta=elementwise("add", XY),
    vjp={"x": lambda ct: ct, "y": lambda ct: ct},
    maps={"onnx": "Add", "paddle": "elementwise_add"},
)
subtract_op: OpDef = define_elementwise(
    "subtract",
    scalar="sub",
    meta=elementwise("subtract", XY, numeric),
    vjp={"x": lambda ct: ct, "y": lambda ct: neg_op(ct)},
    maps={"onnx": "Sub", "paddle": "elementwise_sub"},
)
multiply_op: OpDef = define_elementwise(
    "multiply",
    scalar="mul",
    meta=elementwise("multiply", XY),
    vjp={"x": lambda ct, *, y: _times(ct, conj(y)), "y": lambda ct, *, x: _times(ct, conj(x))},
    maps={"onnx": "Mul", "paddle": "elementwise_mul"},
)
divide_op: OpDef = define_elementwise(
    "divide",
    scalar="div",
    meta=elementwise("divide", XY),
    vjp={
        "x": lambda ct, *, y: bind_pair(divide_op, ct, conj(y)),
        "y": lambda ct, *, y, out: neg_op(_times(ct, conj(bind_pair(divide_op, out, y)))),
    },
    maps={"onnx": "Div", "paddle": "elementwise_div"},
)
neg_op: OpDef = define_elementwise(
    "neg",
    scalar="neg",
    meta=elementwise("neg", ("x",), numeric),
    vjp={"x": lambda ct: neg_op(ct)},
    maps={"onnx": "Neg"},
)
conj_op: OpDef = define_elementwise(
    "conj",
    scalar="conj",
    meta=elementwise("conj", ("x",), numeric),
    vjp={"x": lambda ct: conj(ct)},
    maps={"paddle": "conj"},
)
floor_divide_op: OpDef = define_elementwise(
    "floor_divide",
    scalar="floordiv",
    meta=elementwise("floor_divide", XY, real_number),
    vjp=QUOTIENT,
    weak_0d=None,
    raises=True,
    maps={"paddle": "elementwise_floordiv"},
    native=division_form("floor_divide"),
)
trunc_divide_op = define_elementwise(
    "trunc_divide", scalar=_trunc_divide, meta=elementwise("divide", XY, real_number), vjp=QUOTIENT
)
mod_op: OpDef = define_elementwise(
    "mod",
    scalar="mod",
    meta=elementwise("mod", XY, real_number),
    vjp={"x": lambda ct: ct, "y": lambda ct, *, x, y: neg_op(_times(ct, floor_divide_op(x, y)))},
    raises=True,
    maps={"paddle": "elementwise_mod"},
    native=division_form("mod"),
)
scale_op: OpDef = define_elementwise(
    "scale",
    scalar=lambda s, x, *, scale, bias, bias_after_scale: x * scale + bias if bias_after_scale else (x + bias) * scale,
    meta=elementwise("scale", ("x",)),
    vjp={"x": lambda ct, *, scale: _times(ct, scale)},
    maps={"paddle": "scale"},
)


# -- functions -------------------------------------------------------------------------------------------------------


@aliased(x="input", y="other")
def add(x: Any, y: Any, name: str | None = None, *, alpha: Any = 1, out: Any = None) -> Any:
    """x + alpha * y, elementwise with broadcasting.

    x, y: [*a], [*b] of any dtype, or a Python scalar -> [*broadcast], the promoted dtype.
    Raises ShapeError when shapes do not broadcast. Source: paddle.add.

    Example:
        >>> import vitrify as paddle
        >>> paddle.add(paddle.to_tensor([1, 2]), paddle.to_tensor([10, 20])).tolist()
        [11, 22]
    """
    return finish("add", bind_pair(add_op, x, y if alpha == 1 else _times(y, alpha)), out)


@aliased(x="input", y="other")
def subtract(x: Any, y: Any, name: str | None = None, *, alpha: Any = 1, out: Any = None) -> Any:
    """x - alpha * y, elementwise with broadcasting.

    Raises ShapeError when shapes do not broadcast, DTypeError for bool. Source: paddle.subtract.

    Example:
        >>> import vitrify as paddle
        >>> paddle.subtract(paddle.to_tensor([5, 7]), paddle.to_tensor([1, 2])).tolist()
        [4, 5]
    """
    return finish("subtract", bind_pair(subtract_op, x, y if alpha == 1 else _times(y, alpha)), out)


@aliased(x="input", y="other")
def multiply(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """x * y, elementwise with broadcasting. Source: paddle.multiply.

    Example:
        >>> import vitrify as paddle
        >>> paddle.multiply(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [3, 8]
    """
    return finish("multiply", _times(x, y), out)


@aliased(x="input", y="other")
def divide(x: Any, y: Any, name: str | None = None, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """x / y, elementwise with broadcasting; integers and bool give float32.

    rounding_mode: None, "trunc" (towards zero) or "floor"; with either of these integers stay integers.
    Raises ArgumentError for another rounding mode. Source: paddle.divide.

    Example:
        >>> import vitrify as paddle
        >>> paddle.divide(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2.0, 4.0])).tolist()
        [0.5, 0.75]
    """
    if rounding_mode not in _ROUNDED:
        raise ArgumentError(f"divide: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")
    return finish("divide", _ROUNDED[rounding_mode](x, y), out)


def true_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """input / other with fractions kept. Source: paddle.true_divide.

    Example:
        >>> import vitrify as paddle
        >>> paddle.true_divide(paddle.to_tensor([1]), paddle.to_tensor([2])).tolist()
        [0.5]
    """
    return finish("true_divide", _fraction(input, other), out)


def _fraction(x: Any, y: Any) -> Any:
    """x / y with fractions kept: integer tensors, if their dtypes go together, become float32 each."""
    if (is_python_number(y) and isinstance(x, int)) or (is_python_number(x) and is_python_number(y)):
        return bind_pair(divide_op, x, y)  # as they are: Python says what is wrong with ints in other words
    if not (is_tensor(x) and is_tensor(y)):
        x, y = with_numpy_numbers(divide_op, (x, y))
        x, y = _beside_floats(x, y), _beside_floats(y, x)
    elif x.dtype is not y.dtype:
        one_is_number = is_python_number(x) is not is_python_number(y)  # then the other's dtype counts
        common = (x, y) if one_is_number else promote_inputs(divide_op, (x, y))
        if not common[0].dtype.is_integer:  # an integer would lose its sign in an unsigned dtype
            x, y = common
    return bind_pair(divide_op, _floating(x, y), _floating(y, x))


def _floating(x: Any, y: Any) -> Any:
    """x as what quotients are computed in; a number beside a tensor stays as it is, for it has no dtype of its own."""
    return x if isinstance(x, int) and is_tensor(y) else as_float(x)


def _beside_floats(x: Any, y: Any) -> Any:
    """x, an integer tensor, in the dtype of the array y if that holds floats."""
    is_beside = isinstance(y, np.ndarray) and y.dtype.kind == "f" and is_tensor(x) and x.dtype.np.kind in "biu"
    return cast(x, from_np(y.dtype)) if is_beside else x


@aliased(x="input", y="other")
def floor_divide(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """x / y rounded down, elementwise with broadcasting; integers stay integers. Source: paddle.floor_divide.

    Example:
        >>> import vitrify as paddle
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    return finish("floor_divide", floor_divide_op(x, y), out)


_ROUNDED: dict[str | None, Callable[[Any, Any], Any]] = {
    None: _fraction,
    "trunc": trunc_divide_op,
    "floor": floor_divide_op,
}


@aliased(x="input", y="other")
def remainder(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """What x leaves when divided by y, with y's sign; elementwise with broadcasting. Source: paddle.remainder.

    Example:
        >>> import vitrify as paddle
        >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([3, 3])).tolist()
        [1, 2]
    """
    return finish("remainder", mod_op(x, y), out)


mod = floor_mod = remainder


def neg(x: Any, name: str | None = None, *, out: Any = None) -> Any:
    """-x, elementwise. Raises DTypeError for bool. Source: paddle.neg.

    Example:
        >>> import vitrify as paddle
        >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    return finish("neg", neg_op(x), out)


def positive(x: Any, name: str | None = None) -> Any:
    """x itself. Raises DTypeError for bool. Source: paddle.positive.

    Example:
        >>> import vitrify as paddle
        >>> paddle.positive(paddle.to_tensor([1.0, -2.0])).tolist()
        [1.0, -2.0]
    """
    rank_of("positive", x)
    if x.dtype.is_bool:
        raise DTypeError("positive: x is bool, expected a numeric dtype")
    return x


def scale(
    x: Any, scale: Any = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """scale * x + bias, or scale * (x + bias) unless `bias_after_scale`; x's dtype is kept.

    scale: a number or a tensor with one element, which gets no gradient. act: name of an activation applied last;
    raises ArgumentError where there is none of that name. Source: paddle.scale.

    Example:
        >>> import vitrify as paddle
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), scale=2.0, bias=1.0).tolist()
        [3.0, 5.0]
    """
    rank_of("scale", x)
    kind: Any = bool if x.dtype.is_bool else int if x.dtype.is_integer else complex if x.dtype.is_complex else float
    offset = fitted(kind(bias), x.dtype)
    if is_tensor(scale):
        factor = cast(constant(scale), x.dtype)
        result = add_op(multiply_op(x, factor), offset) if bias_after_scale else multiply_op(add_op(x, offset), factor)
    else:
        result = scale_op(x, scale=fitted(kind(scale), x.dtype), bias=offset, bias_after_scale=bool(bias_after_scale))
    return result if act is None else _activated(result, act)


def _activated(x: Any, act: str) -> Any:
    """x after the activation of that name, or after another function of one tensor of that name."""
    family = next((family for family in (_activation, _softmax) if act in family.FUNCTIONAL), None)
    function = getattr(type(x) if family is None else family, act, None)
    if not callable(function):
        raise ArgumentError(f"scale: there is no activation {act!r}", hint=did_you_mean(act, _activation.FUNCTIONAL))
    return function(x)


def increment(x: Any, value: float = 1.0, name: str | None = None) -> Any:
    """x + value put into x itself, which has one element, and x returned. Source: paddle.increment.

    Example:
        >>> import vitrify as paddle
        >>> paddle.increment(paddle.zeros([1])).tolist()
        [1.0]
    """
    rank_of("increment", x)
    return x._become(cast(add_op(x, value), x.dtype))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of a list of tensors of equal shapes; a single tensor is copied. Source: paddle.add_n.

    Example:
        >>> import vitrify as paddle
        >>> paddle.add_n([paddle.to_tensor([1.0]), paddle.to_tensor([2.0])]).tolist()
        [3.0]
    """
    if not isinstance(inputs, (list, tuple)):
        return assign_op(inputs)
    if not inputs:
        raise ArgumentError("add_n: inputs is empty, expected at least one tensor")
    return functools.reduce(add_op, inputs[1:], inputs[0]) if len(inputs) > 1 else assign_op(inputs[0])


sub, mul, div, negative = subtract, multiply, divide, neg


# -- methods ---------------------------------------------------------------------------------------------------------


def reflected(op: OpDef) -> Callable[[Any, Any], Any]:
    """The method behind a reflected binary operator."""

    def method(x: Any, y: Any) -> Any:
        return bind_pair(op, y, x)

    return method


METHODS = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "true_divide": true_divide,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "mod": mod,
    "floor_mod": floor_mod,
    "neg": neg,
    "negative": neg,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "positive": positive,
    "scale": scale,
    "increment": increment,
    "add_n": add_n,
    "__add__": operator_of(add_op),
    "__radd__": reflected(add_op),
    "__sub__": operator_of(subtract_op),
    "__rsub__": reflected(subtract_op),
    "__mul__": operator_of(multiply_op),
    "__rmul__": reflected(multiply_op),
    "__truediv__": _fraction,
    "__div__": _fraction,
    "__rdiv__": lambda x, y: _fraction(y, x),
    "__rtruediv__": lambda x, y: _fraction(y, x),
    "__floordiv__": operator_of(floor_divide_op),
    "__rfloordiv__": reflected(floor_divide_op),
    "__mod__": operator_of(mod_op),
    "__rmod__": reflected(mod_op),
    "__neg__": lambda x: neg_op(x),
    "__pos__": positive,
}
INPLACE = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "mod", "floor_mod", "neg", "scale",
    "sub", "mul", "div",
)  # fmt: skip
__all__ = [
    "add",
    "add_n",
    "div",
    "divide",
    "floor_divide",
    "floor_mod",
    "increment",
    "mod",
    "mul",
    "multiply",
    "neg",
    "negative",
    "positive",
    "remainder",
    "scale",
    "sub",
    "subtract",
    "true_divide",
]

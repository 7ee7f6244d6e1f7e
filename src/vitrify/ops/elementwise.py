"""Arithmetic and comparison of two tensors, elementwise with broadcasting."""

from __future__ import annotations

from typing import Any

from .meta_rules import elementwise, numeric
from .registry import define_elementwise

XY = ("x", "y")

add_op = define_elementwise(
    "add",
    scalar="add",
    meta=elementwise("add", XY),
    vjp={"x": lambda ct: ct, "y": lambda ct: ct},
    maps={"onnx": "Add", "paddle": "elementwise_add"},
)
subtract_op = define_elementwise(
    "subtract",
    scalar="sub",
    meta=elementwise("subtract", XY, numeric),
    vjp={"x": lambda ct: ct, "y": lambda ct: neg_op(ct)},
    maps={"onnx": "Sub", "paddle": "elementwise_sub"},
)
multiply_op = define_elementwise(
    "multiply",
    scalar="mul",
    meta=elementwise("multiply", XY),
    vjp={"x": lambda ct, *, y: multiply_op(ct, conj(y)), "y": lambda ct, *, x: multiply_op(ct, conj(x))},
    maps={"onnx": "Mul", "paddle": "elementwise_mul"},
)
neg_op = define_elementwise(
    "neg",
    scalar="neg",
    meta=elementwise("neg", ("x",), numeric),
    vjp={"x": lambda ct: neg_op(ct)},
    maps={"onnx": "Neg"},
)


def conj(value: Any) -> Any:
    """The complex conjugate of a complex tensor or scalar; anything real as it is."""
    return value


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, elementwise with broadcasting.

    x, y: [*a], [*b] of any dtype, or a Python scalar -> [*broadcast], the promoted dtype.
    Raises ShapeError when shapes do not broadcast. Source: paddle.add.

    Example:
        >>> import vitrify as paddle
        >>> paddle.add(paddle.to_tensor([1, 2]), paddle.to_tensor([10, 20])).tolist()
        [11, 22]
    """
    return add_op(x, y)


METHODS = {"add": add, "__add__": add, "__radd__": add}
INPLACE = ("add",)

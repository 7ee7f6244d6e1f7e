"""What NumPy makes of numbers that only the run knows, such as sizes, by operators of the program: those are saved."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from ...core.dtype import float64
from ...core.meta import Meta
from ...core.modes import grad_enabled, scoped
from ...core.size import Size
from ...ir.program import Variable
from ...ops.like import assign_op, cast
from ..values.deferred import Call, Input, Node

_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.abs)
_FORMS: Mapping[Any, Callable[..., Any]] = {
    Size: list,
    **{function: function for function in _ARITHMETIC},
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.negative: operator.neg,
    np.absolute: operator.abs,
    np.prod: lambda factors: functools.reduce(operator.mul, factors, 1),
    **{
        getattr(np, name): operator.methodcaller(name)
        for name in ("ceil", "floor", "trunc", "sqrt", "square", "exp", "log", "log2", "log10")
    },
}


def has_form(node: Node) -> bool:
    """Whether operators compute the expression: calls that have a form each, of numbers and lists of them."""
    if isinstance(node, Call):
        is_known = isinstance(node.function, Hashable) and node.function in _FORMS
        return is_known and not node.keywords and all(map(has_form, node.args))
    if isinstance(node, (list, tuple)):
        return all(map(has_form, node))
    return node.number if isinstance(node, Input) else type(node) in (int, float)


def in_operators(node: Node, meta: Meta) -> Variable:
    """The value of an expression that has a form, as a 0-D tensor of that dtype; in 64 bits on the way, as in NumPy."""
    with scoped(grad_enabled, False):
        found: Variable = cast(_computed(node), meta.dtype)
    return found


def _computed(node: Node) -> Any:
    if isinstance(node, Input):
        return cast(assign_op(node.var), float64)  # a tensor: NumPy divides by zero, which Python's numbers refuse
    if isinstance(node, Call):
        return _FORMS[node.function](*map(_computed, node.args))
    return list(map(_computed, node)) if isinstance(node, (list, tuple)) else node

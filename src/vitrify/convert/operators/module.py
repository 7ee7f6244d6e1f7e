"""Functions of the module `operator` that concern tensors or the journal: those that decide, look up or write."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

from ...ir.graph_tensor import number
from ..control.logic import convert_not
from ..control.protocols import truth
from ..guards.observe import get_attr
from ..values.base import is_graph, scalar_condition
from ..values.user_code import converted
from .compare import convert_compare
from .objects import INPLACE, convert_setitem, convert_shape, del_item, inplace
from .operate import operate


def convert_truth(value: Any) -> Any:
    """`bool(value)`; of a tensor, a 0-D bool."""
    value = truth(value)
    return number(scalar_condition(value, "bool()"), "bool()", "bool") if is_graph(value) else builtins.bool(value)


def _set_item(owner: Any, key: Any, value: Any) -> None:
    convert_setitem(owner, key, value)


def _inplace(symbol: str) -> Callable[[Any, Any], Any]:
    return lambda left, right: inplace(symbol, left, right)


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`operator.call(function, ...)`."""
    return converted(function)(*args, **kwargs)


OPERATORS: dict[Any, Callable[..., Any]] = {
    operator.truth: convert_truth,
    operator.not_: lambda value: convert_not(value),
    operator.contains: lambda container, value: convert_compare(value, "in", container),
    operator.setitem: _set_item,
    operator.delitem: del_item,
    operator.pos: functools.partial(operate, "+"),
    operator.inv: functools.partial(operate, "~"),
    operator.invert: functools.partial(operate, "~"),
    operator.pow: functools.partial(operate, "**"),
    **{function: _inplace(symbol) for symbol, function in INPLACE.items()},
}
if hasattr(operator, "call"):  # Python 3.11 and later
    OPERATORS[operator.call] = call


def attrgetter(function: Any) -> Callable[[Any], Any]:
    """What an `attrgetter` object does, with unknown sizes of a tensor as tensors and the user's getters converted."""
    names = function.__reduce__()[1]

    def found(owner: Any, path: str) -> Any:
        for name in path.split("."):
            owner = convert_shape(owner) if name == "shape" else get_attr(owner, name)
        return owner

    if len(names) == 1:
        return lambda owner: found(owner, names[0])
    return lambda owner: tuple([found(owner, name) for name in names])


def methodcaller(function: Any) -> Callable[[Any], Any]:
    """What a `methodcaller` object does, with the method converted."""
    maker, rest = function.__reduce__()
    known = (*maker.args, *rest) if isinstance(maker, functools.partial) else rest
    kwargs = maker.keywords if isinstance(maker, functools.partial) else {}
    name, *args = known
    return lambda owner: converted(get_attr(owner, name))(*args, **kwargs)

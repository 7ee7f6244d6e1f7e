"""Builtins that mean something on tensors of a program being built. On Python values each is the builtin itself."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from ..core.errors import ArgumentError
from ..eager.tensor import Tensor
from ..ir.graph_tensor import as_number, number
from ..ops.sizes import dim_size
from .branches import convert_ifexp
from .comprehension import CONSUMERS, all_of, any_of, fresh, listed, sum_of
from .host import convert_print
from .logic import convert_and, convert_or
from .sequences import GraphSequence, as_sequence, graph_enumerate, graph_range, graph_reversed, graph_zip
from .text import GraphText, convert_ascii, convert_format, convert_repr, convert_str
from .values import is_graph, scalar_condition


def convert_len(obj: Any) -> Any:
    """`len(obj)`: a tensor's unknown first size becomes a tensor."""
    if isinstance(obj, GraphSequence):
        return obj.length
    if is_graph(obj) and obj.ndim > 0 and obj.shape[0] < 0:
        return as_number(dim_size(obj, 0))
    return builtins.len(obj)


def convert_int(*args: Any, **kwargs: Any) -> Any:
    """`int(x)`: of a tensor, truncation to int64."""
    return number(args[0], "int64") if len(args) == 1 and is_graph(args[0]) else builtins.int(*args, **kwargs)


def convert_float(*args: Any) -> Any:
    """`float(x)`: of a tensor, a 0-D floating tensor without gradient."""
    if len(args) == 1 and is_graph(args[0]):
        return number(args[0], None if args[0].dtype.is_floating else "float32")
    return builtins.float(*args)


def convert_bool(*args: Any) -> Any:
    """`bool(x)`."""
    return scalar_condition(args[0], "bool()") if args and is_graph(args[0]) else builtins.bool(*args)


def convert_range(*args: Any) -> Any:
    """`range(...)` with tensor bounds."""
    if not any(is_graph(a) for a in args):
        return builtins.range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return graph_range(start, stop, step)


def _graph_sequence(value: Any) -> GraphSequence | None:
    found = as_sequence(value)
    return found if found is not None and (is_graph(value) or isinstance(value, GraphSequence)) else None


def convert_enumerate(iterable: Any, start: Any = 0) -> Any:
    """`enumerate(iterable, start)`."""
    found = _graph_sequence(iterable)
    return graph_enumerate(found, start) if found is not None else builtins.enumerate(iterable, start)


def convert_zip(*iterables: Any, **kwargs: Any) -> Any:
    """`zip(*iterables)`."""
    found = [_graph_sequence(i) for i in iterables]
    if found and all(f is not None for f in found):
        return graph_zip(*[f for f in found if f is not None])
    return builtins.zip(*[i if f is None else f for i, f in builtins.zip(iterables, found)], **kwargs)


def convert_reversed(sequence: Any) -> Any:
    """`reversed(sequence)`."""
    found = _graph_sequence(sequence)
    return graph_reversed(found) if found is not None else builtins.reversed(sequence)


def convert_isinstance(obj: Any, classes: Any) -> bool:
    """`isinstance(obj, classes)`: a tensor of the program counts as a Tensor."""
    if (is_graph(obj) or builtins.isinstance(obj, GraphText)) and not builtins.isinstance(classes, builtins.tuple):
        classes = (classes,)
    if builtins.isinstance(obj, GraphText):
        return any(builtins.issubclass(builtins.str, c) for c in classes)
    if is_graph(obj) and any(c is Tensor for c in classes):
        return True
    return builtins.isinstance(obj, classes)


def _extreme(python: Callable[..., Any], better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        args = (listed(args[0]), *args[1:]) if args else args
        items = args if len(args) > 1 else builtins.tuple(args[0]) if not is_graph(args[0]) else args
        if kwargs or not any(is_graph(i) for i in items) or len(items) == 1:
            return python(*args, **kwargs)
        found = items[0]
        for item in items[1:]:
            found = convert_ifexp(better(item, found), lambda item=item: item, lambda found=found: found)
        return found

    convert.__doc__ = f"`{python.__name__}(...)` of tensors and numbers."
    return convert


def convert_sum(iterable: Any, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    clause = fresh(iterable)
    if clause is not None:
        return sum_of(clause, start)
    found = _graph_sequence(iterable)
    if found is not None and not isinstance(found.length, int):
        raise ArgumentError("sum() over a dimension of unknown size", hint="use x.sum(axis=0)")
    return builtins.sum(iterable, start)


def _as_bool(value: Any) -> Any:
    return value if is_graph(value) else builtins.bool(value)


def convert_any(iterable: Any) -> Any:
    """`any(iterable)`."""
    clause = fresh(iterable)
    if clause is not None:
        return _as_bool(any_of(clause, convert_bool))
    result: Any = False
    for item in iterable:
        result = convert_or(result, lambda item=item: convert_bool(item))
        if not is_graph(result) and result:
            return True
    return _as_bool(result)


def convert_all(iterable: Any) -> Any:
    """`all(iterable)`."""
    clause = fresh(iterable)
    if clause is not None:
        return _as_bool(all_of(clause, convert_bool))
    result: Any = True
    for item in iterable:
        result = convert_and(result, lambda item=item: convert_bool(item))
        if not is_graph(result) and not result:
            return False
    return _as_bool(result)


BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.len: convert_len,
    builtins.int: convert_int,
    builtins.float: convert_float,
    builtins.bool: convert_bool,
    builtins.range: convert_range,
    builtins.enumerate: convert_enumerate,
    builtins.zip: convert_zip,
    builtins.reversed: convert_reversed,
    builtins.isinstance: convert_isinstance,
    builtins.print: convert_print,
    builtins.str: convert_str,
    builtins.repr: convert_repr,
    builtins.ascii: convert_ascii,
    builtins.format: convert_format,
    builtins.max: _extreme(builtins.max, operator.gt),
    builtins.min: _extreme(builtins.min, operator.lt),
    builtins.sum: convert_sum,
    builtins.any: convert_any,
    builtins.all: convert_all,
    **CONSUMERS,
}

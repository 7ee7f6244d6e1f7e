"""Functions that go through a list whose length is known only when the program runs: reduced, its extremes, joined."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from ...core.pytree import is_open
from ...eager.host_ops import assert_op
from ...ir.graph_tensor import as_number
from ...ops.join import concatenate, dstack, hstack, vstack
from ...ops.shape import atleast_1d, atleast_2d, atleast_3d
from ..containers.dicts import GraphDict
from ..control.branches import convert_ifelse
from ..control.comprehension import GeneratorExpression, gathered, generator, keys_listed, listed
from ..control.loops import convert_for
from ..control.protocols import truth
from ..operators.operate import operate
from ..values.base import builder, is_graph
from ..values.deferred import Call, record
from ..values.sequences import GraphSequence, as_sequence
from ..values.user_code import converted
from .higher_order import HIGHER_ORDER
from .list_builtins import convert_concat, mapped, of_tuples
from .table import BUILTINS

_NOTHING = object()


def _itself(item: Any) -> Any:
    return item


def _of_unknown_length(iterable: Any) -> GraphSequence | None:
    """What is gone through as a sequence whose length a tensor says; None for other iterables."""
    values = listed(iterable) if isinstance(iterable, GeneratorExpression) else iterable
    sequence = as_sequence(values) if is_open(values) or is_graph(values) or values is not iterable else None
    return None if sequence is None or isinstance(sequence.length, int) else sequence


def _first(sequence: GraphSequence, error: Call) -> Any:
    """The first item; the program raises where there is none."""
    record(assert_op, sequence.length > 0, error=error)
    return sequence.at(0)


def _rest(sequence: GraphSequence) -> GraphSequence:
    return GraphSequence(sequence.length - 1, lambda i: sequence.at(i + 1))


def convert_reduce(function: Any, iterable: Any, *initial: Any) -> Any:
    """`functools.reduce(function, iterable, initial)`."""
    iterable = gathered(iterable)
    sequence = _of_unknown_length(iterable) if is_open(iterable) or is_graph(iterable) else None
    if sequence is None:
        return HIGHER_ORDER[functools.reduce](function, iterable, *initial)
    step = converted(function)
    start, rest = initial, sequence
    if not initial:
        empty = Call(TypeError, ("reduce() of empty iterable with no initial value",))
        start, rest = (_first(sequence, empty),), _rest(sequence)
    (result,) = convert_for(rest, lambda item, held: (step(held, item),), (start[0],), ("reduce",))
    return result


def _words_for_nothing(python: Callable[..., Any]) -> str:
    """What `max` or `min` says of a list without items, in this version of Python."""
    try:
        return str(python(()))
    except ValueError as err:
        return str(err)


def _extreme(python: Callable[..., Any], symbol: str) -> Callable[..., Any]:
    known = BUILTINS[python]

    def best_of(sequence: GraphSequence, key: Any) -> Any:
        ask = _itself if key is None else converted(key)
        first = _first(sequence, Call(ValueError, (_words_for_nothing(python),)))

        def step(item: Any, held: Any, best: Any) -> tuple[Any, ...]:
            value = ask(item)
            better = operate(symbol, value, best)
            return convert_ifelse(better, lambda: (item, value), lambda: (held, best), (), ("item", "key"))

        return convert_for(_rest(sequence), step, (first, ask(first)), ("item", "key"))[0]

    def convert(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        values = args
        if len(args) == 1:
            by_themselves = key is None and isinstance(args[0], GraphDict)  # keys, compared as Python's
            values = (listed(args[0]) if by_themselves else keys_listed(listed(args[0])),)
        sequence = as_sequence(values[0]) if len(values) == 1 and is_open(values[0]) else None
        if sequence is None:
            options = {} if default is _NOTHING else {"default": default}
            return known(*values, key=key, **options)
        if default is _NOTHING:
            return best_of(sequence, key)
        has_items = as_number(sequence.length > 0)
        return builder().choose(has_items, lambda: best_of(sequence, key), lambda: default, python.__name__)

    convert.__doc__ = f"`{python.__name__}(...)`."
    return convert


def convert_map(function: Any, *iterables: Any) -> Any:
    """`map(function, *iterables)`."""
    if len(iterables) != 1 or not isinstance(iterables[0], GeneratorExpression):
        return HIGHER_ORDER[builtins.map](function, *iterables)
    step = converted(function)
    return generator(iterables[0], lambda item: step(item))


def convert_filter(function: Any, iterable: Any) -> GeneratorExpression:
    """`filter(function, iterable)`: each item is asked when it is wanted."""
    return generator(iterable, _itself, truth if function is None else converted(function))


def _joined(join: Callable[..., Any], widened: Callable[..., Any], axis: int) -> Callable[..., Any]:
    def convert(x: Any, name: str | None = None) -> Any:
        if not is_open(x):
            return join(x, name)
        wide = mapped(widened, x)
        is_flat = axis == 1 and getattr(wide.opened().spec, "meta").ndim == 1  # noqa: B009 - specs of tensors have it
        return convert_concat(wide, 0 if is_flat else axis)

    convert.__doc__ = f"`paddle.{join.__name__}(x)`."
    return convert


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    functools.reduce: convert_reduce,
    builtins.max: _extreme(builtins.max, ">"),
    builtins.min: _extreme(builtins.min, "<"),
    builtins.filter: convert_filter,
    builtins.map: convert_map,
    hstack: _joined(hstack, atleast_1d, 1),
    vstack: _joined(vstack, atleast_2d, 0),
    dstack: _joined(dstack, atleast_3d, 2),
    concatenate: convert_concat,
}
OPEN_LISTS = of_tuples(_FUNCTIONS)

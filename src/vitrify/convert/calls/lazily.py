"""Library iterators over generators, as generator functions that are converted like the user's.

Python's own, written in C, ask for items; a generator of which a tensor decides the items gives them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.converted_too import converted_too
from ...core.errors import UnsupportedError
from ...core.pytree import is_open
from ...eager.host_ops import assert_op
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number
from ...ops.creation import assign
from ..containers.lists import GraphList
from ..control.comprehension import GeneratorExpression
from ..control.logic import convert_not
from ..control.pushed import push_all, pushing
from ..state.journal import kept_unless_given_up, note_spent, refuse_given
from ..values.base import Undefined, builder, is_graph
from ..values.deferred import Call, record
from ..values.handlers import refuse_unless_decided
from ..values.user_code import converted


@converted_too
def numbered(items: Any, number: Any) -> Iterator[Any]:
    """`enumerate(items, number)`."""
    for item in items:
        yield number, item
        number = number + 1


@converted_too
def zipped(before: Sequence[Any], items: Any, after: Sequence[Any], length: int) -> Iterator[Any]:
    """`zip(*before, items, *after)`, of others that have this length at least."""
    index = 0
    if before and length == 0:
        return
    for item in items:
        if index >= length:
            return
        yield (*[other[index] for other in before], item, *[other[index] for other in after])
        index = index + 1
        if before and index >= length:
            return


@converted_too
def taken_while(predicate: Any, items: Any) -> Iterator[Any]:
    """`itertools.takewhile(predicate, items)`."""
    for item in items:
        if not predicate(item):
            return
        yield item


@converted_too
def dropped_while(predicate: Any, items: Any) -> Iterator[Any]:
    """`itertools.dropwhile(predicate, items)`."""
    drops = True
    for item in items:
        if drops:
            drops = predicate(item)
        if not drops:
            yield item


@converted_too
def filtered_out(predicate: Any, items: Any) -> Iterator[Any]:
    """`itertools.filterfalse(predicate, items)`."""
    for item in items:
        if not predicate(item):
            yield item


def _lazy(python: Callable[..., Any], form: Callable[..., Any]) -> Callable[..., Any]:
    def convert(predicate: Any, iterable: Any) -> Any:
        if current_builder() is None:
            return python(predicate, iterable)
        refuse_given([iterable])
        return converted(form)(bool if predicate is None else predicate, iterable)

    convert.__doc__ = f"`itertools.{python.__name__}(predicate, iterable)`."
    return convert


LAZY: dict[Any, Callable[..., Any]] = {
    itertools.takewhile: _lazy(itertools.takewhile, taken_while),
    itertools.dropwhile: _lazy(itertools.dropwhile, dropped_while),
    itertools.filterfalse: _lazy(itertools.filterfalse, filtered_out),
}


def zip_pushed(parts: Sequence[Any]) -> Any:
    """`zip(*parts)` of one generator that gives its items and of others whose length is known; None for others."""
    at = [index for index, part in enumerate(parts) if pushing(part)]
    if len(at) != 1 or len(parts) < 2:
        return None
    before, after = parts[: at[0]], parts[at[0] + 1 :]
    if not all(map(_is_sized, (*before, *after))):
        return None
    length = min(map(len, (*before, *after)))
    return converted(zipped)(list(map(_by_number, before)), parts[at[0]], list(map(_by_number, after)), length)


def _by_number(value: Any) -> Any:
    """What gives its items by a number of the program, too."""
    return value if is_graph(value) else GraphList(value)


def _is_sized(value: Any) -> bool:
    """Whether items can be had by number, and how many there are is known."""
    if is_graph(value):
        return bool(value.ndim > 0 and value.shape[0] >= 0)
    return isinstance(value, (list, tuple, range)) and not is_open(value)


def first_of(generator: Any, *default: Any) -> Any:
    """`next(generator, default)`: Python's own, unless a tensor decides whether there is an item."""
    python = generator.python_form() if isinstance(generator, GeneratorExpression) else None
    if python is not None:
        note_spent(generator)
        try:
            with kept_unless_given_up((), _is_refusal), builder().trial() as trial:
                found = next(python, *default)
                trial.keep()
                generator.go_on_with(python)
                return found
        except UnsupportedError:
            pass
    state = (False, Undefined())
    there, item = push_all(generator, _taken, state, ("there", "item"), lambda there, item: convert_not(there))
    if not is_graph(there):
        if not there and not default:
            raise StopIteration
        return item if there else default[0]
    if default:
        return builder().choose(as_number(assign(there)), lambda: item, lambda: default[0], "next()")
    if not refuse_unless_decided(StopIteration(), there):
        record(assert_op, there, error=Call(StopIteration))
    return item


def _taken(item: Any, there: Any, before: Any) -> tuple[Any, Any]:
    return True, item


def _is_refusal(err: BaseException) -> bool:
    return isinstance(err, UnsupportedError)

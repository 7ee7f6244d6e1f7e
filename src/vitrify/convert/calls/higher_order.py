"""Library functions that call what they are given (`map`, `filter`, `reduce`, itertools): given it converted."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.converted_too import converted_too
from ...core.errors import UnsupportedError
from ...core.pytree import OverList, is_open, list_in
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number
from ..containers.lists import GraphList
from ..control.comprehension import keys_listed
from ..control.endless import OfList, by_number
from ..control.protocols import iterate, truth
from ..values.base import is_graph
from ..values.deferred import Deferred
from ..values.one_of import lazily_by_option
from ..values.sequences import GraphSequence, as_sequence, graph_map, graph_zip
from ..values.user_code import converted
from .library import of_library


def graph_sequence(value: Any) -> GraphSequence | None:
    """A tensor of the program, or a sequence of its values, as a sequence; None for Python's own iterables."""
    value = keys_listed(list_in(value))
    if is_open(value):
        found: GraphSequence = value.sequence()
        return found
    return as_sequence(value) if is_graph(value) or isinstance(value, (GraphSequence, Deferred)) else None


def graph_sequences(iterables: Sequence[Any]) -> list[GraphSequence] | None:
    """All of them as sequences, to be gone through together; None where Python can do that.

    Beside one whose length a tensor says, Python's own sequences are counted through as well.
    """
    found = [graph_sequence(i) for i in iterables]
    if any(f is not None and not isinstance(f.length, int) for f in found):
        found = [_counted(i) if f is None else f for f, i in zip(found, iterables)]
    sequences = [f for f in found if f is not None]
    return sequences if sequences and len(sequences) == len(found) else None


def list_sequence(value: Any) -> GraphSequence | None:
    """A list, tuple, text or range whose length Python knows, or what goes through such, as a sequence; else None."""
    if current_builder() is None or is_open(value):
        return None
    if isinstance(value, OfList):
        return value.handed_on()
    if type(value) is GraphList:
        return value.sequence()
    return _counted(value) if type(value) in (tuple, range, str) else None


def list_sequences(iterables: Sequence[Any]) -> list[GraphSequence] | None:
    """All of them as sequences, to be gone through together; None where one is no list, tuple or range."""
    found = [f for f in map(list_sequence, iterables) if f is not None]
    return found if found and len(found) == len(iterables) else None


def _counted(value: Any) -> GraphSequence | None:
    return by_number(value) if isinstance(value, range) or (isinstance(value, (list, tuple, str)) and value) else None


def known_items(iterable: Any) -> Any:
    """The iterable with converted iteration; tensors item by item."""
    found = graph_sequence(iterable)
    return iterate(iterable) if found is None else iter(found)


def convert_map(function: Any, *iterables: Any) -> Any:
    """`map(function, *iterables)`."""
    function = converted(function)
    found = graph_sequences(iterables)
    if found is not None:
        return graph_map(function, graph_zip(*found))
    return builtins.map(function, *[known_items(i) for i in iterables])


def convert_filter(function: Any, iterable: Any) -> Iterator[Any]:
    """`filter(function, iterable)`: each item is asked when it is wanted."""
    test = truth if function is None else converted(function)
    return (item for item in known_items(iterable) if _decided(test(item), "filter()"))


def _decided(value: Any, what: str) -> bool:
    value = truth(value)
    if is_graph(value):
        raise UnsupportedError(
            f"{what}: a tensor decides which items there are, so their number is known only when the program runs",
            hint="append to a list in a `for` loop under `if`, or use a mask (x[mask], paddle.where)",
        )
    return bool(value)


def convert_reduce(function: Any, iterable: Any, *initial: Any) -> Any:
    """`functools.reduce(function, iterable, initial)`."""
    return functools.reduce(converted(function), known_items(iterable), *initial)


def convert_accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    """`itertools.accumulate(iterable, func)`."""
    options = {} if initial is None else {"initial": initial}
    return itertools.accumulate(known_items(iterable), *(() if func is None else (converted(func),)), **options)


def convert_starmap(function: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.starmap(function, iterable)`."""
    return itertools.starmap(converted(function), known_items(iterable))


def convert_groupby(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby(iterable, key)`; tensors as keys decide the groups and are refused."""
    key = None if key is None else converted(key)

    def checked(item: Any) -> Any:
        found = item if key is None else key(item)
        if is_graph(found):
            _decided(found, "groupby()")
        return found

    return itertools.groupby(known_items(iterable), checked)


def convert_chain(*iterables: Any) -> Any:
    """`itertools.chain(*iterables)`."""
    return itertools.chain(*[known_items(i) for i in iterables])


def is_at_hand(iterable: Any) -> bool:
    """Whether all items are there, to be looked at again: no iterator, which others may go on with."""
    return isinstance(iterable, (list, tuple, range, str, OverList, GraphSequence)) or (
        is_graph(iterable) and iterable.ndim
    )


def convert_islice(iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice(iterable, stop)` or `(iterable, start, stop[, step])`."""
    if not any(map(is_number, bounds[:2])) or any(map(is_graph, bounds[2:])) or not is_at_hand(iterable):
        return of_library(itertools.islice)(iterable, *bounds)
    given = bounds if len(bounds) > 1 else (None, *bounds)
    return converted(_between)(iterable, *given)


@converted_too
def _between(items: Any, start: Any, stop: Any, step: Any = None) -> Any:
    if stop is not None and stop == -1:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if (start is not None and start < 0) or (stop is not None and stop < -1):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return list(items)[start:stop:step]


def convert_compress(data: Any, selectors: Any) -> Any:
    """`itertools.compress(data, selectors)`."""
    of_tensors = is_graph(selectors) or (isinstance(selectors, (list, tuple)) and any(map(is_graph, selectors)))
    if not (of_tensors or is_open(list_in(selectors))) or not is_at_hand(data):
        return of_library(itertools.compress)(data, selectors)
    return converted(selected)(data, selectors)


@converted_too
def selected(data: Any, selectors: Any) -> Any:
    return [item for item, is_wanted in zip(data, selectors) if is_wanted]


HIGHER_ORDER: dict[Any, Callable[..., Any]] = {
    builtins.map: lazily_by_option(convert_map),
    builtins.filter: lazily_by_option(convert_filter),
    functools.reduce: convert_reduce,
    itertools.accumulate: convert_accumulate,
    itertools.starmap: convert_starmap,
    itertools.groupby: convert_groupby,
    itertools.chain: convert_chain,
    itertools.islice: convert_islice,
    itertools.compress: convert_compress,
}

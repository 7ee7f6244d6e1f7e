"""What itertools make of items of which a tensor decides how many there are: generator functions, converted like the
user's. Where all items are known, Python's own do it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...core.converted_too import converted_too
from ...core.pytree import is_open, list_in
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number
from ..control.comprehension import GeneratorExpression
from ..control.pushed import pushing
from ..values.sequences import GraphSequence
from ..values.user_code import converted
from .higher_order import HIGHER_ORDER, graph_sequence
from .library import of_library


@converted_too
def _chained(parts: Iterable[Any]) -> Iterator[Any]:
    for part in parts:
        yield from part


@converted_too
def _accumulated(items: Any, function: Any, start: Sequence[Any]) -> Iterator[Any]:
    held = [*start]  # the total, once there is one
    yield from start
    for item in items:
        if len(held) > 0:
            held[0] = function(held[0], item)
        else:
            held.append(item)
        yield held[0]


@converted_too
def _starmapped(function: Any, rows: Any) -> Iterator[Any]:
    for row in rows:
        yield function(*row)


@converted_too
def _pairs(first: Any, second: Any) -> Iterator[Any]:
    outer, inner = list(first), list(second)
    for a in outer:
        for b in inner:
            yield a, b


@converted_too
def _triples(first: Any, second: Any, third: Any) -> Iterator[Any]:
    outer, middle, inner = list(first), list(second), list(third)
    for a in outer:
        for b in middle:
            for c in inner:
                yield a, b, c


@converted_too
def _neighbours(items: Any) -> Iterator[Any]:
    held: list[Any] = []  # the item before, once there is one
    for item in items:
        if len(held) > 0:
            yield held[0], item
            held[0] = item
        else:
            held.append(item)


@converted_too
def _two_of(items: Any) -> Iterator[Any]:
    held = list(items)
    for i in range(len(held)):
        for j in range(i + 1, len(held)):
            yield held[i], held[j]


def _is_undecided(value: Any) -> bool:
    """Whether a tensor may decide how many items there are."""
    if isinstance(value, GeneratorExpression) or pushing(value) or is_open(list_in(value)):
        return True
    found = graph_sequence(value)
    return isinstance(found, GraphSequence) and (is_number(found.length) or not isinstance(found.length, int))


def _made(python: Callable[..., Any], form: Callable[..., Any]) -> Callable[..., Any]:
    """`python`, but `form`, given the same arguments, where a tensor may decide how many items there are.

    form: gives the iterables, and what goes through them; None where nothing does.
    """

    def convert(*args: Any, **kwargs: Any) -> Any:
        if current_builder() is not None:
            try:
                iterables, make = form(*args, **kwargs)
            except TypeError:  # which Python's own says in its words
                iterables, make = (), None
            if make is not None and any(map(_is_undecided, iterables)):
                return make()
        return (HIGHER_ORDER.get(python) or of_library(python))(*args, **kwargs)

    convert.__doc__ = f"`itertools.{python.__name__}(...)`."
    return convert


Form = tuple[Sequence[Any], Callable[[], Any] | None]


def _chain(*iterables: Any) -> Form:
    return iterables, lambda: converted(_chained)(iterables)


def _from_iterable(iterable: Any) -> Form:
    inner = iterable if isinstance(iterable, (list, tuple)) and not is_open(list_in(iterable)) else ()
    return (iterable, *inner), lambda: converted(_chained)(iterable)


def _accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Form:
    start = () if initial is None else (initial,)
    return (iterable,), lambda: converted(_accumulated)(iterable, operator.add if func is None else func, start)


def _starmap(function: Any, iterable: Any) -> Form:
    return (iterable,), lambda: converted(_starmapped)(function, iterable)


def _product(*iterables: Any, repeat: Any = 1) -> Form:
    pools = iterables * repeat
    form = {2: _pairs, 3: _triples}.get(len(pools))
    return pools, None if form is None else lambda: converted(form)(*pools)


def _pairwise(iterable: Any) -> Form:
    return (iterable,), lambda: converted(_neighbours)(iterable)


def _combinations(iterable: Any, r: Any) -> Form:
    return (iterable,), (lambda: converted(_two_of)(iterable)) if r == 2 else None


LAZY_LIBRARY: dict[Any, Callable[..., Any]] = {
    itertools.chain: _made(itertools.chain, _chain),
    itertools.chain.from_iterable: _made(itertools.chain.from_iterable, _from_iterable),
    itertools.accumulate: _made(itertools.accumulate, _accumulate),
    itertools.starmap: _made(itertools.starmap, _starmap),
    itertools.product: _made(itertools.product, _product),
    itertools.pairwise: _made(itertools.pairwise, _pairwise),
    itertools.combinations: _made(itertools.combinations, _combinations),
}

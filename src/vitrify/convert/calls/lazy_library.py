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
from ..control.endless import ENDLESS, Cycling, Listed
from ..control.pushed import pushing
from ..state.journal import refuse_given
from ..values.sequences import GraphSequence
from ..values.user_code import converted
from .higher_order import HIGHER_ORDER, graph_sequence, is_at_hand, selected
from .library import of_library
from .list_builtins import convert_list


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


@converted_too
def _alone(items: Any) -> Iterator[Any]:
    for item in items:
        yield (item,)


@converted_too
def _three_of(items: Any) -> Iterator[Any]:
    held = list(items)
    for i in range(len(held)):
        for j in range(i + 1, len(held)):
            for k in range(j + 1, len(held)):
                yield held[i], held[j], held[k]


@converted_too
def _ordered_pairs(items: Any) -> Iterator[Any]:
    held = list(items)
    for i in range(len(held)):
        for j in range(len(held)):
            if i != j:
                yield held[i], held[j]


@converted_too
def _sliced(items: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    if start < 0 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop is not None and stop == 0:
        return
    index, wanted = 0, start
    for item in items:
        if index == wanted:
            yield item
            wanted = wanted + step
        index = index + 1
        if stop is not None and index >= stop:
            return


@converted_too
def _zipped_longest(iterables: Any, fill: Any) -> Iterator[Any]:
    parts = [list(iterable) for iterable in iterables]
    for i in range(max([len(part) for part in parts])):
        yield tuple([part[i] if i < len(part) else fill for part in parts])


@converted_too
def _grouped(items: Any, key: Any) -> Iterator[Any]:
    keys: list[Any] = []  # that of the group, once there is one
    group: list[Any] = []
    for item in items:
        found = item if key is None else key(item)
        if len(keys) == 0:
            keys.append(found)
        elif keys[0] == found:
            pass
        else:
            yield keys[0], iter(group.copy())
            group.clear()
            keys[0] = found
        group.append(item)
    if len(keys) > 0:
        yield keys[0], iter(group)


def _is_undecided(value: Any) -> bool:
    """Whether a tensor may decide how many items there are."""
    if is_number(value) or isinstance(value, GeneratorExpression) or pushing(value) or is_open(list_in(value)):
        return True
    if isinstance(value, Listed):
        return not value.is_known()
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
            refuse_given(iterables)
            if make is not None and any(map(_is_undecided, iterables)):
                return make()
        return (HIGHER_ORDER.get(python) or ENDLESS.get(python) or of_library(python))(*args, **kwargs)

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
    form = {1: _alone, 2: _two_of, 3: _three_of}.get(r)
    return (iterable,), None if form is None else lambda: converted(form)(iterable)


def _permutations(iterable: Any, r: Any = None) -> Form:
    form = {1: _alone, 2: _ordered_pairs}.get(r)
    return (iterable,), None if form is None else lambda: converted(form)(iterable)


def _islice(iterable: Any, *bounds: Any) -> Form:
    start, stop, step = (*bounds, None, None)[:3] if len(bounds) > 1 else (None, *bounds, None)
    start, step = 0 if start is None else start, 1 if step is None else step
    known = [bound for bound in (start, 0 if stop is None else stop, step - 1) if not is_number(bound)]
    is_plain = all(type(bound) is int and bound >= 0 for bound in known)
    decides = (iterable,) if is_at_hand(iterable) else (iterable, start, stop)
    return decides, (lambda: converted(_sliced)(iterable, start, stop, step)) if is_plain else None


def _zip_longest(*iterables: Any, fillvalue: Any = None) -> Form:
    return iterables, lambda: converted(_zipped_longest)(iterables, fillvalue)


def _groupby(iterable: Any, key: Any = None) -> Form:
    return (iterable,), lambda: converted(_grouped)(iterable, key)


def _tee(iterable: Any, n: int = 2) -> Form:
    return (iterable,), lambda: tuple([converted(iter)(items) for items in [convert_list(iterable)] * n])


def _cycle(iterable: Any) -> Form:
    return (iterable,), lambda: Cycling(convert_list(iterable))


def _compress(data: Any, selectors: Any) -> Form:
    return (data, selectors), lambda: converted(selected)(data, selectors)


LAZY_LIBRARY: dict[Any, Callable[..., Any]] = {
    itertools.chain: _made(itertools.chain, _chain),
    itertools.chain.from_iterable: _made(itertools.chain.from_iterable, _from_iterable),
    itertools.accumulate: _made(itertools.accumulate, _accumulate),
    itertools.starmap: _made(itertools.starmap, _starmap),
    itertools.product: _made(itertools.product, _product),
    itertools.pairwise: _made(itertools.pairwise, _pairwise),
    itertools.combinations: _made(itertools.combinations, _combinations),
    itertools.permutations: _made(itertools.permutations, _permutations),
    itertools.islice: _made(itertools.islice, _islice),
    itertools.zip_longest: _made(itertools.zip_longest, _zip_longest),
    itertools.groupby: _made(itertools.groupby, _groupby),
    itertools.tee: _made(itertools.tee, _tee),
    itertools.cycle: _made(itertools.cycle, _cycle),
    itertools.compress: _made(itertools.compress, _compress),
}

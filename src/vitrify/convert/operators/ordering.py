"""`sorted`, `min` and `max` where the order is decided by tensors."""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...core.modes import grad_enabled, scoped
from ...core.pytree import can_change, flatten, is_open, is_partial
from ...core.single import assert_index
from ...ir.aliases import Way
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ir.varying import kinds_of
from ...ops.compare import equal
from ...ops.creation import full
from ...ops.join import stack
from ...ops.like import cast
from ...ops.promote import SCALARS
from ...ops.select import where
from ...ops.shape import reshape
from ...ops.sort import argsort
from ..containers.dicts import GraphDict, extreme_key
from ..containers.structure import put_together
from ..control.branches import convert_ifexp
from ..control.comprehension import listed
from ..control.paired import Recoded
from ..control.protocols import iterate, truth
from ..guards.observe import current_observer
from ..state.journal import note_write
from ..state.places import ContentPlace
from ..values.base import is_graph, is_tensor, scalar_condition
from ..values.decided import decided_truth
from ..values.emit import common_dtype, is_python_number
from ..values.one_of import MAX_OPTIONS, GraphOneOf, options_of, settled
from ..values.sequences import GraphSequence
from ..values.user_code import converted
from .lexicographic import holds_tensor
from .operate import operate
from .own_order import order_of_objects

_NOTHING = object()


def items_of(iterable: Any, what: str) -> list[Any]:
    """The items of an iterable whose number is known. Raises UnsupportedError for others."""
    iterable = listed(iterable)
    length = iterable.length if isinstance(iterable, GraphSequence) else None
    if is_graph(iterable):
        length = iterable.shape[0] if iterable.ndim else 0
    if is_graph(length) or (isinstance(length, int) and length < 0):
        raise UnsupportedError(
            f"{what} over a number of items known only when the program runs",
            hint="use a tensor operation (paddle.sort, x.max(axis=0), ...), or a `for` loop",
        )
    return builtins.list(iterate(iterable))


def convert_sorted(iterable: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """`sorted(iterable, key, reverse)`; equal items keep their order."""
    items = items_of(iterable, "sorted()")
    return ordered(items, items if key is None else [converted(key)(item) for item in items], reverse)


def ordered(items: Sequence[Any], keys: Sequence[Any], reverse: Any) -> list[Any]:
    """The items in the order of their keys; equal ones keep theirs."""
    order = order_of(keys, reverse)
    if not is_graph(order):
        return [items[place] for place in order]
    with scoped(grad_enabled, True):  # items stay what they are, under no_grad as well
        return _in_order(items, order)


# From 3.13 on Python asks for the truth of what says whether an order falls; before, it is a whole number.
_ANY_TRUTH = sys.version_info >= (3, 13)


def in_direction(reverse: Any, order: Callable[[bool], Any]) -> Any:
    """The places that `order` gives, of which a tensor may decide whether they are those of a falling order."""
    if is_graph(reverse) and not _ANY_TRUTH:
        assert_index(reverse.dtype)
    told = truth(reverse)
    if not is_graph(told):
        builtins.sorted((), reverse=reverse)  # which says what is no direction
        return order(bool(told))
    falling, rising = order(True), order(False)
    if not is_graph(falling) and falling == rising:
        return rising
    pred = scalar_condition(told, "reverse")
    return where(pred, *[found if is_graph(found) else _numbers(found) for found in (falling, rising)])


def _numbers(places: Sequence[int]) -> Any:
    return stack([full([], place, "int64") for place in places])


def _order(keys: Sequence[Any], reverse: bool) -> Any:
    """The places of keys in their order, as numbers or, where tensors decide it, as a tensor."""
    if not any(map(holds_tensor, keys)):
        order = order_of_objects(keys, reverse)
        return _by_python(keys, reverse) if order is None else order
    if len(keys) < 2:
        return [*range(len(keys))]
    columns = _columns(keys)
    known = builtins.list(itertools.takewhile(lambda column: not any(map(holds_tensor, column)), columns))
    if known:
        ranks = _ranks(builtins.list(zip(*known)))
        if len(builtins.set(ranks)) == len(keys):  # Python compares no further
            return _by_python(ranks, reverse)
        columns = [ranks, *columns[len(known) :]]
    columns = [_ranked(column) for column in columns]
    *others, last = columns
    order = argsort(_stacked(last, "keys"), descending=reverse, stable=True)
    for column in reversed(others):  # the sort is stable, so what counts most comes last
        order = order[argsort(_stacked(column, "keys")[order], descending=reverse, stable=True)]
    return order


def _ranked(column: Sequence[Any]) -> Sequence[Any]:
    """A column of Python's values, such as texts, as numbers in their order; others as they are."""
    is_of_python = not any(map(holds_tensor, column)) and not all(isinstance(value, SCALARS) for value in column)
    if not is_of_python:
        return column
    try:
        return _ranks(column)
    except TypeError:  # which eager code comes to where what stands before is equal
        raise _no_tensor("keys") from None


def order_of(keys: Sequence[Any], reverse: Any) -> Any:
    """The places of keys in their order, as numbers or, where tensors decide it, as a tensor."""
    return in_direction(reverse, partial(_order, keys))


def _by_python(keys: Sequence[Any], reverse: bool) -> builtins.list[int]:
    return builtins.sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def _ranks(keys: Sequence[Any]) -> builtins.list[int]:
    """For each of some values of Python's its place in their order; equal ones have the same."""
    order = builtins.sorted(range(len(keys)), key=keys.__getitem__)
    ranks = [0] * len(keys)
    for before, after in itertools.pairwise(order):
        ranks[after] = ranks[before] + (keys[before] < keys[after])
    return ranks


def _columns(keys: Sequence[Any]) -> list[Sequence[Any]]:
    """Keys that are tuples as the keys that Python compares one after another."""
    lengths = {len(key) if isinstance(key, (tuple, builtins.list)) and not is_open(key) else -1 for key in keys}
    if lengths == {-1}:
        return [keys]
    if len(lengths) > 1 or 0 in lengths:
        raise _no_tensor("keys")
    return [column for part in zip(*keys) for column in _columns(part)]


def objects_in_order(items: Sequence[Any], order: Any) -> builtins.list[Any] | None:
    """The items in the order that a tensor tells, each the object that it is; None for values, and for many.

    One that is itself one of several objects, as a sort before gave it, stays one of those.
    """
    held = [settled(item) for item in items]
    options = [option for item in held for option in options_of(item).values()]
    objects = builtins.list({id(option): option for option in options}.values())
    if len(objects) > MAX_OPTIONS or not all(isinstance(v, (builtins.list, dict)) or can_change(v) for v in objects):
        return None
    places = {id(value): place for place, value in enumerate(objects)}
    codes = [_code_among(places, item) for item in held]
    column = stack([full([], code, "int64") if isinstance(code, int) else cast(code, "int64") for code in codes])[order]
    return [GraphOneOf([as_number(column[place]), *objects], "an item") for place in range(len(items))]


def _code_among(places: Mapping[int, int], item: Any) -> Any:
    """Which of some objects, counted by their ids, an item is."""
    if not isinstance(item, GraphOneOf):
        return places[id(item)]
    return Recoded(
        item.code, {old: places[id(option)] for old, option in enumerate(item.options) if id(option) in places}
    ).make()


def _in_order(items: Sequence[Any], order: Any) -> builtins.list[Any]:
    """The items in the order that a tensor tells; of containers, what they hold at the same place."""
    objects = objects_in_order(items, order)
    if objects is not None:
        return objects
    found: builtins.list[builtins.list[Any]] = [[] for _ in items]
    trees = [flatten(item, leaves) for item, leaves in zip(items, found)]
    if any(tree != trees[0] for tree in trees):
        raise _no_tensor("items")
    rows: builtins.list[Any] = [[] for _ in items]
    for column in zip(*found):
        gathered = _stacked(column, "items")[order]
        numbers = all(map(is_python_number, column))
        for i, row in enumerate(rows):
            row.append(as_number(gathered[i]) if numbers else _one_of(gathered[i], column, order[i]))
    return [put_together(trees[0], iter(row)) for row in rows]


def _one_of(found: Any, column: Sequence[Any], position: Any) -> Any:
    """The item at a position of a column, known to be one of its tensors."""
    build = current_builder()
    if build is not None and is_graph(found):
        ways = [Way(partial(equal, position, i), build.held(v)) for i, v in enumerate(column) if is_tensor(v)]
        build.aliases.fork(found, ways)
    return found


def sort_list(owner: list[Any]) -> Callable[..., None]:
    """What `owner.sort` is."""

    def sort(*, key: Any = None, reverse: Any = False) -> None:
        observer = current_observer()
        if observer is not None:
            observer.content_matters(owner)
        note_write(ContentPlace(owner))
        owner[:] = convert_sorted(owner, key=key, reverse=reverse)

    return sort


def _stacked(values: Sequence[Any], what: str) -> Any:
    """Tensors and numbers of one shape in one tensor."""
    tensors = [v for v in values if is_tensor(v)]
    numbers = [v for v in values if isinstance(v, SCALARS)]
    if len(tensors) + len(numbers) != len(values):
        raise _no_tensor(what)
    if not tensors:
        kind = "int64" if all(isinstance(v, int) for v in values) else "float64"
        return stack([full([], v, kind) for v in values])
    dtype = tensors[0].dtype
    shapes = {builtins.tuple(t.shape) for t in tensors} | {() for _ in numbers}
    if what == "keys":
        fits = shapes <= {(), (1,)}
        values = [reshape(v, []) if is_tensor(v) else v for v in values]
    else:
        fits = len(shapes) == 1
    are_alike = all(t.dtype is dtype for t in tensors)
    if not (fits and are_alike) or any(common_dtype(v, tensors[0]) is not dtype for v in values):
        raise _no_tensor(what)
    return stack([cast(v, dtype) if is_tensor(v) else full([], v, dtype) for v in values])


def _no_tensor(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"sorting by tensors: the {what} are not numbers or tensors of one shape and dtype, so no tensor can hold "
        "them in an order known only when the program runs",
        hint="stack what is sorted (paddle.stack) and use paddle.argsort",
    )


def extreme(python: Callable[..., Any], is_better: str) -> Callable[..., Any]:
    """`min` or `max`, for items or keys that are tensors: the first of equals, as Python has it."""

    def convert(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        name = f"{python.__name__}()"
        if len(args) == 1 and key is None and isinstance(args[0], GraphDict) and is_partial(args[0]):
            return extreme_key(args[0], python, *([] if default is _NOTHING else [default]))
        items = items_of(args[0], name) if len(args) == 1 else builtins.list(args)
        if not items or (len(args) > 1 and default is not _NOTHING):
            options = {} if default is _NOTHING else {"default": default}
            return python(*(args if len(args) > 1 else [items]), **options)
        keys = items if key is None else [converted(key)(item) for item in items]
        found, best = items[0], keys[0]
        for item, candidate in zip(items[1:], keys[1:]):
            better = operate(is_better, candidate, best)
            found, best = _select(better, (item, candidate), (found, best), key is None, name)
        return found

    convert.__doc__ = f"`{python.__name__}(...)`."
    return convert


def _select(better: Any, new: tuple[Any, Any], old: tuple[Any, Any], same: bool, name: str) -> tuple[Any, Any]:
    better = decided_truth(better)
    if not is_graph(better):
        return new if better else old
    pred = scalar_condition(better, name)
    if same:
        value = _either(pred, new[0], old[0])
        return value, value
    return _either(pred, new[0], old[0]), _either(pred, new[1], old[1])


def _either(pred: Any, new: Any, old: Any) -> Any:
    """One of two values; of tensors the object itself, so that neither gradients nor changes reach the other."""
    if not all(map(is_python_number, (new, old))) or kinds_of(new) != kinds_of(old):
        return convert_ifexp(pred, lambda: new, lambda: old)
    dtype = common_dtype(new, old)
    return as_number(where(pred, *[cast(v, dtype) if is_tensor(v) else full([], v, dtype) for v in (new, old)]))

"""Functions that take a list whose length is known only when the program runs: its tensors joined, summed, sorted."""

from __future__ import annotations

import builtins
import functools
import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.alias import aliased
from ...core.errors import UnsupportedError
from ...core.meta import Meta, normalize_axis
from ...core.pytree import OpenTuple, all_leaves, is_open, list_in
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ops.arguments import finish, static_int
from ...ops.creation import full
from ...ops.elementwise import add, add_n
from ...ops.join import concat, stack
from ...ops.like import cast
from ...ops.lists import (
    list_join_op,
    list_len_op,
    list_order_op,
    list_stack_op,
    list_sum_op,
    list_unstack_op,
    sum_dtype,
)
from ...ops.shape import reshape
from ...ops.sort import argsort
from ..containers.choices import ChoiceSpec, ranks
from ..containers.deques import GraphDeque
from ..containers.dicts import GraphDict, GraphItems, GraphKeys, SortedItems, SortedKeys, dict_of_view, partial_items
from ..containers.displays import Spread, new_list
from ..containers.item_kinds import is_of_kinds
from ..containers.list_items import Items
from ..containers.lists import GraphList
from ..containers.searching import count_of, index_of
from ..containers.sets import GraphSet
from ..containers.specs import SameSpec, StructSpec, TensorSpec
from ..containers.tuples import GraphTuple
from ..control.branches import convert_ifexp
from ..control.comprehension import gathered, keys_listed, listed
from ..control.endless import Listed
from ..control.loops import convert_for
from ..control.pushed import pushing
from ..operators.operate import operate
from ..operators.ordering import in_direction, objects_in_order, order_of, ordered
from ..values.base import builder, is_graph, is_tensor
from ..values.deferred import is_deferred
from ..values.emit import is_numeric, passed_on
from ..values.one_of import GraphOneOf, each_option, settled
from ..values.optional import assert_not_none
from ..values.sequences import GraphSequence
from ..values.user_code import converted, user_method
from ..values.user_errors import for_user
from .table import BUILTINS


def _tensors(op: str, values: GraphList) -> Any:
    """The list Variable of a list whose items are tensors."""
    items = values.items
    assert items is not None
    if not isinstance(items.spec, TensorSpec):
        raise UnsupportedError(
            f"{op} of a list of containers whose length is known only when the program runs",
            hint=f"keep a list of tensors for each, or collect them in a loop before {op}",
        )
    return items.parts[0]


@aliased(x="tensors", axis="dim")
def convert_stack(x: Any, axis: Any = 0, name: str | None = None, *, out: Any = None) -> Any:
    """`paddle.stack(x, axis)`."""
    if not is_open(x):
        return stack(x, axis, name, out=out)
    tensors = _tensors("stack", x)
    at = normalize_axis("stack", static_int("stack", axis, "axis"), tensors.ndim + 1)
    return finish("stack", list_stack_op(tensors, axis=at), out)


@aliased(x="tensors", axis="dim")
def convert_concat(x: Any, axis: Any = 0, name: str | None = None, *, out: Any = None) -> Any:
    """`paddle.concat(x, axis)`."""
    if not is_open(x):
        return concat(x, axis, name, out=out)
    tensors = _tensors("concat", x)
    at = normalize_axis("concat", static_int("concat", axis, "axis"), tensors.ndim)
    return finish("concat", list_join_op(tensors, axis=at), out)


def convert_add_n(inputs: Any, name: str | None = None) -> Any:
    """`paddle.add_n(inputs)`."""
    return _sum(inputs) if is_open(inputs) else add_n(inputs, name)


def _sum(values: GraphList) -> Any:
    tensors = _tensors("sum", values)
    return list_sum_op(tensors, dtype=sum_dtype(tensors.dtype))


def convert_sum(iterable: Any, /, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    iterable = listed(iterable) if isinstance(iterable, Listed) else iterable
    if not is_open(iterable):
        return BUILTINS[builtins.sum](iterable, start)
    spec = iterable.items.spec
    if is_of_kinds(spec) or (isinstance(spec, TensorSpec) and spec.is_mixed):
        (total,) = convert_for(iterable, lambda item, so_far: (operate("+", so_far, item),), (start,), ("sum",))
        return total

    def added() -> Any:
        found = _sum(iterable)
        if spec.is_number:  # numbers keep Python's classes: an int and 0.0 are a float
            return operate("+", start, as_number(found))
        return found if not is_tensor(start) and start == 0 else add(found, start)

    if iterable.items.least:
        return added()
    return builder().choose(as_number(iterable.length() > 0), added, lambda: start, "sum")


def asked_for_length(values: Any) -> Any:
    """`values`, after its `__len__` was called if it is the user's: Python makes room for the items so."""
    method = user_method(values, "__len__")
    if method is not None:
        method()
    return values


def convert_list(*args: Any) -> Any:
    """`list(iterable)`."""
    if current_builder() is None or len(args) != 1:
        return new_list(BUILTINS[builtins.list](*args))
    values = keys_listed(listed(asked_for_length(args[0])))
    if is_open(values):
        return values.copy()
    if is_graph(values) and values.ndim > 0 and values.shape[0] < 0:
        item = TensorSpec(Meta(tuple(values.shape[1:]), values.dtype))
        builder().keep(values)  # whose rows the list holds by value, where eager code has views of them
        return GraphList.of(Items(item, (passed_on(list_unstack_op, values, axis=0),)))
    if isinstance(values, GraphSequence) and not isinstance(values.length, int):
        return mapped(lambda item: item, values)
    return GraphList(BUILTINS[builtins.list](values))


def convert_tuple(*args: Any) -> Any:
    """`tuple(iterable)`."""
    if len(args) == 1 and isinstance(args[0], OpenTuple):
        return args[0]
    if current_builder() is None or len(args) != 1:
        return builtins.tuple(*args)
    values = keys_listed(listed(asked_for_length(args[0])))
    is_unknown = isinstance(values, GraphSequence) and not isinstance(values.length, int)
    if is_unknown or is_open(values) or (is_graph(values) and values.ndim > 0 and values.shape[0] < 0):
        return GraphTuple(convert_list(values))
    return BUILTINS[builtins.tuple](values)


def convert_deque(iterable: Any = (), maxlen: Any = None) -> Any:
    """`deque(iterable, maxlen)`."""
    if is_graph(maxlen):
        maxlen = operator.index(maxlen)  # raises the error about what only the run knows
    empty: deque[Any] = deque(maxlen=maxlen)  # raises what is wrong with `maxlen`
    if current_builder() is None:
        empty.extend(iterable)
        return empty
    made = GraphDeque(GraphList(), empty.maxlen)
    made.extend(convert_list(iterable))
    return made


def spread(values: Any) -> Spread:
    """`*values` in a list display or a call."""
    is_iterator = pushing(values) or isinstance(values, Listed)
    values = listed(values) if is_iterator else keys_listed(gathered(list_in(settled(values))))
    if isinstance(values, GraphOneOf) and values.count() is None:
        values = each_option(values, convert_list)
    if is_graph(values) and values.ndim > 0 and values.shape[0] < 0:
        values = convert_list(values)
    return Spread(values if is_open(values) or not hasattr(type(values), "__iter__") else tuple(iter(values)))


def mapped(function: Callable[[Any], Any], values: Any) -> GraphList:
    """`[function(item) for item in values]`."""
    found = GraphList()

    def body(item: Any) -> tuple[()]:
        found.append(function(item))
        return ()

    convert_for(values, body, (), ())
    return found


def convert_sorted(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted(iterable, key, reverse)`."""
    is_partial = partial_items(iterable) is not None
    if key is None and is_partial and isinstance(iterable, GraphItems) and isinstance(reverse, int):
        return keys_listed(SortedItems(dict_of_view(iterable), bool(reverse)))
    is_unordered = isinstance(iterable, GraphSet) or (key is None and isinstance(iterable, (GraphDict, GraphKeys)))
    values = keys_listed(SortedKeys(dict_of_view(iterable)) if is_unordered and is_partial else listed(iterable))
    if is_open(values):
        return _in_order(values, _order(_keys(values, key), reverse))
    known = BUILTINS[builtins.list](values)
    if key is None and any(map(_is_mixed, known)):
        order = order_of(known, reverse)
        found = _in_order(GraphList(known), order) if is_graph(order) else [known[place] for place in order]
        return GraphList([found[i] for i in range(len(known))])
    if key is None or all(is_numeric(item) for item in known):
        return new_list(BUILTINS[builtins.sorted](known, key=key, reverse=reverse))
    keys = GraphList(map(converted(key), known))
    if any(is_tensor(k) for k in keys):
        order = _order(keys, reverse)
        objects = objects_in_order(known, order)
        if objects is not None:
            return new_list(objects)
        found = _in_order(GraphList(known), order)
        return GraphList([found[i] for i in range(len(known))])
    return new_list(ordered(known, keys, reverse))


def _is_mixed(item: Any) -> bool:
    """Whether it is a tuple or list of tensors and texts, which no tensor can hold together."""
    if not isinstance(item, (builtins.tuple, builtins.list)) or is_open(item):
        return False
    leaves = all_leaves(item)
    return any(map(is_tensor, leaves)) and any(isinstance(leaf, builtins.str) for leaf in leaves)


def _keys(values: GraphList, key: Any) -> GraphList:
    """The keys that a list is sorted by. One that is None is an error, unless there is no other to compare it with."""
    if key is None:
        return mapped(_itself, values)
    of_item, is_alone = converted(key), values.length() < 2

    def key_of(item: Any) -> Any:
        found = of_item(item)
        for part in all_leaves(found):
            assert_not_none(part, TypeError("'<' not supported between instances of 'NoneType' and 'int'"), is_alone)
        return found

    return mapped(key_of, values)


def _itself(item: Any) -> Any:
    return item


def _in_order(values: GraphList, order: Any, is_same: bool = False) -> GraphList:
    """The items in another order; `is_same`: the list that has them now, not another one."""
    items = values.opened() if is_same else values.shared_items()
    return GraphList.of(Items(items.spec, tuple(passed_on(list_order_op, part, order) for part in items.parts)))


def convert_sort(values: GraphList, *, key: Any = None, reverse: Any = False) -> None:
    """`values.sort(key, reverse)`."""
    if is_open(values):
        values.change(_in_order(values, _order(_keys(values, key), reverse), is_same=True).items)
        return
    found = convert_sorted(values, key=key, reverse=reverse)
    if is_open(found):
        values.change(found.items)
    else:
        values[:] = found


def _order(keys: GraphList, reverse: Any) -> Any:
    """The places of the items in their order; equal keys stay in theirs, as with Python's sort."""
    items = keys.opened()
    specs = list(_key_specs(items.spec))
    none = list_len_op(items.parts[0]) == 0

    def places() -> Any:
        return in_direction(reverse, lambda falls: _sorted_places(specs, items.parts, falls))

    return convert_ifexp(none, lambda: full([0], 0, "int64"), places)


def _key_specs(spec: Any) -> Iterator[Any]:
    """What the parts of a key are; raises UnsupportedError for keys that are neither numbers nor tuples of such."""
    if isinstance(spec, StructSpec) and spec.kind in (tuple, list):
        for child in spec.children:
            yield from _key_specs(child)
    elif isinstance(spec, ChoiceSpec) or (isinstance(spec, TensorSpec) and set(spec.meta.shape) <= {1}):
        yield spec
    elif not isinstance(spec, SameSpec):
        raise UnsupportedError(
            "sorting by keys that are no tensors of one element",
            hint="give `key` one number, or a tuple of numbers, for each item",
        )


def _sorted_places(specs: Sequence[Any], columns: Sequence[Any], reverse: bool) -> Any:
    stacked = [list_stack_op(column, axis=0) for column in columns]
    known = [ranks(s, c) if isinstance(s, ChoiceSpec) else _ordinal(c) for s, c in zip(specs, stacked)]
    *others, last = known
    order = argsort(last, descending=reverse, stable=True)
    for column in builtins.reversed(others):  # the sort is stable, so what counts most comes last
        order = order[argsort(column[order], descending=reverse, stable=True)]
    return order


def _ordinal(values: Any) -> Any:
    values = reshape(values, [-1])
    return cast(values, "int32") if values.dtype.is_bool else values


def of_tuples(functions: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """The functions of lists, for tuples of any length, too."""
    return {key: _of_list_in(function) for key, function in functions.items()}


def _of_list_in(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(list_in, args), **{name: list_in(value) for name, value in kwargs.items()})

    return call


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    builtins.list: convert_list,
    builtins.tuple: convert_tuple,
    deque: convert_deque,
    builtins.sorted: convert_sorted,
    builtins.sum: convert_sum,
    stack: convert_stack,
    concat: convert_concat,
    add_n: convert_add_n,
    GraphList.sort: convert_sort,
}
LIST_FUNCTIONS = of_tuples(_FUNCTIONS)


def method_of_tuple(values: tuple[Any, ...], method: Callable[..., Any]) -> Callable[..., Any]:
    """`values.index` and `values.count`, which compare what a tensor decides in the program."""

    @for_user
    def search(*args: Any) -> Any:
        if not any(map(is_deferred, (*values, *args))):
            return method(*args)
        found = GraphList(values)
        return index_of(found, tuple, *args) if method.__name__ == "index" else count_of(found, *args)

    return search

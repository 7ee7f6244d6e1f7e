"""Builtins that mean something on tensors of a program being built. On Python values each is the builtin itself."""

from __future__ import annotations

import builtins
import copy
import functools
import itertools
import operator
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import DTypeError, UnsupportedError
from ...core.open_range import OpenRange
from ...core.pytree import OpenDict, OpenTable, OverList, is_open, list_in
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number, is_number, number
from ...ops.sizes import dim_size
from ..containers.dicts import VIEWS, GraphDict, as_dict, dict_of_view, partial_items, unknown_keys
from ..containers.hashed_tensors import check_hashed
from ..containers.lists import GraphList
from ..containers.making import dict_from, new_dict, new_frozenset, new_set
from ..containers.ranges import GraphRange, graph_range
from ..control.comprehension import (
    Each,
    GeneratorExpression,
    all_of,
    any_of,
    as_set,
    clause_of,
    dict_of,
    dict_of_generator,
    dict_of_pairs,
    gathered,
    keys_listed,
    sum_of,
)
from ..control.endless import Calling, Listed, Numbered, OfList, Zipped, by_number
from ..control.late_items import is_plain, late_items
from ..control.logic import convert_and, convert_not, convert_or
from ..control.protocols import Stepping, iterate
from ..control.pushed import pushing
from ..guards.observe import get_attr, note_absent, note_class, read_attr
from ..host.effects import convert_print
from ..host.value import HostValue, host_call, index_of
from ..operators.identity import identity_of
from ..operators.module import convert_truth
from ..operators.objects import convert_shape, del_attr, set_attr
from ..operators.operate import operate
from ..operators.ordering import convert_sorted, extreme, items_of
from ..operators.own_order import convert_cmp_to_key
from ..state.attributes import class_of, note_lacking
from ..state.journal import note_left, note_spent, note_write
from ..state.places import AttrPlace, undecided
from ..values.base import Undefined, Unmergeable, as_graph, builder, is_graph, is_tensor
from ..values.emit import unset_flag
from ..values.facts import ask
from ..values.handlers import catching
from ..values.maybe import is_set, set_flag, set_or, where_set
from ..values.one_of import GraphOneOf, asked, by_option, each_option, lazily_by_option, settled
from ..values.optional import assert_not_none
from ..values.sequences import GraphSequence, graph_enumerate, graph_reversed, graph_zip
from ..values.text import GraphText, convert_ascii, convert_format, convert_repr, convert_str, of_number
from ..values.user_code import converted, user_method
from ..values.user_errors import for_user, note_user_error
from .higher_order import graph_sequence, graph_sequences, known_items, list_sequence, list_sequences
from .lazily import first_of, numbered, zip_pushed
from .number_functions import MATH, convert_complex, convert_divmod, convert_pow, convert_round
from .taking_all import numbers_listed

_NOTHING = object()


@for_user
def convert_len(obj: Any) -> Any:
    """`len(obj)`: a tensor's unknown first size becomes a tensor."""
    if isinstance(obj, (OpenTable, HostValue)):
        return obj.length()
    if isinstance(obj, OpenRange):
        return obj.size()
    if isinstance(obj, GraphText):
        return obj.told("__len__")
    obj = list_in(obj)
    if isinstance(obj, GraphSequence):
        return obj.length
    if is_open(obj):
        return obj.length()
    if isinstance(obj, (GraphDict, *VIEWS)):
        return dict_of_view(obj).length()
    if is_graph(obj):
        assert_not_none(obj, TypeError("object of type 'NoneType' has no len()"))
        if obj.ndim == 0 and not is_number(obj):
            raise note_user_error(DTypeError("len() of a 0-D tensor"))
        return as_number(dim_size(obj, 0)) if obj.ndim > 0 and obj.shape[0] < 0 else builtins.len(obj)
    if isinstance(obj, dict) and any(unset_flag(value) is not None for value in obj.values()):
        raise unknown_keys("len() of")
    method = user_method(obj, "__len__")
    return builtins.len(obj) if method is None else method()


def _given(value: Any, kind: type) -> Any:
    """What is made a number of that kind: a tensor, or what NumPy makes of such, as a variable of the program."""
    if not isinstance(value, HostValue):
        return as_graph(value)
    return value.tensor(in_full=True) if value.is_of_numbers() else host_call(kind, value)


@for_user
def convert_int(*args: Any, **kwargs: Any) -> Any:
    """`int(x)`: of a tensor, truncation to int64."""
    value: Any = _given(args[0], int) if len(args) == 1 and not kwargs else None
    return number(value, "int()", "int64") if is_graph(value) else builtins.int(*args, **kwargs)


@for_user
def convert_float(*args: Any) -> Any:
    """`float(x)`: of a tensor, a 0-D floating tensor without gradient."""
    value: Any = _given(args[0], float) if len(args) == 1 else None
    if is_graph(value):
        return number(value, "float()", None if value.dtype.is_floating else "float64")
    return builtins.float(*args)


def convert_bool(*args: Any) -> Any:
    """`bool(x)`."""
    return convert_truth(args[0]) if args else False


def _by_method(builtin: Callable[..., Any], special: str, form: Callable[..., Any]) -> Callable[..., Any]:
    """`builtin` of one object: its converted special method where the user wrote that, else `form`."""

    @for_user
    def convert(*args: Any, **kwargs: Any) -> Any:
        method = user_method(args[0], special) if args else None
        return form(*args, **kwargs) if method is None else method(*args[1:], **kwargs)

    convert.__doc__ = f"`{builtin.__name__}(...)`."
    return convert


def convert_hash(value: Any) -> Any:
    """`hash(value)`."""
    check_hashed(value)
    return value.hash() if isinstance(value, GraphRange) else builtins.hash(value)


@for_user
def convert_range(*args: Any) -> Any:
    """`range(...)` with tensor bounds."""
    args = tuple(each_option(a, _as_bound) if a.__class__ is GraphOneOf else index_of(a) for a in args)
    if not any(is_graph(a) for a in args):
        return builtins.range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return graph_range(start, stop, step)


def _as_bound(value: Any) -> Any:
    """The number that a bound of several kinds is, one of an `IntEnum` say."""
    return value if is_graph(value) else operator.index(value)


def convert_enumerate(iterable: Any, start: Any = 0) -> Any:
    """`enumerate(iterable, start)`."""
    found = graph_sequence(iterable)
    if found is not None:
        return graph_enumerate(found, start)
    of_list = list_sequence(iterable)
    if of_list is not None:
        return OfList(graph_enumerate(of_list, start))
    items = iterate(iterable)
    if pushing(items):
        return converted(numbered)(items, start)
    if isinstance(items, Stepping):
        return Stepping.of(Numbered(items.owner, start))
    return _counted(items, start) if is_graph(start) else builtins.enumerate(items, start)


def _counted(items: Iterator[Any], count: Any) -> Iterator[Any]:
    for item in items:
        yield count, item
        count = count + 1


def convert_zip(*iterables: Any, strict: bool = False) -> Any:
    """`zip(*iterables, strict)`."""
    sequences = graph_sequences(iterables)
    if sequences is not None:
        lengths = [s.length for s in sequences]
        if not strict or len(lengths) == 1:
            return graph_zip(*sequences)
        if not all(isinstance(length, int) for length in lengths):
            raise UnsupportedError(
                "zip(strict=True) over tensors whose lengths are known only when the program runs",
                hint="assert that the lengths are equal, and leave out strict=True",
            )
    parts: list[Any] = [iterate(i) if user_method(i, "__iter__") is not None else i for i in iterables]
    of_lists = None if strict else list_sequences(iterables)
    if of_lists is not None:
        return OfList(graph_zip(*of_lists))
    found_pushing = None if strict else zip_pushed(parts)
    if found_pushing is not None:
        return found_pushing
    parts = [known_items(i) for i in parts]
    if parts and not strict and all(isinstance(part, Stepping) for part in parts):
        return Stepping.of(Zipped([part.owner for part in parts]))
    return builtins.zip(*parts, strict=strict)


def convert_reversed(sequence: Any) -> Any:
    """`reversed(sequence)`."""
    found, of_list = graph_sequence(sequence), list_sequence(sequence)
    if of_list is not None:
        return OfList(graph_reversed(of_list))
    return graph_reversed(found) if found is not None else builtins.reversed(sequence)


def convert_isinstance(obj: Any, classes: Any) -> Any:
    """`isinstance(obj, classes)`: a tensor of the program counts as a Tensor or as the number that it stands for."""
    if builtins.isinstance(obj, GraphOneOf):
        return asked(obj, lambda option: convert_isinstance(option, classes))
    if builtins.isinstance(obj, Unmergeable):
        raise obj.fail()
    if builtins.isinstance(obj, (OverList, OpenDict, OpenRange)):
        return any(builtins.issubclass(obj.kind, c) for c in _each_class(classes))
    if builtins.isinstance(obj, HostValue):
        return obj.is_instance(classes)
    if builtins.isinstance(obj, GraphText):
        return any(builtins.issubclass(builtins.str, c) for c in _each_class(classes))
    if is_graph(obj):
        known = [*_each_class(classes)]
        builtins.isinstance(None, classes)  # which may be no classes at all
        found = ask(obj, lambda kind: builtins.issubclass(kind, tuple(known)))
        return any(builtins.isinstance(obj, c) for c in known) if found is False else found
    note_class(obj)
    return builtins.isinstance(obj, classes)


def _each_class(classes: Any) -> Iterator[type]:
    """The classes in what isinstance takes: a class, a union, or nested tuples of them."""
    if builtins.isinstance(classes, (tuple, types.UnionType)) or typing.get_origin(classes) is typing.Union:
        for part in classes if builtins.isinstance(classes, tuple) else typing.get_args(classes):
            yield from _each_class(part)
    else:
        yield classes


def convert_type(*args: Any, **kwargs: Any) -> Any:
    """`type(x)`: Tensor for a tensor of the program."""
    return each_option(args[0], _class_of) if len(args) == 1 else builtins.type(*args, **kwargs)


def _class_of(value: Any) -> type:
    note_class(value)
    return value.eager_class() if builtins.isinstance(value, HostValue) else class_of(value)


def convert_sum(iterable: Any, /, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    clause = clause_of(iterable)
    if clause is not None:
        return sum_of(clause, start)
    items = builtins.iter(items_of(iterable, "sum()"))
    total = builtins.sum((), start)  # refuses texts
    numbers: list[Any] = []  # which Python adds in its own way
    for item in items:
        if not builtins.isinstance(total, _NUMBERS) or not builtins.isinstance(item, _NUMBERS):
            return functools.reduce(_plus, itertools.chain([item], items), builtins.sum(numbers, total))
        numbers.append(item)
    return builtins.sum(numbers, total)


_NUMBERS = (int, float, complex)


def _plus(total: Any, item: Any) -> Any:
    return operate("+", total, item)


def convert_any(iterable: Any) -> Any:
    """`any(iterable)`."""
    clause = _clause_left(iterable)
    found = _decided_by(iterable, convert_or, True, "any()") if clause is None else any_of(clause, convert_bool)
    return _left_by(found, iterable)


def convert_all(iterable: Any) -> Any:
    """`all(iterable)`."""
    clause = _clause_left(iterable)
    found = _decided_by(iterable, convert_and, False, "all()") if clause is None else all_of(clause, convert_bool)
    return _left_by(found, iterable)


def _clause_left(iterable: Any) -> Each | None:
    """What folds over items up to one that decides; None for an iterable whose items are asked for one by one."""
    if isinstance(iterable, Listed):
        return Each(iterable, _itself)
    return clause_of(iterable) or _clause_of_map(iterable)


def _itself(item: Any) -> Any:
    return item


def _left_by(found: Any, iterable: Any) -> Any:
    """The answer found in `iterable`, as a bool."""
    if isinstance(iterable, GeneratorExpression):
        iterable.leave(found)
    return found if is_graph(found) else builtins.bool(found)


def _clause_of_map(iterable: Any) -> Each | None:
    """What folds over a `map`, whose function is called where nothing was decided yet; None for other iterables."""
    if builtins.isinstance(iterable, GraphSequence) and builtins.isinstance(iterable.length, int):
        return Each(builtins.range(iterable.length), iterable.at)
    if current_builder() is None or builtins.type(iterable) is not builtins.map:
        return None
    reduced: Any = iterable.__reduce__()
    function, *parts = reduced[1]
    if not builtins.all(builtins.map(is_plain, parts)):
        return None
    note_spent(iterable)
    note_left(iterable)
    rows = builtins.list(builtins.zip(*parts))
    return Each(builtins.range(builtins.len(rows)), lambda i: function(*rows[i]))


def _decided_by(iterable: Any, combine: Callable[..., Any], stop_on: bool, what: str) -> Any:
    """The items combined up to the first that is `stop_on`."""
    result: Any = not stop_on

    def undecided() -> bool:
        return is_graph(result)

    for item in late_items(known_items(iterable), undecided, what):
        result = combine(result, lambda item=item: convert_bool(item))
        if result is stop_on:
            break
    return result


def convert_iter(*args: Any) -> Any:
    """`iter(iterable)`, `iter(function, end)`."""
    if len(args) != 1:
        return Calling(*args)
    values = settled(args[0])
    if current_builder() is None:
        return builtins.iter(values)
    if is_tensor(values) and values.ndim == 0:
        return builtins.iter(values)  # an error
    if is_tensor(values) or isinstance(values, (GraphList, OverList)):
        return Listed(list_in(values))
    if partial_items(values) is not None:
        return Listed(keys_listed(values))
    if isinstance(values, GraphRange):
        return Listed(GraphSequence(values.length, values.at))
    found = known_items(values)
    if found is values or not is_plain(found):
        return found
    if isinstance(values, range):
        return Listed(by_number(values))
    return Listed(GraphList(found))


def _next_of_listed(iterator: Listed, default: Any, of_item: Callable[[Any], Any] = _itself) -> Any:
    def end() -> Any:
        iterator.end()
        return default

    def take() -> Any:
        return of_item(iterator.take(iterator.position))

    more = convert_and(convert_not(iterator.is_over), iterator.has_more)
    return builder().choose(more, take, end, "next()") if is_graph(more) else take() if more else end()


def convert_next(iterator: Any, default: Any = _NOTHING) -> Any:
    """`next(iterator, default)`."""
    iterator = iterator.for_loop() if isinstance(iterator, OfList) else iterator
    step = iterator.step if isinstance(iterator, Listed) else user_method(iterator, "__next__")
    of_item = iterator.element_of() if isinstance(iterator, GeneratorExpression) else None
    if of_item is not None:
        items = iterator.clause.iterable
        return of_item(items.step()) if default is _NOTHING else _next_of_listed(items, default, of_item)
    if pushing(iterator):
        return first_of(iterator, *([] if default is _NOTHING else [default]))
    if isinstance(iterator, GraphSequence):
        raise UnsupportedError(
            "next() of what goes through tensors (enumerate, zip, map, reversed, range)",
            hint="ask an iterator of the tensor itself (it = iter(x)), or index it",
        )
    if step is None:
        note_spent(iterator)
        return builtins.next(iterator) if default is _NOTHING else builtins.next(iterator, default)
    if default is _NOTHING:
        return step()
    if isinstance(iterator, Listed):
        return _next_of_listed(iterator, default)
    try:
        with catching(StopIteration, "the default of next()"):
            return step()
    except StopIteration:
        return default


def _from_items(cls: type) -> Callable[..., Any]:
    """A container made of the items of an iterable."""

    def convert(*args: Any) -> Any:
        return cls(items_of(args[0], f"{cls.__name__}()")) if len(args) == 1 else cls(*args)

    convert.__doc__ = f"`{cls.__name__}(iterable)`."
    return convert


def _set_from_items(*args: Any) -> Any:
    """`set(iterable)`."""
    args = tuple([numbers_listed(gathered(arg)) for arg in args])
    if builtins.len(args) == 1 and (isinstance(args[0], OpenTable) or is_open(list_in(args[0]))):
        return new_set(args[0])
    found = [as_set(arg) for arg in args]
    if len(found) != 1:
        return new_set(builtins.set(*found))
    return new_set(found[0] if builtins.isinstance(found[0], GraphDict) else items_of(found[0], "set()"))


def _frozenset_from_items(*args: Any) -> Any:
    """`frozenset(iterable)`."""
    args = tuple([numbers_listed(gathered(arg)) for arg in args])
    found = new_frozenset(as_set(args[0])) if builtins.len(args) == 1 else None
    return frozenset(*[items_of(arg, "frozenset()") for arg in args]) if found is None else found


@for_user
def _from_pairs(*args: Any, **kwargs: Any) -> Any:
    """`dict(pairs, ...)`."""
    pairs = [dict_of_generator(a) if builtins.isinstance(a, GeneratorExpression) else a for a in args]
    pairs = [
        a if isinstance(a, OpenTable) else [*a] if isinstance(a, (zip, OfList)) else list_in(gathered(a)) for a in pairs
    ]
    pairs = [dict_of_pairs(a) if is_open(a) else a for a in pairs]
    if builtins.len(pairs) < 2:
        found = dict_from(pairs[0] if pairs else ())
        if found is not None:
            found.update(kwargs)
            return found
    if builtins.len(pairs) == 1:
        return new_dict(as_dict(pairs[0]), kwargs)
    return new_dict(builtins.dict(*pairs, **kwargs))


def _from_keys(keys: Any, value: Any = None) -> Any:
    """`dict.fromkeys(keys, value)`."""
    keys = numbers_listed(gathered(keys))
    if is_open(list_in(keys)) or pushing(keys):
        return dict_of(keys, lambda key: (key, value))
    pairs = [(key, value) for key in items_of(keys, "dict.fromkeys()")]
    found = dict_from(pairs)
    return new_dict(as_dict(pairs)) if found is None else found


@by_option(1)
def convert_getattr(owner: Any, name: str, default: Any = _NOTHING) -> Any:
    """`getattr(owner, name, default)`."""
    if name == "shape" and is_graph(owner):
        return convert_shape(owner)
    try:
        held = read_attr(owner, name)
    except AttributeError:
        if default is _NOTHING:
            raise
        note_absent(owner, name)
        return default
    if default is _NOTHING:
        return where_set(held)
    if default is _NOTHING_FOUND:
        return held
    return set_or(held, AttrPlace(owner, name).label, lambda: default, f"getattr({name!r})")


@by_option(1)
def convert_hasattr(owner: Any, name: str) -> Any:
    """`hasattr(owner, name)`."""
    if is_graph(owner):
        note_lacking(owner, name)
        found = ask(owner, lambda kind: builtins.hasattr(kind, name))
        return builtins.hasattr(owner, name) if found is False else found
    held = convert_getattr(owner, name, _NOTHING_FOUND)
    if builtins.isinstance(held, Unmergeable):
        raise held.fail()
    flag = set_flag(held, AttrPlace(owner, name).label)
    return held is not _NOTHING_FOUND if flag is None else is_set(flag)


_NOTHING_FOUND = object()


def _copy(value: Any) -> Any:
    """`copy.copy(value)`, which has attributes of its own on the paths on which `value` has."""
    made = copy.copy(value)
    for own in undecided(value):
        copied = own.at(made)
        note_write(copied)
        copied.set(own.get())
    return made


def convert_callable(obj: Any) -> bool:
    """`callable(obj)`."""
    if builtins.isinstance(obj, Undefined):
        raise obj.fail()
    return builtins.callable(obj)


def _of_frame(builtin: Callable[..., Any], least: int, hint: str) -> Callable[..., Any]:
    """A builtin that looks into the frame of its caller when given fewer than `least` arguments: then refused."""

    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) < least:
            raise UnsupportedError(
                f"{builtin.__name__}() reads the variables of the function around it, which conversion moves", hint=hint
            )
        for value in args if current_builder() is not None else ():
            builder().on_library(value)
        return builtin(*args, **kwargs)

    convert.__doc__ = f"`{builtin.__name__}(...)`."
    return convert


_NAME_THEM = "name the variables that you need, for example {'x': x}"
_GIVE_NAMESPACE = "give it a namespace: eval(text, {'x': x})"

_own_variables = _of_frame(vars, 1, _NAME_THEM)


def convert_vars(*objects: Any) -> Any:
    """`vars(obj)`."""
    held = len(objects) == 1 and hasattr(objects[0], "__dict__")
    return get_attr(objects[0], "__dict__") if held else _own_variables(*objects)


BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.len: convert_len,
    builtins.int: by_option(1)(_by_method(int, "__int__", convert_int)),
    builtins.float: by_option(1)(_by_method(float, "__float__", convert_float)),
    builtins.complex: _by_method(complex, "__complex__", convert_complex),
    builtins.bool: convert_bool,
    builtins.abs: _by_method(abs, "__abs__", builtins.abs),
    builtins.round: _by_method(round, "__round__", convert_round),
    builtins.divmod: _by_method(divmod, "__divmod__", convert_divmod),
    builtins.pow: convert_pow,
    builtins.id: by_option(1)(for_user(identity_of)),
    builtins.hash: _by_method(hash, "__hash__", convert_hash),
    builtins.range: convert_range,
    builtins.enumerate: lazily_by_option(convert_enumerate),
    builtins.zip: lazily_by_option(convert_zip),
    builtins.reversed: lazily_by_option(_by_method(reversed, "__reversed__", convert_reversed)),
    builtins.isinstance: convert_isinstance,
    builtins.type: convert_type,
    builtins.print: convert_print,
    builtins.str: convert_str,
    builtins.repr: convert_repr,
    builtins.ascii: convert_ascii,
    **{builtin: of_number(builtin) for builtin in (builtins.chr, builtins.hex, builtins.bin, builtins.oct)},
    builtins.format: convert_format,
    builtins.max: extreme(builtins.max, ">"),
    builtins.min: extreme(builtins.min, "<"),
    builtins.sorted: convert_sorted,
    builtins.sum: convert_sum,
    builtins.any: convert_any,
    builtins.all: convert_all,
    builtins.iter: convert_iter,
    builtins.next: convert_next,
    builtins.list: by_option(1)(_from_items(list)),
    builtins.tuple: by_option(1)(_from_items(tuple)),
    builtins.set: by_option(1)(_set_from_items),
    builtins.frozenset: by_option(1)(_frozenset_from_items),
    builtins.dict: by_option(1)(_from_pairs),
    builtins.dict.fromkeys: _from_keys,
    builtins.getattr: convert_getattr,
    builtins.hasattr: convert_hasattr,
    builtins.callable: convert_callable,
    builtins.setattr: set_attr,
    builtins.delattr: del_attr,
    builtins.locals: _of_frame(locals, 1, _NAME_THEM),
    builtins.vars: convert_vars,
    builtins.dir: _of_frame(dir, 1, _NAME_THEM),
    builtins.eval: _of_frame(eval, 2, _GIVE_NAMESPACE),
    builtins.exec: _of_frame(exec, 2, _GIVE_NAMESPACE),
    functools.cmp_to_key: convert_cmp_to_key,
    copy.copy: _by_method(copy.copy, "__copy__", _copy),
    **MATH,
}

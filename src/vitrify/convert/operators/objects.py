"""Writes to Python objects from converted code: done as Python does them, and noted in the journal."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from ...core.errors import DTypeError
from ...core.pytree import OpenDict, OpenList, OverList
from ...core.size import size_of_items
from ...eager.layer import Layer
from ...eager.layer_tree import LayerTree
from ...ir.graph_tensor import as_number, is_number
from ...ops.sizes import dim_size
from ..containers.by_position import is_put_at_position, put_at_position
from ..containers.columns import with_columns
from ..containers.each_key import for_each_key, is_undecided
from ..containers.keys import check_key, is_set_by_number, set_by_number
from ..containers.sets import GraphSet, of_python
from ..control.branches import choose
from ..control.comprehension import gathered, listed
from ..control.pushed import pushing
from ..guards.array_sites import ask_for_program
from ..guards.nondeterministic import refuse_items
from ..guards.observe import get_attr, peek_attr
from ..guards.unmerged import refuse_change
from ..guards.written import note_overwritten, note_stored
from ..host.value import HostValue, tensor_index
from ..state.attributes import InstancePlace, deleter, is_plain_field, writer
from ..state.gradient_flags import flag_writer
from ..state.journal import is_nested, note_write
from ..state.places import CellPlace, GlobalPlace, ItemPlace, store_attribute
from ..values.base import Undefined, is_graph, is_tensor
from ..values.deferred import holds_deferred
from ..values.facts import check_attribute
from ..values.odd_operands import ask, is_odd
from ..values.one_of import by_option
from ..values.user_code import class_attribute, user_method
from ..values.user_errors import for_user, note_user_error
from ..values.whole import whole_key
from .mutators import mutators_of, note_content, note_item
from .operate import get_item, operate, require_operands

INPLACE: dict[str, Any] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip


class _Index:
    """`vt.index[1:2, ...]` is the index that `__getitem__` receives."""

    def __getitem__(self, key: Any) -> Any:
        return key


@by_option(1)
def set_attr(owner: Any, attribute: str, value: Any) -> None:
    """`owner.attribute = value`."""
    put = writer(owner, attribute)
    if put is not None:
        if is_graph(value) and flag_writer(owner, attribute) is not None:  # whose flags are known while it is traced
            choose(value, partial(put, True), partial(put, False), attribute)
            return
        put(value)
        return
    if is_number(owner):
        ask(setattr, owner, attribute, value)
    if is_tensor(owner) and not is_plain_field(owner, attribute):
        setattr(owner, attribute, value)
        return
    _store(owner, attribute, value)


def _store(owner: Any, attribute: str, value: Any) -> None:
    note_stored(owner, attribute)
    try:
        store_attribute(owner, attribute, value)
    except DTypeError as err:  # the name of a parameter or Layer takes nothing else, whatever a tensor holds
        raise note_user_error(err) from None


@by_option(1)
def del_attr(owner: Any, attribute: str) -> None:
    """`del owner.attribute`."""
    remove = deleter(owner, attribute)
    if remove is not None:
        remove()
        return
    note_stored(owner, attribute, set_then=False)
    delattr(owner, attribute)


def _remove(owner: Any, attribute: str) -> None:
    note_stored(owner, attribute, set_then=False)
    LayerTree.__delattr__(owner, attribute)


def _train(layer: Any, mode: bool = True) -> Any:
    """`layer.train(mode)`."""
    for part in layer.sublayers(include_self=True):
        set_attr(part, "training", mode)
    return layer


def _evaluate(layer: Any) -> Any:
    """`layer.eval()`."""
    return _train(layer, False)


LAYER_WRITERS: dict[Any, Callable[..., Any]] = {
    LayerTree.__setattr__: _store, LayerTree.__delattr__: _remove, Layer.train: _train, Layer.eval: _evaluate,
}  # fmt: skip
"""What stands for the methods that write to Layers: methods of the user's of the same names build on some of them."""


def convert_setitem(owner: Any, key: Any, value: Any) -> Any:
    """`owner[key] = value`; returns owner."""
    _set_item(owner, key, value)
    return owner


@by_option(2)
@for_user
def _set_item(owner: Any, key: Any, value: Any) -> None:
    refuse_items(owner)
    put = user_method(owner, "__setitem__")
    if put is not None:
        put(key, value)
        return
    if not is_number(owner):
        key = whole_key(owner, key, lambda like, part: operator.setitem(like, part, 0))
    if isinstance(owner, dict) and is_undecided(key):
        for_each_key(lambda known: _set_item(owner, known, value), key)
        return
    if is_set_by_number(owner, key):
        set_by_number(owner, key, lambda held: _set_item(owner, held, value))
        return
    if is_put_at_position(owner, key):
        put_at_position(owner, key, lambda position: _set_item(owner, position, value))
        return
    if isinstance(owner, HostValue):
        owner[key] = value
        return
    if is_number(owner):
        ask(operator.setitem, owner, key, value)
    if isinstance(owner, np.ndarray) and holds_deferred((key, value)):
        ask_for_program(owner)
    if not is_tensor(owner):
        value = gathered(value) if isinstance(key, slice) else value
        refuse_change(owner, f"an item of {type(owner).__name__}")
        _note_item(owner, key)
    else:
        key, value = with_columns(tensor_index(key)), value.tensor() if isinstance(value, HostValue) else value
    owner[key] = value


@dataclass(frozen=True)
class Holder:
    """Where a container stands that an item is stored to. `instance`: whose `__dict__` it is."""

    get: Callable[[], Any]
    instance: Any = None


def attribute_of(owner: Any, attribute: str) -> Holder:
    """Where `owner.attribute` stands; what it holds does not matter to a store of an item."""
    has_fields = attribute == "__dict__" and not isinstance(owner, (type, FunctionType)) and not is_graph(owner)
    return Holder(partial(peek_attr, owner, attribute), owner if has_fields else None)


def item_of(owner: Any, key: Any) -> Holder:
    """Where `owner[key]` stands."""
    return Holder(partial(get_item, owner, key))


@by_option(1)
def _set_field(owner: Any, name: str, value: Any) -> None:
    """`owner.__dict__[name] = value`."""
    field = InstancePlace(owner, name)
    note_overwritten(owner, name)
    note_write(field)
    field.set(value)


@for_user
def convert_setitem_at(place: Holder, key: Any, value: Any) -> None:
    """`place.get()[key] = value`."""
    if place.instance is not None and isinstance(key, str):  # an attribute, past the class
        _set_field(place.instance, key, value)
    else:
        convert_setitem(place.get(), key, value)


@by_option(2)
@for_user
def del_item(owner: Any, key: Any) -> None:
    """`del owner[key]`."""
    refuse_items(owner)
    remove = user_method(owner, "__delitem__")
    if remove is not None:
        remove(key)
        return
    if isinstance(owner, dict) and is_undecided(key):
        for_each_key(lambda known: del_item(owner, known), key)
        return
    if is_number(owner):
        ask(operator.delitem, owner, key)
    key = whole_key(owner, key, operator.delitem)
    check_key(owner, key)
    refuse_change(owner, f"an item of {type(owner).__name__}")
    if isinstance(owner, (OpenDict, OverList)) or is_tensor(owner):
        pass  # the one notes its changes itself, the other has no items to lose: an error
    elif isinstance(owner, dict) and is_nested():
        note_item(ItemPlace.deleted(owner, key))
    elif mutators_of(type(owner)):
        note_content(owner)
    else:
        _note_item(owner, key)
    del owner[key]


def _note_item(owner: Any, key: Any) -> None:
    if isinstance(owner, (OpenList, OverList)):
        return  # it notes its changes itself
    check_key(owner, key)
    if isinstance(owner, OpenDict):
        return  # so does it
    if isinstance(key, slice) and mutators_of(type(owner)):
        note_content(owner)
    elif not is_graph(key) and not isinstance(key, slice) and class_attribute(type(owner), "__setitem__") is not None:
        note_item(ItemPlace(owner, key))


@by_option(3)
@for_user
def inplace(op: str, left: Any, right: Any) -> Any:
    """`left op= right`; the new value."""
    method = user_method(left, f"__{INPLACE[op].__name__}__")
    found = NotImplemented if method is None else method(right)
    if found is not NotImplemented:
        return found
    if class_attribute(type(left), f"__{INPLACE[op].__name__}__") is None and not is_tensor(left):
        return operate(op[:-1], left, right)
    if mutators_of(type(left)):
        note_content(left)
    if isinstance(left, np.ndarray) and holds_deferred((right,)):
        ask_for_program(left)
    refuse_change(left, f"{type(left).__name__} {op}")
    require_operands(op, INPLACE[op], left, right)
    if is_odd(op[:-1], left, right):
        ask(INPLACE[op], left, right)  # refuses what numbers don't do
    if op == "+=":
        right = listed(right) if pushing(right) else gathered(right)
    if isinstance(right, GraphSet):
        right = of_python(right, left)
    return INPLACE[op](left, right)


@by_option(1)
@for_user
def convert_shape(owner: Any) -> Any:
    """`owner.shape`, with unknown sizes of a tensor as tensors; of other objects the attribute that it is."""
    if not is_graph(owner):
        return owner.shape if is_tensor(owner) else get_attr(owner, "shape")
    check_attribute(owner, "shape")
    shape = owner.shape
    return size_of_items(size if size >= 0 else as_number(dim_size(owner, axis)) for axis, size in enumerate(shape))


def name(identifier: str, read: FunctionType) -> Any:
    """The place of the variable that `read` closes over: its cell, or the global of that name."""
    if identifier in read.__code__.co_freevars:
        assert read.__closure__ is not None
        return CellPlace(identifier, read.__closure__[read.__code__.co_freevars.index(identifier)])
    return GlobalPlace(identifier, read.__globals__)


def undefined(identifier: str = "", line: int = 0) -> Undefined:
    """The value of a variable that is not set yet; without a name, of one that is not read before it is."""
    return Undefined(identifier, line)

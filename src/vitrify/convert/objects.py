"""Writes to Python objects from converted code: done as Python does them, and noted in the journal."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

from ..core.errors import UnsupportedError
from ..core.pytree import OpenList
from ..ir.graph_tensor import as_number
from ..ops.sizes import dim_size
from .attributes import deleter, writer
from .host_value import HostValue
from .journal import AttrPlace, CellPlace, ContentPlace, GlobalPlace, ItemPlace, note_write, store_attribute
from .mutators import mutators_of
from .raise_ import for_user
from .user_code import user_method
from .values import Undefined, is_graph, is_tensor

INPLACE: dict[str, Any] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip


class _Index:
    """`vt.index[1:2, ...]` is the index that `__getitem__` receives."""

    def __getitem__(self, key: Any) -> Any:
        return key


def set_attr(owner: Any, attribute: str, value: Any) -> None:
    """`owner.attribute = value`."""
    put = writer(owner, attribute)
    if put is not None:
        put(value)
        return
    if is_tensor(owner):
        setattr(owner, attribute, value)
        return
    note_write(AttrPlace(owner, attribute))
    store_attribute(owner, attribute, value)


def del_attr(owner: Any, attribute: str) -> None:
    """`del owner.attribute`."""
    remove = deleter(owner, attribute)
    if remove is not None:
        remove()
        return
    note_write(AttrPlace(owner, attribute))
    delattr(owner, attribute)


@for_user
def convert_setitem(owner: Any, key: Any, value: Any) -> Any:
    """`owner[key] = value`; returns owner."""
    put = user_method(owner, "__setitem__")
    if put is not None:
        put(key, value)
        return owner
    if not is_tensor(owner):
        _note_item(owner, key)
    elif isinstance(value, HostValue):
        value = value.tensor()
    owner[key] = value
    return owner


def convert_setitem_at(place: Any, key: Any, value: Any) -> None:
    """`place.get()[key] = value`."""
    convert_setitem(place.get(), key, value)


@for_user
def del_item(owner: Any, key: Any) -> None:
    """`del owner[key]`."""
    remove = user_method(owner, "__delitem__")
    if remove is not None:
        remove(key)
        return
    if isinstance(owner, list):
        note_write(ContentPlace(owner))
    else:
        _note_item(owner, key)
    del owner[key]


def _note_item(owner: Any, key: Any) -> None:
    if isinstance(owner, OpenList):
        return  # it notes its changes itself
    if isinstance(owner, dict) and is_tensor(key):
        raise UnsupportedError(
            "a tensor as the key of a dict: its value is known only when the program runs",
            hint="use a Python value as the key, or a tensor with one entry a key",
        )
    if isinstance(key, slice) and isinstance(owner, list):
        note_write(ContentPlace(owner))
    elif not is_graph(key) and not isinstance(key, slice):
        note_write(ItemPlace(owner, key))


@for_user
def inplace(op: str, left: Any, right: Any) -> Any:
    """`left op= right`; the new value."""
    method = user_method(left, f"__{INPLACE[op].__name__}__")
    found = NotImplemented if method is None else method(right)
    if found is not NotImplemented:
        return found
    if mutators_of(type(left)):
        note_write(ContentPlace(left))
    return INPLACE[op](left, right)


def convert_shape(owner: Any) -> Any:
    """`owner.shape`, with unknown sizes of a tensor as tensors."""
    shape = owner.shape
    if not is_graph(owner):
        return shape
    return [size if size >= 0 else as_number(dim_size(owner, axis)) for axis, size in enumerate(shape)]


def name(identifier: str, read: FunctionType) -> Any:
    """The place of the variable that `read` closes over: its cell, or the global of that name."""
    if identifier in read.__code__.co_freevars:
        assert read.__closure__ is not None
        return CellPlace(identifier, read.__closure__[read.__code__.co_freevars.index(identifier)])
    return GlobalPlace(identifier, read.__globals__)


def undefined(identifier: str, line: int) -> Undefined:
    """The value of a variable that is not set yet."""
    return Undefined(identifier, line)

"""The node of the tape that machine code makes for an eager operator: the same as `eager.recording` makes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from .objects import DIMS, ITEMS, offset_of
from .operator_call import Operand, OperatorCall, kept_words
from .operator_table import OUT, Role, X

# Where a list has the address of its items.
_LIST_ITEMS = 24
_PLANS = {1: Role.PLAN_X, 2: Role.PLAN_Y, 3: Role.PLAN_XY}


def record(w: OperatorCall, operands: tuple[Operand, Operand], mask: str, out: str, no_attrs: Any) -> None:
    """Give the result `out` a node that leads to the operands in the set `mask`, which is not empty.

    Each object goes to its place as soon as it is made: whatever fails later, giving up the result gives up all of it.
    Memory may be collected wherever an object is made, and run anything: fields of tensors are read behind that.
    """
    kind = w.classes.node
    node = w.need_memory(w.new_object(kind))
    _replace(w, out, "_node", node)
    plan = w.variable("ptr", "null")
    for number, role in _PLANS.items():
        with w.when(w.same(mask, str(number), "i64")):
            w.store(w.held(role), plan, 0, "ptr")
    w.set_slot(node, kind, "plan", w.read(plan, "ptr"))
    for name, value in (("op", Role.OP), ("attrs", no_attrs), ("hooks", None), ("retained", None)):
        w.set_slot(node, kind, name, w.held(value))
    _add_edges(w, operands, mask, node)
    _add_kept(w, operands, mask, out, node)
    _add_outputs(w, out, node)
    w.incref(w.held(False))
    _replace(w, out, "stop_gradient", w.held(False))


def _replace(w: OperatorCall, tensor: str, name: str, value: str) -> None:
    """Put a new reference into a slot of a tensor."""
    offset = offset_of(w.classes.tensors[0], name)
    before = w.field(tensor, offset)
    w.set_field(tensor, offset, value)
    w.decref(before)


def _new_tuple(w: OperatorCall, count: object, holder: str, offset: int) -> str:
    """A tuple to be filled, which an empty place of an object holds from now on."""
    made = w.need_memory(w.capi("PyTuple_New", count))
    w.set_field(holder, offset, made)
    return made


def _set_item(w: OperatorCall, items: str, index: int, value: str) -> None:
    w.incref(value)
    w.set_field(items, ITEMS + 8 * index, value)


# -- edges -----------------------------------------------------------------------------------------------------------


def _add_edges(w: OperatorCall, operands: Sequence[Operand], mask: str, node: str) -> None:
    edges = w.need_memory(w.capi("PyList_New", w.either(w.is_alone, 1, len(operands))))
    w.set_field(node, offset_of(w.classes.node, "edges"), edges)
    items = w.field(edges, _LIST_ITEMS)
    for i in range(len(operands)):  # first None: nobody may see a list with holes
        with w.unless(w.is_alone) if i else nullcontext():
            w.incref(w.held(None))
            w.store(w.held(None), items, i, "ptr")
    for i, operand in enumerate(operands):
        with w.unless(w.same(w.value(f"and i64 {mask}, {1 << i}"), "0", "i64")):
            edge = w.need_memory(w.capi("PyTuple_New", 3))
            _fill_edge(w, edge, operand.object)
            w.store(edge, items, i, "ptr")
            w.decref(w.held(None))


def _fill_edge(w: OperatorCall, edge: str, x: str) -> None:
    """(its node, its index, None), of a leaf (None, -1, x)."""
    kind, none = w.classes.tensors[0], w.held(None)
    node = w.slot(x, kind, "_node")
    is_leaf = w.same(node, none)
    index = w.either(is_leaf, w.held(-1), w.slot(x, kind, "_index"), "ptr")
    leaf = w.either(is_leaf, x, none, "ptr")
    for i, value in enumerate((node, index, leaf)):
        _set_item(w, edge, i, value)


# -- what is kept ----------------------------------------------------------------------------------------------------


def _add_kept(w: OperatorCall, operands: Sequence[Operand], mask: str, out: str, node: str) -> None:
    """A tuple of what the operator's rules need: tensors as `Saved`, numbers as they are."""
    words = kept_words(w, mask)
    count = w.load(words)
    saved = _new_tuple(w, count, node, offset_of(w.classes.node, "saved"))
    with w.loop(count) as i:
        place = w.at(w.at(saved, ITEMS, "i8"), i)
        which = w.load(words, w.add(i, 1))
        is_x, is_out = w.same(which, str(X), "i64"), w.same(which, str(OUT), "i64")
        x, y = operands
        value = w.either(is_out, out, w.either(is_x, x.object, y.object, "ptr"), "ptr")
        is_tensor = w.value(f"or i1 {is_out}, {w.either(is_x, x.is_tensor, y.is_tensor, 'i1')}")
        with w.unless(is_tensor):
            w.incref(value)
            w.store(value, place, 0, "ptr")
        with w.when(is_tensor):
            _save(w, value, is_out, place)


def _save(w: OperatorCall, x: str, is_out: str, place: str) -> None:
    """`Saved(x)`, or `SavedOutput(x, 0)`: of the node's own output it does not hold where that comes from."""
    kind, tensor, none = w.classes.saved, w.classes.tensors[0], w.held(None)
    made = w.either(is_out, w.held(w.classes.saved_output), w.held(kind), "ptr")
    saved = w.need_memory(w.capi("PyType_GenericAlloc", made, 0))
    w.store(saved, place, 0, "ptr")
    cell = _cell(w, x)
    w.set_slot(saved, kind, "cell", cell)
    w.set_slot(saved, kind, "version", w.load(w.field(cell, _LIST_ITEMS), 0, "ptr"))
    w.set_slot(saved, kind, "array", w.slot(x, tensor, "_data"))
    node = w.either(is_out, none, w.slot(x, tensor, "_node"), "ptr")
    w.set_slot(saved, kind, "node", node)
    w.set_slot(saved, kind, "index", w.slot(x, tensor, "_index"))
    wants = w.same(w.slot(x, tensor, "stop_gradient"), w.held(False))
    is_leaf = w.value(f"and i1 {wants}, {w.same(node, none)}")
    is_leaf = w.either(is_out, "false", is_leaf, "i1")
    w.set_slot(saved, kind, "leaf", w.either(is_leaf, x, none, "ptr"))


def _cell(w: OperatorCall, x: str) -> str:
    """The count of changes of a tensor's memory, which begins here if nobody asked for it before."""
    offset = offset_of(w.classes.tensors[0], "_cell")
    with w.when(w.same(w.field(x, offset), w.held(None))):
        made = w.need_memory(w.capi("PyList_New", 1))
        w.incref(w.held(0))
        w.store(w.held(0), w.field(made, _LIST_ITEMS), 0, "ptr")
        with w.when(w.same(w.field(x, offset), w.held(None))):
            _replace(w, x, "_cell", made)
            w.incref(made)
        w.decref(made)
    return w.field(x, offset)


# -- the output ------------------------------------------------------------------------------------------------------


def _add_outputs(w: OperatorCall, out: str, node: str) -> None:
    """((shape, dtype),)"""
    array = w.slot(out, w.classes.tensors[0], "_data")
    outputs = _new_tuple(w, 1, node, offset_of(w.classes.node, "outputs"))
    meta = _new_tuple(w, 2, outputs, ITEMS)
    _set_item(w, meta, 1, w.descr(array))
    ndim, dims = w.value(f"zext i32 {w.ndim(array)} to i64"), w.field(array, DIMS)
    shape = w.at(_new_tuple(w, ndim, meta, ITEMS), ITEMS, "i8")
    with w.loop(ndim) as d:
        w.store(w.count_object(w.load(dims, d)), shape, d, "ptr")


__all__ = ["record"]

"""What runs of functions keep for their gradients: frames, tuples of Python's that hold arrays and other frames.

They are what the interpreter makes of them, so that either can go on with what the other kept. Steps hold frames by
their addresses, and the run holds a list of those that it made, which outlive it if something else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.meta import FrameMeta, Meta
from .emit import BOOL, INT64
from .errors import NoNativeForm
from .objects import ALIGNED, CONTIGUOUS, DATA, DESCR, DIMS, FLAGS, ITEMS, NDIM, SIZE, STRIDES, TYPE
from .operands import STATE, Frame, Maybe, Operand
from .steps import ARRAY_TYPE, FUNCTIONS, HELD, NAMES, PARAMETERS, PLAN, RAISED, REFUSED, RESULTS, array, python, word
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

# Of each item: what it is, its array, the truth value whether it is there, dtype, dimensions, bytes; then the sizes.
_EACH = _ITEM, _ARRAY, FLAG, _DTYPE, _NDIM, _BYTES = range(6)
NOTHING, AN_ARRAY, A_FRAME, AN_OBJECT = range(4)
_NO_FLAG = -1
LARGE_KEPT = 1 << 14
"""Bytes that a call keeps from which on the interpreter runs functions: its frames hold arrays, not copies of them."""


def packed_frame(n: Assembler, values: Sequence[Any]) -> Operand:
    """A new frame that holds these values."""
    n.has_objects = True
    out = Frame.of(n.new((), INT64))
    if sum(v.size * v.dtype.itemsize for v in values if v is not None) > LARGE_KEPT:
        raise NoNativeForm("a frame would copy much that the interpreter shares")
    items = [word for value in values for word in _packed(n, value)]
    n.add("pack", [STATE, out, len(values), *items])
    return out


def no_array_words() -> list[Any]:
    """An item that is None."""
    return [NOTHING, 0, _NO_FLAG, 0, 0, 0]


def _packed(n: Assembler, value: Any) -> list[Any]:
    if value is None:
        return no_array_words()
    if isinstance(value, Frame):
        return [A_FRAME, value, _NO_FLAG, 0, 0, 0]
    flag = value.flag if isinstance(value, Maybe) else _NO_FLAG
    return array_words(n.contiguous(value), flag)


def object_words(address: int) -> list[Any]:
    """An item that is an object of Python's, which the plan holds."""
    return [AN_OBJECT, address, _NO_FLAG, 0, 0, 0]


def array_words(x: Operand, flag: Any = _NO_FLAG) -> list[Any]:
    """An item that is an array, or None where a truth value says so."""
    return [AN_ARRAY, x, flag, dtype_address(x), x.ndim, x.size * x.dtype.itemsize, *x.shape]


def unpacked_frame(n: Assembler, frame: Any, metas: Sequence[Any]) -> tuple[Any, ...]:
    """Copies of what a frame holds; that of an array it may be missing."""
    if not isinstance(frame, Frame):
        raise NoNativeForm("what is unpacked is no frame")
    n.has_objects = True
    found, items = list[Any](), list[Any]()
    for meta in metas:
        if isinstance(meta, FrameMeta):
            found.append(Frame.of(n.new((), INT64)))
            items += [A_FRAME, found[-1], _NO_FLAG, 0, 0, 0]
        elif isinstance(meta, Meta) and meta.is_static:
            found.append(Maybe.of(n.new(meta.shape, meta.dtype.np), n.new((), BOOL)))
            items += array_words(found[-1], found[-1].flag)
        else:
            raise NoNativeForm("what a frame holds is of sizes that only the run knows")
    n.add("unpack", [STATE, frame, id(tuple), len(found), *items])
    return tuple(found)


def dtype_address(x: Operand) -> int:
    """The address of NumPy's dtype, of which there is one object in the process."""
    found = np.dtype(x.dtype.type)
    if found is not np.dtype(x.dtype.type) or not found.isbuiltin:
        raise NoNativeForm(f"{x.dtype} is no dtype of NumPy's own")
    return id(found)


def _field(w: Writer, holder: str, offset: int, type: str = "ptr") -> str:
    return w.load(w.at(holder, offset, "i8"), 0, type, 4 if type == "i32" else 8)


def none_of(w: Writer, plan: str) -> str:
    """Python's None."""
    return w.load(plan, FUNCTIONS + len(NAMES), "ptr")


def _pack() -> str:
    """A new tuple. c: 2 where the state is, 3 where its address goes, 4 how many items, 5... these."""
    w = Writer("i32", "pack", PARAMETERS)
    state = w.at("%P", word(w, 2))
    plan, held, count = w.load(state, PLAN, "ptr"), w.load(state, HELD, "ptr"), word(w, 4)
    none = none_of(w, plan)
    made = w.call("ptr", python(w, plan, "PyTuple_New"), f"i64 {count}")
    with w.when(w.value(f"icmp eq ptr {made}, null")):
        w.leave(f"i32 {RAISED}")
    at = w.variable("ptr", w.at("%c", 5))
    with w.loop(count) as i:
        item = w.value(f"load ptr, ptr {at}")
        found = w.variable("ptr", none)
        with w.when(w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {A_FRAME}")):
            frame = w.load(w.load("%P", w.load(item, _ARRAY), "ptr"), 0, "ptr")
            with w.when(w.value(f"icmp ne ptr {frame}, null")):
                w.line(f"store ptr {frame}, ptr {found}")
        with w.when(_is_there(w, item)):
            copy = new_array(w, plan, item)
            w.line(f"store ptr {copy}, ptr {found}")
        own = w.value(f"load ptr, ptr {found}")
        with w.when(w.value(f"icmp eq ptr {own}, null")):
            w.call("void", python(w, plan, "Py_DecRef"), f"ptr {made}")
            w.leave(f"i32 {RAISED}")
        with w.when(w.value(f"icmp ne i64 {w.load(item, _ITEM)}, {AN_ARRAY}")):
            w.call("void", python(w, plan, "Py_IncRef"), f"ptr {own}")
        with w.when(_is_missing(w, item)):
            w.call("void", python(w, plan, "Py_IncRef"), f"ptr {own}")
        w.store(own, w.at(made, ITEMS, "i8"), i, "ptr")
        w.line(f"store ptr {next_item(w, item)}, ptr {at}")
    code = w.call("i32", python(w, plan, "PyList_Append"), f"ptr {held}", f"ptr {made}")
    w.call("void", python(w, plan, "Py_DecRef"), f"ptr {made}")
    w.store(made, array(w, 3), 0, "ptr")
    is_held = w.value(f"icmp eq i32 {code}, 0")
    w.line(f"ret i32 {w.value(f'select i1 {is_held}, i32 0, i32 {RAISED}')}")
    return w.text


def next_item(w: Writer, item: str) -> str:
    """Where the item behind this one begins."""
    return w.at(item, w.add(w.load(item, _NDIM), len(_EACH)))


def _flag(w: Writer, item: str) -> str:
    """Whether an array is there, as a byte; 1 where it always is."""
    number, found = w.load(item, FLAG), w.variable("i8", 1)
    with w.when(w.value(f"icmp sge i64 {number}, 0")):
        w.line(f"store i8 {w.load(w.load('%P', number, 'ptr'), 0, 'i8', 1)}, ptr {found}")
    return w.load(found, 0, "i8", 1)


def _is_there(w: Writer, item: str) -> str:
    is_array = w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {AN_ARRAY}")
    return w.value(f"and i1 {is_array}, {w.value(f'icmp ne i8 {_flag(w, item)}, 0')}")


def _is_missing(w: Writer, item: str) -> str:
    is_array = w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {AN_ARRAY}")
    return w.value(f"and i1 {is_array}, {w.value(f'icmp eq i8 {_flag(w, item)}, 0')}")


def new_array(w: Writer, plan: str, item: str) -> str:
    """A new reference: a copy of an item's array as one of NumPy's, or None if it is none; null, with an exception
    set, where there is no memory.
    """
    none = none_of(w, plan)
    found = w.variable("ptr", none)
    is_array = w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {AN_ARRAY}")
    with w.when(is_array):
        descr, ndim = w.load(item, _DTYPE, "ptr"), w.value(f"trunc i64 {w.load(item, _NDIM)} to i32")
        w.call("void", python(w, plan, "Py_IncRef"), f"ptr {descr}")
        made = w.call(
            "ptr", python(w, plan, "PyArray_NewFromDescr"), f"ptr {w.load(plan, ARRAY_TYPE, 'ptr')}", f"ptr {descr}",
            f"i32 {ndim}", f"ptr {w.at(item, len(_EACH))}", "ptr null", "ptr null", "i32 0", "ptr null",
        )  # fmt: skip
        w.line(f"store ptr {made}, ptr {found}")
        with w.when(w.value(f"icmp ne ptr {made}, null")):
            to = w.load(w.at(made, DATA, "i8"), 0, "ptr")
            _copy(w, to, w.load("%P", w.load(item, _ARRAY), "ptr"), w.load(item, _BYTES))
    with w.when(w.value(f"xor i1 {is_array}, true")):
        w.call("void", python(w, plan, "Py_IncRef"), f"ptr {none}")
    return w.value(f"load ptr, ptr {found}")


def new_object(w: Writer, plan: str, item: str) -> str:
    """A new reference to what an item is: a copy of an array, None where that is missing, an object; null, with an
    exception set, where there is no memory.
    """
    found = w.variable("ptr", "null")
    is_object = w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {AN_OBJECT}")
    is_missing = _is_missing(w, item)
    for condition, own in ((is_object, w.load(item, _ARRAY, "ptr")), (is_missing, none_of(w, plan))):
        with w.when(condition):
            w.call("void", python(w, plan, "Py_IncRef"), f"ptr {own}")
            w.line(f"store ptr {own}, ptr {found}")
    with w.when(w.value(f"xor i1 {w.value(f'or i1 {is_object}, {is_missing}')}, true")):
        w.line(f"store ptr {new_array(w, plan, item)}, ptr {found}")
    return w.value(f"load ptr, ptr {found}")


def _copy(w: Writer, to: str, source: str, size: str) -> None:
    w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


def copy_array_to_item(w: Writer, item: str, x: str) -> None:
    """Write an array as an item says into its array, however the elements lie."""
    data, to = _field(w, x, DATA), w.load("%P", w.load(item, _ARRAY), "ptr")
    size, ndim, strides = w.load(item, _BYTES), w.load(item, _NDIM), _field(w, x, STRIDES)
    flags = w.value(f"and i32 {_field(w, x, FLAGS, 'i32')}, {CONTIGUOUS}")
    is_in_order = w.value(f"icmp eq i32 {flags}, {CONTIGUOUS}")
    with w.when(is_in_order):
        _copy(w, to, data, size)
    with w.when(w.value(f"xor i1 {is_in_order}, true")):
        count = w.variable("i64", 1)
        dims = w.at(item, len(_EACH))
        with w.loop(ndim) as d:
            w.line(f"store i64 {w.times(w.load(count), w.load(dims, d))}, ptr {count}")
        each = w.value(f"sdiv i64 {size}, {w.load(count)}")  # an array without elements is in order
        with w.loop(w.load(count)) as i:
            rest, offset = w.variable("i64", i), w.variable("i64", 0)
            with w.loop(ndim) as outer:
                d = w.value(f"sub i64 {w.add(ndim, -1)}, {outer}")
                place = w.value(f"srem i64 {w.load(rest)}, {w.load(dims, d)}")
                w.line(f"store i64 {w.add(w.load(offset), w.times(place, w.load(strides, d)))}, ptr {offset}")
                w.line(f"store i64 {w.value(f'sdiv i64 {w.load(rest)}, {w.load(dims, d)}')}, ptr {rest}")
            _copy(w, w.at(to, w.times(i, each), "i8"), w.at(data, w.load(offset), "i8"), each)


def copy_to_item(w: Writer, item: str, source: str) -> None:
    """Write what is elsewhere into an item's array."""
    _copy(w, w.load("%P", w.load(item, _ARRAY), "ptr"), source, w.load(item, _BYTES))


def _unpack() -> str:
    """The items of a tuple. c: 2 where the state is, 3 its address, 4 that of the class, 5 how many items, 6... these.

    A tuple that holds others than those ends the run.
    """
    w = Writer("i32", "unpack", PARAMETERS)
    plan, held, count = w.load(w.at("%P", word(w, 2)), PLAN, "ptr"), w.load(array(w, 3), 0, "ptr"), word(w, 5)
    kind, none = w.load("%c", 4, "ptr"), none_of(w, plan)
    need(w, f"icmp ne ptr {held}, null")
    need(w, f"icmp eq ptr {_field(w, held, TYPE)}, {kind}")
    need(w, f"icmp eq i64 {_field(w, held, SIZE, 'i64')}, {count}")
    at = w.variable("ptr", w.at("%c", 6))
    with w.loop(count) as i:
        item = w.value(f"load ptr, ptr {at}")
        own = w.load(w.at(held, ITEMS, "i8"), i, "ptr")
        is_none = w.value(f"icmp eq ptr {own}, {none}")
        to, flag = w.load("%P", w.load(item, _ARRAY), "ptr"), optional_at(w, w.load(item, FLAG))
        is_frame = w.value(f"icmp eq i64 {w.load(item, _ITEM)}, {A_FRAME}")
        with w.when(is_frame):
            w.store(w.value(f"select i1 {is_none}, ptr null, ptr {own}"), to, 0, "ptr")
        with w.when(w.value(f"xor i1 {is_frame}, true")):
            there = w.value(f"xor i1 {is_none}, true")
            w.store(w.value(f"zext i1 {there} to i8"), flag, 0, "i8", 1)
            with w.when(there):
                need_array(w, plan, own, item)
                _copy(w, to, _field(w, own, DATA), w.load(item, _BYTES))
        w.line(f"store ptr {next_item(w, item)}, ptr {at}")
    w.line("ret i32 0")
    return w.text


def optional_at(w: Writer, number: str) -> str:
    """The address of an array of this number; null for a negative one."""
    found = w.variable("ptr", "null")
    with w.when(w.value(f"icmp sge i64 {number}, 0")):
        w.line(f"store ptr {w.load('%P', number, 'ptr')}, ptr {found}")
    return w.value(f"load ptr, ptr {found}")


def need(w: Writer, condition: str) -> None:
    """Leave the run to the interpreter unless the condition holds."""
    with w.when(w.value(f"xor i1 {w.value(condition)}, true")):
        w.leave(f"i32 {REFUSED}")


def need_array(w: Writer, plan: str, x: str, item: str, flags: int = CONTIGUOUS | ALIGNED) -> None:
    """End the run unless x is an array as an item says, by default with its elements side by side."""
    need(w, f"icmp eq ptr {_field(w, x, TYPE)}, {w.load(plan, ARRAY_TYPE, 'ptr')}")
    need(w, f"icmp eq ptr {_field(w, x, DESCR)}, {w.load(item, _DTYPE, 'ptr')}")
    ndim, own = w.load(item, _NDIM), _field(w, x, NDIM, "i32")
    need(w, f"icmp eq i64 {w.value(f'zext i32 {own} to i64')}, {ndim}")
    own_flags = w.value(f"and i32 {_field(w, x, FLAGS, 'i32')}, {flags}")
    need(w, f"icmp eq i32 {own_flags}, {flags}")
    dims, wanted = _field(w, x, DIMS), w.at(item, len(_EACH))
    with w.loop(ndim) as d:
        need(w, f"icmp eq i64 {w.load(dims, d)}, {w.load(wanted, d)}")


def _give() -> str:
    """A result that is a frame. c: 2 where the state is, 3 its address, 4 which result it is."""
    w = Writer("i32", "give", PARAMETERS)
    state = w.at("%P", word(w, 2))
    plan, found = w.load(state, PLAN, "ptr"), w.load(array(w, 3), 0, "ptr")
    is_missing = w.value(f"icmp eq ptr {found}, null")
    own = w.value(f"select i1 {is_missing}, ptr {none_of(w, plan)}, ptr {found}")
    w.call("void", python(w, plan, "Py_IncRef"), f"ptr {own}")
    w.store(own, w.at(w.load(state, RESULTS, "ptr"), ITEMS, "i8"), word(w, 4), "ptr")
    w.line("ret i32 0")
    return w.text


def _leave_out() -> str:
    """None in place of a result that is missing. c: 2 where the state is, 3 whether it is there, 4 which it is."""
    w = Writer("i32", "leave_out", PARAMETERS)
    with w.when(w.value(f"icmp eq i8 {w.load(array(w, 3), 0, 'i8', 1)}, 0")):
        state = w.at("%P", word(w, 2))
        plan, items = w.load(state, PLAN, "ptr"), w.at(w.load(state, RESULTS, "ptr"), ITEMS, "i8")
        none, made = none_of(w, plan), w.load(items, word(w, 4), "ptr")
        w.call("void", python(w, plan, "Py_IncRef"), f"ptr {none}")
        w.store(none, items, word(w, 4), "ptr")
        w.call("void", python(w, plan, "Py_DecRef"), f"ptr {made}")
    w.line("ret i32 0")
    return w.text


def kept_steps() -> dict[str, str]:
    """All functions, by name."""
    return {"pack": _pack(), "unpack": _unpack(), "give": _give(), "leave_out": _leave_out()}


__all__ = [
    "FLAG", "LARGE_KEPT", "array_words", "copy_array_to_item", "copy_to_item", "dtype_address", "kept_steps", "need",
    "need_array",
    "new_array", "new_object", "next_item", "no_array_words", "none_of", "object_words", "optional_at", "packed_frame",
    "unpacked_frame",
]  # fmt: skip

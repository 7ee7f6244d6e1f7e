"""Lists of Python's in a run: `i32 step(ptr *P, intp *c)`, as those of `steps`.

A list is three words: the address of one of Python's, how many of its first items it is, and whether the run made it.
What appends to one that the run made, and of which it is all, goes on in the same memory: whoever has it as it was
before has fewer of its first items. So appending and leaving out the last item take the same time however long it is.
"""

from __future__ import annotations

from .kept import FLAG, copy_array_to_item, need, need_array, new_object, none_of, optional_at
from .objects import ALIGNED, ITEMS, LIST_ITEMS, SIZE
from .steps import HELD, PARAMETERS, PLAN, RAISED, REFUSED, RESULTS, array, optional, python, word
from .writer import Writer

LIST, LENGTH, IS_OWN = range(3)


def _state(w: Writer) -> tuple[str, str]:
    """The plan, and the list of what the run holds. c: 2 where the state is."""
    state = w.at("%P", word(w, 2))
    return w.load(state, PLAN, "ptr"), w.load(state, HELD, "ptr")


def _raise_unless(w: Writer, condition: str) -> None:
    with w.when(w.value(f"xor i1 {w.value(condition)}, true")):
        w.leave(f"i32 {RAISED}")


def _hold(w: Writer, plan: str, held: str, made: str) -> None:
    """Let the run have a new list, the only reference to it."""
    _raise_unless(w, f"icmp ne ptr {made}, null")
    code = w.call("i32", python(w, plan, "PyList_Append"), f"ptr {held}", f"ptr {made}")
    w.call("void", python(w, plan, "Py_DecRef"), f"ptr {made}")
    _raise_unless(w, f"icmp eq i32 {code}, 0")


def _write(w: Writer, out: str, held: str, length: str, is_own: object) -> None:
    w.store(held, out, LIST, "ptr")
    w.store(length, out, LENGTH)
    w.store(is_own, out, IS_OWN)


def _size(w: Writer, held: str) -> str:
    return w.load(w.at(held, SIZE, "i8"))


def _new() -> str:
    """An empty list. c: 3 where to."""
    w = Writer("i32", "list_new", PARAMETERS)
    plan, held = _state(w)
    made = w.call("ptr", python(w, plan, "PyList_New"), "i64 0")
    _hold(w, plan, held, made)
    _write(w, array(w, 3), made, "0", 1)
    w.line("ret i32 0")
    return w.text


def _given() -> str:
    """A list that the program is given. c: 2 where to, 3 where its address is."""
    w = Writer("i32", "list_given", PARAMETERS)
    given = w.load(array(w, 3), 0, "ptr")
    _write(w, array(w, 2), given, _size(w, given), 0)
    w.line("ret i32 0")
    return w.text


def _is_whole(w: Writer, x: str, held: str, length: str) -> str:
    """Whether the run made a list, which has no more items than this one."""
    is_own = w.value(f"icmp ne i64 {w.load(x, IS_OWN)}, 0")
    return w.value(f"and i1 {is_own}, {w.value(f'icmp eq i64 {_size(w, held)}, {length}')}")


def _append() -> str:
    """A list with one more item. c: 3 the list, 4 where to, 5... the item, as `kept.array_words` says it."""
    w = Writer("i32", "list_append", PARAMETERS)
    plan, held = _state(w)
    x = array(w, 3)
    before, length = w.load(x, LIST, "ptr"), w.load(x, LENGTH)
    target = w.variable("ptr", before)
    with w.when(w.value(f"xor i1 {_is_whole(w, x, before, length)}, true")):
        copy = w.call("ptr", python(w, plan, "PyList_GetSlice"), f"ptr {before}", "i64 0", f"i64 {length}")
        _hold(w, plan, held, copy)
        w.line(f"store ptr {copy}, ptr {target}")
    item = new_object(w, plan, w.at("%c", 5))
    _raise_unless(w, f"icmp ne ptr {item}, null")
    own = w.value(f"load ptr, ptr {target}")
    code = w.call("i32", python(w, plan, "PyList_Append"), f"ptr {own}", f"ptr {item}")
    w.call("void", python(w, plan, "Py_DecRef"), f"ptr {item}")
    _raise_unless(w, f"icmp eq i32 {code}, 0")
    _write(w, array(w, 4), own, w.add(length, 1), 1)
    w.line("ret i32 0")
    return w.text


def _take() -> str:
    """A copy of an item. c: 2 where the state is, 3 the list, 4 which, 5 of what that is counted down from if anything,
    6... the array; a place outside, what is another array, and None where it has no flag end the run.
    """
    w = Writer("i32", "list_take", PARAMETERS)
    plan, _ = _state(w)
    x, item = array(w, 3), w.at("%c", 6)
    held, length = w.load(x, LIST, "ptr"), w.load(x, LENGTH)
    place, end = w.variable("i64", w.load(array(w, 4))), optional(w, 5)
    with w.when(w.value(f"icmp ne ptr {end}, null")):
        last = w.add(w.load(end), -1)
        w.line(f"store i64 {w.value(f'sub i64 {last}, {w.load(place)}')}, ptr {place}")
    with w.when(w.value(f"icmp slt i64 {w.load(place)}, 0")):
        w.line(f"store i64 {w.add(w.load(place), length)}, ptr {place}")
    need(w, f"icmp ult i64 {w.load(place)}, {length}")
    own = w.load(w.load(w.at(held, LIST_ITEMS, "i8"), 0, "ptr"), w.load(place), "ptr")
    is_none = w.value(f"icmp eq ptr {own}, {none_of(w, plan)}")
    flag = optional_at(w, w.load(item, FLAG))
    has_flag = w.value(f"icmp ne ptr {flag}, null")
    with w.when(has_flag):
        w.store(w.value(f"zext i1 {w.value(f'xor i1 {is_none}, true')} to i8"), flag, 0, "i8", 1)
    with w.when(w.value(f"and i1 {is_none}, {w.value(f'xor i1 {has_flag}, true')}")):
        w.leave(f"i32 {REFUSED}")
    with w.when(w.value(f"xor i1 {is_none}, true")):
        need_array(w, plan, own, item, ALIGNED)
        copy_array_to_item(w, item, own)
    w.line("ret i32 0")
    return w.text


def _shorten() -> str:
    """A list without its last item, if it has one. c: 2 the list, 3 where to."""
    w = Writer("i32", "list_shorten", PARAMETERS)
    x = array(w, 2)
    held, length, is_own = w.load(x, LIST, "ptr"), w.load(x, LENGTH), w.load(x, IS_OWN)
    has_items = w.value(f"icmp sgt i64 {length}, 0")
    _write(w, array(w, 3), held, w.value(f"select i1 {has_items}, i64 {w.add(length, -1)}, i64 0"), is_own)
    w.line("ret i32 0")
    return w.text


def _reverse() -> str:
    """Turn a list around that the run made and nobody else has. c: 2 where the state is, 3 the list."""
    w = Writer("i32", "list_reverse", PARAMETERS)
    plan, _ = _state(w)
    code = w.call("i32", python(w, plan, "PyList_Reverse"), f"ptr {w.load(array(w, 3), LIST, 'ptr')}")
    _raise_unless(w, f"icmp eq i32 {code}, 0")
    w.line("ret i32 0")
    return w.text


def _give() -> str:
    """A result that is a list. c: 2 where the state is, 3 the list, 4 which result it is."""
    w = Writer("i32", "list_give", PARAMETERS)
    plan, _ = _state(w)
    x, results = array(w, 3), w.load(w.at("%P", word(w, 2)), RESULTS, "ptr")
    held, length = w.load(x, LIST, "ptr"), w.load(x, LENGTH)
    found = w.variable("ptr", held)
    is_whole = _is_whole(w, x, held, length)
    with w.when(is_whole):
        w.call("void", python(w, plan, "Py_IncRef"), f"ptr {held}")
    with w.when(w.value(f"xor i1 {is_whole}, true")):
        copy = w.call("ptr", python(w, plan, "PyList_GetSlice"), f"ptr {held}", "i64 0", f"i64 {length}")
        _raise_unless(w, f"icmp ne ptr {copy}, null")
        w.line(f"store ptr {copy}, ptr {found}")
    w.store(w.value(f"load ptr, ptr {found}"), w.at(results, ITEMS, "i8"), word(w, 4), "ptr")
    w.line("ret i32 0")
    return w.text


def list_steps() -> dict[str, str]:
    """All functions, by name."""
    return {
        "list_new": _new(), "list_given": _given(), "list_append": _append(), "list_take": _take(),
        "list_shorten": _shorten(), "list_reverse": _reverse(), "list_give": _give(),
    }  # fmt: skip


__all__ = ["LENGTH", "list_steps"]

"""What programs with sizes that only the run knows are made of besides calls of compiled parts, in LLVM IR.

Values of a run lie in slots: an array as C has it, and behind it the memory that it owns, or null for memory of the
caller. Memory begins with a head: how many slots share it, whether it holds a list, and how many items. Instructions
are words: a function, how many words there are, and its own. A function gives 0, the place of the next instruction, or
the code of an error below 0.
"""

from __future__ import annotations

from collections.abc import Callable

from ..emit import FLOAT32, FLOAT64, Dtype, memory_type
from .abi import (
    ARRAY_BYTES,
    ARRAY_DTYPE,
    ARRAY_NDIM,
    ARRAY_SHAPE,
    ARRAY_SIZE,
    DTYPES,
    MEMORY,
    MOST_DIMS,
    VALUE,
    WRONG_SHAPE,
)
from .driver import SLOT
from .interface import EACH, ITEM, OUTPUTS, Function, Strings, times_double

_OWNER = ARRAY_SIZE // 8
# The head of memory: who shares it, whether it is a list, how many items; then the elements, or slots.
_SHARED, _IS_LIST, _ITEMS, _HEAD = 0, 1, 2, 64
_LARGEST = float(1 << 46)
_INT64 = DTYPES.index("int64")
_STEP = ("ptr %f", "ptr %c")


class _Instruction(Function):
    """A function of an instruction: %f are the slots, %c its words."""

    def __init__(self, strings: Strings, name: str) -> None:
        super().__init__(strings, "i64", f"drive.{name}", _STEP)

    def word(self, index: int) -> str:
        """One of its words."""
        return self.load("%c", index)

    def slot(self, index: int) -> str:
        """The slot that a word names."""
        return slot_at(self, "%f", self.word(index))

    def end(self) -> str:
        """The text, with the next instruction to follow."""
        self.line("ret i64 0")
        return self.text

    def made(self, slot: str, dtype: object, ndim: object, shape: str, item: object) -> None:
        """Give a slot an array of its own."""
        ok = self.call("i1", "@drive.make", f"ptr {slot}", f"i64 {dtype}", f"i64 {ndim}", f"ptr {shape}", f"i64 {item}")
        with self.when(self.value(f"xor i1 {ok}, true")):
            self.leave(f"i64 {-MEMORY}")

    def list_in(self, slot: str, count: object) -> str:
        """Give a slot a list of empty slots; the first of them."""
        items = self.call("ptr", "@drive.list", f"ptr {slot}", f"i64 {count}")
        with self.when(self.value(f"icmp eq ptr {items}, null")):
            self.leave(f"i64 {-MEMORY}")
        return items


def slot_at(w: Function, base: str, index: object) -> str:
    """The address of a slot."""
    return w.at(base, w.times(index, SLOT), "i8")


def copied(w: Function, to: str, source: str) -> None:
    """Let two slots share what one holds."""
    w.call("void", "@drive.copy", f"ptr {to}", f"ptr {source}")


def _shape(w: Function, slot: str) -> str:
    return w.at(slot, ARRAY_SHAPE, "i8")


def _data(w: Function, slot: str) -> str:
    return w.load(slot, 0, "ptr")


def _memcpy(w: Function, to: str, source: str, size: object) -> None:
    w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {to}", f"ptr {source}", f"i64 {size}", "i1 0")


def _clear(w: Function, place: str, size: object) -> None:
    w.call("void", "@llvm.memset.p0.i64", f"ptr {place}", "i8 0", f"i64 {size}", "i1 0")


def _product(w: Function, shape: str, first: object, last: object) -> str:
    """The product of sizes."""
    total = w.variable("i64", 1)
    with w.loop(last, first) as d:
        w.line(f"store i64 {w.times(w.value(f'load i64, ptr {total}'), w.load(shape, d))}, ptr {total}")
    return w.value(f"load i64, ptr {total}")


def _bump(w: Function, variable: str, by: object = 1) -> str:
    """Add to a variable; what it was before."""
    before = w.value(f"load i64, ptr {variable}")
    w.line(f"store i64 {w.add(before, by)}, ptr {variable}")
    return before


# -- memory ------------------------------------------------------------------------------------------------------------


def _release(strings: Strings) -> str:
    w = Function(strings, "void", "drive.release", ("ptr %slot",))
    owner = w.load("%slot", _OWNER, "ptr")
    with w.when(w.value(f"icmp eq ptr {owner}, null")):
        w.leave("void")
    w.store("null", "%slot", _OWNER, "ptr")
    left = w.add(w.load(owner, _SHARED), -1)
    w.store(left, owner, _SHARED)
    with w.when(w.value(f"icmp sgt i64 {left}, 0")):
        w.leave("void")
    with w.when(w.value(f"icmp ne i64 {w.load(owner, _IS_LIST)}, 0")):
        items = w.at(owner, _HEAD, "i8")
        with w.loop(w.load(owner, _ITEMS)) as i:
            w.call("void", "@drive.release", f"ptr {slot_at(w, items, i)}")
    w.call("void", "@free", f"ptr {owner}")
    w.line("ret void")
    return w.text


def _copy(strings: Strings) -> str:
    w = Function(strings, "void", "drive.copy", ("ptr %to", "ptr %from"))
    kept = w.space(f"[{SLOT} x i8]")
    owner = w.load("%from", _OWNER, "ptr")
    with w.when(w.value(f"icmp ne ptr {owner}, null")):
        w.store(w.add(w.load(owner, _SHARED), 1), owner, _SHARED)
    _memcpy(w, kept, "%from", SLOT)
    w.call("void", "@drive.release", "ptr %to")
    _memcpy(w, "%to", kept, SLOT)
    w.line("ret void")
    return w.text


def _check_bytes(w: Function, most: str) -> None:
    fits = w.value(f"fcmp olt double {most}, {_LARGEST}")
    w.need(fits, MEMORY, "sizes are too large: %.0f bytes", f"double {most}")


def _allocated(w: Function, size: str) -> str:
    """Memory with its head, of which so many bytes are asked for; null after an error."""
    most = w.value(f"sitofp i64 {size} to double")
    _check_bytes(w, most)
    total = w.rounded_up(w.add(size, _HEAD), 64)
    found = w.call("ptr", "@aligned_alloc", "i64 64", f"i64 {total}")
    w.need(w.value(f"icmp ne ptr {found}, null"), MEMORY, "there is no memory for %lld bytes", f"i64 {total}")
    w.store(1, found, _SHARED)
    return found


def _make(strings: Strings) -> str:
    w = Function(strings, "i1", "drive.make",
                 ("ptr %slot", "i64 %dtype", "i64 %ndim", "ptr %shape", "i64 %item"))  # fmt: skip
    size = w.variable("double", "1.0")
    with w.loop("%ndim") as d:
        w.line(f"store double {times_double(w, w.value(f'load double, ptr {size}'), w.load('%shape', d))}, ptr {size}")
    most = times_double(w, w.value(f"load double, ptr {size}"), "%item")
    _check_bytes(w, most)
    count = w.times(_product(w, "%shape", 0, "%ndim"), "%item")
    memory = _allocated(w, count)
    w.store(0, memory, _IS_LIST)
    w.call("void", "@drive.release", "ptr %slot")
    w.store(w.at(memory, _HEAD, "i8"), "%slot", 0, "ptr")
    w.store(count, w.at("%slot", ARRAY_BYTES, "i8"))
    w.set_field("%dtype", "%slot", ARRAY_DTYPE)
    w.set_field("%ndim", "%slot", ARRAY_NDIM)
    _memcpy(w, _shape(w, "%slot"), "%shape", w.times("%ndim", 8))
    w.store(memory, "%slot", _OWNER, "ptr")
    w.line("ret i1 true")
    return w.text


def _list(strings: Strings) -> str:
    w = Function(strings, "ptr", "drive.list", ("ptr %slot", "i64 %count"))
    size = w.times("%count", SLOT)
    memory = _allocated(w, size)
    w.store(1, memory, _IS_LIST)
    w.store("%count", memory, _ITEMS)
    items = w.at(memory, _HEAD, "i8")
    _clear(w, items, size)
    w.call("void", "@drive.release", "ptr %slot")
    w.store(memory, "%slot", _OWNER, "ptr")
    w.line(f"ret ptr {items}")
    return w.text


# -- calls and jumps ---------------------------------------------------------------------------------------------------


def _call(strings: Strings) -> str:
    """c: 2 the model, 3 how many inputs, 4 outputs, 5 where there is room for arrays, 6 where to go on if it
    is not made for their sizes, or -1; 7... the slots of both.
    """
    w = _Instruction(strings, "call")
    model, n_in, n_out = w.load("%c", 2, "ptr"), w.word(3), w.word(4)
    ins = w.at("%f", w.word(5), "i8")
    with w.loop(n_in) as i:
        _memcpy(w, w.at(ins, w.times(i, ARRAY_SIZE), "i8"), slot_at(w, "%f", w.load("%c", w.add(i, 7))), ARRAY_SIZE)
    outs = w.at(ins, w.times(n_in, ARRAY_SIZE), "i8")
    made = w.at(outs, w.times(n_out, ARRAY_SIZE), "i8")
    _clear(w, outs, w.times(n_out, ARRAY_SIZE + SLOT))
    given = (f"ptr {model}", f"ptr {ins}", f"i64 {n_in}", f"ptr {outs}", f"i64 {n_out}")
    code = w.variable("i32", w.call("i32", "@vitrify.run", *given, "i1 true"))
    is_other = w.value(f"icmp eq i32 {w.value(f'load i32, ptr {code}')}, {WRONG_SHAPE}")
    with w.when(w.value(f"and i1 {is_other}, {w.value(f'icmp sge i64 {w.word(6)}, 0')}")):
        w.store(0, w.error(), 0, "i8", 1)
        other = w.word(6)
        w.leave(f"i64 {other}")
    specs = w.load(model, OUTPUTS, "ptr")
    with w.loop(n_out) as i:
        out, own = w.at(outs, w.times(i, ARRAY_SIZE), "i8"), slot_at(w, made, i)
        is_well = w.value(f"icmp eq i32 {w.value(f'load i32, ptr {code}')}, 0")
        with w.when(is_well):
            item = w.load(specs, w.add(w.times(i, EACH), ITEM))
            dtype, ndim = w.field(out, ARRAY_DTYPE, "i32"), w.field(out, ARRAY_NDIM, "i32")
            ok = w.call("i1", "@drive.make", f"ptr {own}", f"i64 {dtype}", f"i64 {ndim}", f"ptr {_shape(w, out)}",
                        f"i64 {item}")  # fmt: skip
            w.line(f"store i32 {w.value(f'select i1 {ok}, i32 0, i32 {MEMORY}')}, ptr {code}")
            _memcpy(w, out, own, 16)
    with w.when(w.value(f"icmp eq i32 {w.value(f'load i32, ptr {code}')}, 0")):
        w.line(f"store i32 {w.call('i32', '@vitrify.run', *given, 'i1 false')}, ptr {code}")
    ended = w.value(f"load i32, ptr {code}")
    with w.loop(n_out) as i:
        own = slot_at(w, made, i)
        with w.when(w.value(f"icmp eq i32 {ended}, 0")):
            copied(w, slot_at(w, "%f", w.load("%c", w.add(w.add(i, 7), n_in))), own)
        w.call("void", "@drive.release", f"ptr {own}")
    wide = w.value(f"sext i32 {ended} to i64")
    w.line(f"ret i64 {w.value(f'sub i64 0, {wide}')}")
    return w.text


def _jump(strings: Strings) -> str:
    """c: 2 to where."""
    w = _Instruction(strings, "jump")
    w.line(f"ret i64 {w.word(2)}")
    return w.text


def _jump_unless(strings: Strings) -> str:
    """c: 2 to where, 3 unless this is true."""
    w = _Instruction(strings, "jump_unless")
    holds = w.value(f"icmp ne i8 {w.load(_data(w, w.slot(3)), 0, 'i8', 1)}, 0")
    w.line(f"ret i64 {w.value(f'select i1 {holds}, i64 0, i64 {w.word(2)}')}")
    return w.text


def _jump_from(strings: Strings) -> str:
    """c: 2 to where, unless the integer of 3 is less than that of 4."""
    w = _Instruction(strings, "jump_from")
    x, y = (w.load(_data(w, w.slot(i))) for i in (3, 4))
    is_less = w.value(f"icmp slt i64 {x}, {y}")
    w.line(f"ret i64 {w.value(f'select i1 {is_less}, i64 0, i64 {w.word(2)}')}")
    return w.text


def _move(strings: Strings) -> str:
    """c: 2 to, 3 from."""
    w = _Instruction(strings, "move")
    copied(w, w.slot(2), w.slot(3))
    return w.end()


def _drop(strings: Strings) -> str:
    """c: 2 the slot that nobody needs any more."""
    w = _Instruction(strings, "drop")
    w.call("void", "@drive.release", f"ptr {w.slot(2)}")
    return w.end()


def _sum(w: _Instruction, at: int) -> str:
    """The integer in the slot of a word (0 where that is -1) and the number in the next word."""
    found = w.variable("i64", w.word(at + 1))
    with w.when(w.value(f"icmp sge i64 {w.word(at)}, 0")):
        _bump(w, found, w.load(_data(w, w.slot(at))))
    return w.value(f"load i64, ptr {found}")


def _plus(strings: Strings) -> str:
    """c: 2 to, the integer of 3 (0 where that is -1) plus 4."""
    w = _Instruction(strings, "plus")
    found = _sum(w, 3)
    w.made(w.slot(2), _INT64, 0, _shape(w, w.slot(2)), 8)
    w.store(found, _data(w, w.slot(2)))
    return w.end()


# -- lists -------------------------------------------------------------------------------------------------------------


def _count_of(w: Function, slot: str) -> tuple[str, str]:
    """How many items a list has, and the first."""
    owner = w.load(slot, _OWNER, "ptr")
    return w.load(owner, _ITEMS), w.at(owner, _HEAD, "i8")


def _list_of(strings: Strings) -> str:
    """c: 2 to, 3 how many parts, 4... for each its slot, and whether it is a list whose items are to be taken."""
    w = _Instruction(strings, "list_of")
    total = w.variable("i64", 0)
    with w.loop(w.word(3)) as p:
        part = w.at("%c", w.add(w.times(p, 2), 4))
        with w.when(w.value(f"icmp eq i64 {w.load(part, 1)}, 0")):
            _bump(w, total)
        with w.when(w.value(f"icmp ne i64 {w.load(part, 1)}, 0")):
            _bump(w, total, _count_of(w, slot_at(w, "%f", w.load(part)))[0])
    kept = w.space(f"[{SLOT} x i8]")
    _clear(w, kept, SLOT)
    items, at = w.list_in(kept, w.value(f"load i64, ptr {total}")), w.variable("i64", 0)
    with w.loop(w.word(3)) as p:
        part = w.at("%c", w.add(w.times(p, 2), 4))
        source = slot_at(w, "%f", w.load(part))
        with w.when(w.value(f"icmp eq i64 {w.load(part, 1)}, 0")):
            copied(w, slot_at(w, items, _bump(w, at)), source)
        with w.when(w.value(f"icmp ne i64 {w.load(part, 1)}, 0")):
            count, first = _count_of(w, source)
            with w.loop(count) as i:
                copied(w, slot_at(w, items, _bump(w, at)), slot_at(w, first, i))
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


def _list_len(strings: Strings) -> str:
    """c: 2 to, 3 the list."""
    w = _Instruction(strings, "list_len")
    count, _ = _count_of(w, w.slot(3))
    w.made(w.slot(2), _INT64, 0, _shape(w, w.slot(2)), 8)
    w.store(count, _data(w, w.slot(2)))
    return w.end()


def _list_get(strings: Strings) -> str:
    """c: 2 to, 3 the list, 4 the slot of the index, or -1, 5 what to add to it."""
    w = _Instruction(strings, "list_get")
    index = _sum(w, 4)
    count, items = _count_of(w, w.slot(3))
    place = w.add(index, w.value(f"select i1 {w.value(f'icmp slt i64 {index}, 0')}, i64 {count}, i64 0"))
    w.need(w.value(f"icmp ult i64 {place}, {count}"), VALUE, "list index out of range: %lld in a list of %lld "
           "items", f"i64 {index}", f"i64 {count}")  # fmt: skip
    copied(w, w.slot(2), slot_at(w, items, place))
    return w.end()


def _list_slice(strings: Strings) -> str:
    """c: 2 to, 3 the list, 4 5 6 where it begins, where it ends, and the step; 7 8 whether the first two are given."""
    w = _Instruction(strings, "list_slice")
    count, items = _count_of(w, w.slot(3))
    step = w.word(6)
    is_back = w.value(f"icmp slt i64 {step}, 0")
    last = w.add(count, -1)
    low, high = (w.value(f"select i1 {is_back}, i64 {a}, i64 {b}") for a, b in (("-1", "0"), (last, count)))
    ends = []
    for at, default in ((4, (last, "0")), (5, ("-1", count))):
        given = w.word(at)
        wrapped = w.add(given, w.value(f"select i1 {w.value(f'icmp slt i64 {given}, 0')}, i64 {count}, i64 0"))
        above = w.value(f"select i1 {w.value(f'icmp slt i64 {wrapped}, {low}')}, i64 {low}, i64 {wrapped}")
        none = w.value(f"select i1 {is_back}, i64 {default[0]}, i64 {default[1]}")
        is_given = w.value(f"icmp ne i64 {w.word(at + 3)}, 0")
        ends.append(w.value(f"select i1 {is_given}, i64 {w.least(above, high)}, i64 {none}"))
    span = w.value(f"sub i64 {ends[1]}, {ends[0]}")
    toward = w.value(f"select i1 {is_back}, i64 1, i64 -1")
    steps = w.value(f"sdiv i64 {w.add(w.add(span, toward), step)}, {step}")
    total = w.value(f"select i1 {w.value(f'icmp slt i64 {steps}, 0')}, i64 0, i64 {steps}")
    kept = w.space(f"[{SLOT} x i8]")
    _clear(w, kept, SLOT)
    made = w.list_in(kept, total)
    with w.loop(total) as i:
        copied(w, slot_at(w, made, i), slot_at(w, items, w.add(ends[0], w.times(i, step))))
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


def _list_join(strings: Strings) -> str:
    """The items of a list side by side, along a new dimension or one that they have.

    c: 2 to, 3 the list, 4 the dimension, 5 whether it is a new one, 6 bytes of an element.
    """
    w = _Instruction(strings, "list_join")
    count, items = _count_of(w, w.slot(3))
    axis, is_new = w.word(4), w.value(f"icmp ne i64 {w.word(5)}, 0")
    w.need(w.value(f"icmp sgt i64 {count}, 0"), WRONG_SHAPE, "a list to be joined is empty")
    shape, own = w.space(f"[{MOST_DIMS + 1} x i64]"), _shape(w, items)
    ndim, dtype = w.field(items, ARRAY_NDIM, "i32"), w.field(items, ARRAY_DTYPE, "i32")
    _memcpy(w, shape, own, w.times(axis, 8))
    more = w.value(f"select i1 {is_new}, i64 1, i64 0")
    total, along = w.variable("i64", 0), w.value(f"sub i64 1, {more}")
    with w.loop(ndim, axis) as d:
        w.store(w.load(own, d), shape, w.add(d, more))
    with w.loop(count) as i:
        sizes = _shape(w, slot_at(w, items, i))
        one = w.value(f"select i1 {is_new}, i64 1, i64 {w.load(sizes, axis)}")
        _bump(w, total, one)
        with w.loop(ndim) as d:
            is_alike = w.value(f"icmp eq i64 {w.load(sizes, d)}, {w.load(own, d)}")
            is_axis = w.value(f"icmp eq i64 {d}, {axis}")
            is_free = w.value(f"and i1 {is_axis}, {w.value(f'xor i1 {is_new}, true')}")
            w.need(w.value(f"or i1 {is_alike}, {is_free}"), WRONG_SHAPE, "items of a list to be joined differ in shape")
    w.store(w.value(f"load i64, ptr {total}"), shape, axis)
    outer, inner = _product(w, own, 0, axis), _product(w, own, w.add(axis, along), ndim)
    kept, item = w.space(f"[{SLOT} x i8]"), w.word(6)
    _clear(w, kept, SLOT)
    w.made(kept, dtype, w.add(ndim, more), shape, item)
    place, row = w.variable("i64", 0), w.times(inner, item)
    with w.loop(outer) as o, w.loop(count) as i:
        source = slot_at(w, items, i)
        one = w.value(f"select i1 {is_new}, i64 1, i64 {w.load(_shape(w, source), axis)}")
        size = w.times(one, row)
        to, at = w.at(_data(w, kept), _bump(w, place, size), "i8"), w.times(o, size)
        _memcpy(w, to, w.at(_data(w, source), at, "i8"), size)
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


# -- results whose size depends on values ------------------------------------------------------------------------------


def _nonzero(strings: Strings) -> str:
    """c: 2 to, int64[count, dimensions], 3 from, of bool."""
    w = _Instruction(strings, "nonzero")
    source, shape = w.slot(3), w.space("[2 x i64]")
    ndim, data = w.field(source, ARRAY_NDIM, "i32"), _data(w, source)
    size, count = _product(w, _shape(w, source), 0, ndim), w.variable("i64", 0)
    with w.loop(size) as i:
        is_set = w.value(f"icmp ne i8 {w.load(data, i, 'i8', 1)}, 0")
        _bump(w, count, w.value(f"zext i1 {is_set} to i64"))
    w.store(w.value(f"load i64, ptr {count}"), shape)
    w.store(ndim, shape, 1)
    kept = w.space(f"[{SLOT} x i8]")
    _clear(w, kept, SLOT)
    w.made(kept, _INT64, 2, shape, 8)
    to = w.variable("ptr", _data(w, kept))
    with w.loop(size) as i, w.when(w.value(f"icmp ne i8 {w.load(data, i, 'i8', 1)}, 0")):
        rest, row = w.variable("i64", i), w.value(f"load ptr, ptr {to}")
        with w.loop(ndim) as back:
            d = w.value(f"sub i64 {w.add(ndim, -1)}, {back}")
            dim, left = w.load(_shape(w, source), d), w.value(f"load i64, ptr {rest}")
            w.store(w.value(f"urem i64 {left}, {dim}"), row, d)
            w.line(f"store i64 {w.value(f'udiv i64 {left}, {dim}')}, ptr {rest}")
        w.line(f"store ptr {w.at(row, ndim)}, ptr {to}")
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


def _bincount(strings: Strings) -> str:
    """c: 2 to, 3 from, both of int64, 4 the least length."""
    w = _Instruction(strings, "bincount")
    source, length, shape = w.slot(3), w.variable("i64", w.word(4)), w.space("[1 x i64]")
    size, data = w.load(_shape(w, source)), _data(w, source)
    with w.loop(size) as i:
        x = w.load(data, i)
        w.need(w.value(f"icmp sge i64 {x}, 0"), VALUE, "bincount: x must not hold negative numbers, got %lld",
               f"i64 {x}")  # fmt: skip
        with w.when(w.value(f"icmp sge i64 {x}, {w.value(f'load i64, ptr {length}')}")):
            w.line(f"store i64 {w.add(x, 1)}, ptr {length}")
    total = w.value(f"load i64, ptr {length}")
    w.store(total, shape)
    kept = w.space(f"[{SLOT} x i8]")
    _clear(w, kept, SLOT)
    w.made(kept, _INT64, 1, shape, 8)
    counts = _data(w, kept)
    _clear(w, counts, w.times(total, 8))
    with w.loop(size) as i:
        x = w.load(data, i)
        w.store(w.add(w.load(counts, x), 1), counts, x)
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


def _overlap(w: Function, type: str, a: str, b: str) -> str:
    """Intersection over union of two boxes, in the order in which the eager kernel computes it."""
    size = 4 if type == "float" else 8
    x, y = ([w.load(box, i, type, size) for i in range(4)] for box in (a, b))
    suffix = "f32" if type == "float" else "f64"
    sides, hit = [], []
    for d in (0, 1):
        low = w.call(type, f"@llvm.maximum.{suffix}", f"{type} {x[d]}", f"{type} {y[d]}")
        high = w.call(type, f"@llvm.minimum.{suffix}", f"{type} {x[d + 2]}", f"{type} {y[d + 2]}")
        sides.append(w.value(f"fsub {type} {high}, {low}"))
        hit.append(w.value(f"fcmp oge {type} {high}, {low}"))
    both = w.value(f"fmul {type} {sides[0]}, {sides[1]}")
    both = w.value(f"select i1 {w.value(f'and i1 {hit[0]}, {hit[1]}')}, {type} {both}, {type} 0.0")
    areas = []
    for box in (x, y):
        width, height = (w.value(f"fsub {type} {box[d + 2]}, {box[d]}") for d in (0, 1))
        areas.append(w.value(f"fmul {type} {width}, {height}"))
    whole = w.value(f"fsub {type} {w.value(f'fadd {type} {areas[0]}, {areas[1]}')}, {both}")
    return w.value(f"fdiv {type} {both}, {whole}")


def _nms(strings: Strings, dtype: Dtype) -> str:
    """c: 2 to, 3 boxes, best first, 4 the slot of their groups, or -1, 5 the threshold, 6 how many at most."""
    type = memory_type(dtype)
    w = _Instruction(strings, f"nms_{type}")
    source, shape, kept = w.slot(3), w.space("[1 x i64]"), w.space(f"[{SLOT} x i8]")
    count, data = w.load(_shape(w, source)), _data(w, source)
    groups = w.variable("ptr", "null")
    with w.when(w.value(f"icmp sge i64 {w.word(4)}, 0")):
        w.line(f"store ptr {_data(w, w.slot(4))}, ptr {groups}")
    group, limit = w.value(f"load ptr, ptr {groups}"), w.least(w.word(6), count)
    wide = w.value(f"bitcast i64 {w.word(5)} to double")
    threshold = wide if type == "double" else w.value(f"fptrunc double {wide} to float")
    _clear(w, kept, SLOT)
    w.store(count, shape)
    w.made(kept, _INT64, 1, shape, 8)
    places, found = _data(w, kept), w.variable("i64", 0)
    with w.loop(count) as i:
        box, stays = w.at(data, w.times(i, 4), type), w.variable("i1", "true")
        with w.loop(w.value(f"load i64, ptr {found}")) as k:
            other = w.load(places, k)
            share = _overlap(w, type, w.at(data, w.times(other, 4), type), box)
            over = w.value(f"fcmp ogt {type} {share}, {threshold}")
            alike = w.variable("i1", "true")
            with w.when(w.value(f"icmp ne ptr {group}, null")):
                w.line(f"store i1 {w.value(f'icmp eq i64 {w.load(group, i)}, {w.load(group, other)}')}, ptr {alike}")
            with w.when(w.value(f"and i1 {over}, {w.value(f'load i1, ptr {alike}')}")):
                w.line(f"store i1 false, ptr {stays}")
        with w.when(w.value(f"load i1, ptr {stays}")):
            w.store(i, places, _bump(w, found))
    total = w.least(w.value(f"load i64, ptr {found}"), limit)
    w.store(total, _shape(w, kept))
    w.store(w.times(total, 8), w.at(kept, ARRAY_BYTES, "i8"))
    copied(w, w.slot(2), kept)
    w.call("void", "@drive.release", f"ptr {kept}")
    return w.end()


_FUNCTIONS: tuple[Callable[[Strings], str], ...] = (
    _release, _copy, _make, _list, _call, _jump, _jump_unless, _jump_from, _move, _drop, _plus, _list_of, _list_len,
    _list_get, _list_slice, _list_join, _nonzero, _bincount,
)  # fmt: skip


def driver_ir(strings: Strings) -> list[str]:
    """All of these functions."""
    declared = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n" + "\n".join(
        f"declare {type} @llvm.{name}.{suffix}({type}, {type})"
        for type, suffix in (("float", "f32"), ("double", "f64"))
        for name in ("maximum", "minimum")
    )
    return [declared, *[f(strings) for f in _FUNCTIONS], *[_nms(strings, d) for d in (FLOAT32, FLOAT64)]]


__all__ = ["copied", "driver_ir", "slot_at"]

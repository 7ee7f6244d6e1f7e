"""The C functions of a compiled program, and what they have in common, in LLVM IR: no C compiler is needed for them.

A model is a table of words (`Model`). `run` asks whether the arrays are those that the program takes, finds the sizes
that were left open, fills in a copy of the program's words, computes the addresses of all arrays, and runs the steps.
The memory for that is kept for the next run; two runs at once have memory of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..steps import PARAMETERS, REFUSED, array, word
from ..writer import Writer
from .abi import (
    ARGUMENT,
    ARRAY_BYTES,
    ARRAY_DTYPE,
    ARRAY_NDIM,
    ARRAY_SHAPE,
    ARRAY_SIZE,
    DTYPES,
    MEMORY,
    RAISED,
    ROOM,
    VALUE,
    WRONG_DTYPE,
    WRONG_SHAPE,
)

(
    N_INPUTS, N_OUTPUTS, INPUTS, OUTPUTS, N_SIZES, N_POWERS, POWERS, N_WORDS, WORDS, N_PATCHES, PATCHES, N_PLACES,
    PLACES, N_GROUPS, GROUPS, DERIVED, N_DERIVED, CODE, END, DATA, KEPT, BOUND, FIXED, SIZED, N_FLOATS, FLOATS,
    RANGES, DRIVE, SLOTS, FRAME, RESULTS, N_QUOTIENTS, QUOTIENTS, HEAD_WORDS,
) = range(34)  # fmt: skip
# What a model says of an input or output: where its name is, its dtype, bytes of an element, dimensions, and where they
# are; of an output where its sizes lie among the words; and where its shape is, -1 for what is left open.
NAME, DTYPE, ITEM, NDIM, DIMS, AT, SHOWN, EACH = range(8)
# A block of memory: its bytes, whether its words are filled in, the sizes that they are for; behind it the words.
CAPACITY, READY, SIZES, BLOCK_HEAD = 0, 1, 2, 8
ERROR_BYTES = 512
# A dimension below 0 is -1 minus the number of an open size, from these bits on how many times it is that, and from
# those above on what is added.
SIZE_BITS, TIMES_BITS = 4, 20
MOST_TIMES = (1 << TIMES_BITS) - 1
# So many powers of sizes there are at most, for which a run has room twice, and so many sizes, quotients included.
MOST_POWERS, MOST_SIZES = 256, 64
# Beyond so many bytes sizes are an error, not a question to the system.
_LARGEST = float(1 << 46)


@dataclass
class Strings:
    """Texts as constants of a module."""

    found: dict[str, str] = field(default_factory=dict)

    def at(self, text: str) -> str:
        """The name of the constant."""
        return self.found.setdefault(text, f"@text{len(self.found)}")

    @property
    def ir(self) -> str:
        """The constants."""
        return "\n".join(constant_text(name, text) for text, name in self.found.items())


def constant_text(name: str, text: str) -> str:
    """A text, ended by 0, as a constant."""
    content = text.encode() + b"\0"
    escaped = "".join(f"\\{b:02x}" for b in content)
    return f'{name} = internal constant [{len(content)} x i8] c"{escaped}"'


class Function(Writer):
    """One of these functions, with words for errors."""

    def __init__(self, strings: Strings, returns: str, name: str, parameters: Sequence[str]) -> None:
        super().__init__(f"internal {returns}", name, parameters)
        self._strings = strings
        self._returns = returns

    def fail(self, code: int, text: str, *values: str) -> None:
        """Leave with an error; the values are what the text's %s and %lld stand for."""
        given = "".join(f", {v}" for v in values)
        self.value(
            f"call i32 (ptr, i64, ptr, ...) @snprintf(ptr {self.error()}, i64 {ERROR_BYTES}, ptr "
            f"{self._strings.at(text)}{given})"
        )
        self.leave({"ptr": "ptr null", "i1": "i1 false", "i64": f"i64 {-code}"}.get(self._returns, f"i32 {code}"))

    def error(self) -> str:
        """The address of this thread's text."""
        return self.value("call ptr @llvm.threadlocal.address.p0(ptr @error)")

    def field(self, pointer: str, offset: int, type: str = "i64") -> str:
        """A field of an array."""
        found = self.load(self.at(pointer, offset, "i8"), 0, type, 4 if type == "i32" else 8)
        return self.value(f"sext i32 {found} to i64") if type == "i32" else found

    def set_field(self, value: str, pointer: str, offset: int) -> None:
        """Write a field of 32 bits."""
        short = self.value(f"trunc i64 {value} to i32")
        self.store(short, self.at(pointer, offset, "i8"), 0, "i32", 4)

    def need(self, condition: str, code: int, text: str, *values: str) -> None:
        """Fail unless the condition holds."""
        with self.when(self.value(f"xor i1 {condition}, true")):
            self.fail(code, text, *values)


def _dtype_name(w: Writer, code: str) -> str:
    known = w.value(f"icmp ult i64 {code}, {len(DTYPES)}")
    place = w.value(f"select i1 {known}, i64 {code}, i64 {len(DTYPES)}")
    return w.load("@dtype.names", place, "ptr")


def _check(strings: Strings) -> str:
    """Whether the inputs are those of the model, and what the sizes left open are."""
    w = Function(strings, "i32", "vitrify.check", ("ptr %model", "ptr %inputs", "i64 %count", "ptr %sizes", "i1 %asks"))
    wanted = w.load("%model", N_INPUTS)
    w.need(
        w.value(f"icmp eq i64 %count, {wanted}"), ARGUMENT, "takes %lld inputs, got %lld", f"i64 {wanted}", "i64 %count"
    )
    is_none = w.value(f"icmp eq i64 {wanted}, 0")
    is_given = w.value("icmp ne ptr %inputs, null")
    w.need(w.value(f"or i1 {is_none}, {is_given}"), ARGUMENT, "inputs is NULL")
    with w.loop(w.load("%model", N_SIZES)) as s:
        w.store(-1, "%sizes", s)
    specs = w.load("%model", INPUTS, "ptr")
    with w.loop("%count") as i:
        spec = w.at(specs, w.times(i, EACH))
        array = w.at("%inputs", w.times(i, ARRAY_SIZE), "i8")
        name = f"ptr {w.load(spec, NAME, 'ptr')}"
        dtype, expected = w.field(array, ARRAY_DTYPE, "i32"), w.load(spec, DTYPE)
        with w.when(w.value(f"icmp ne i64 {dtype}, {expected}")):
            names = [f"ptr {_dtype_name(w, code)}" for code in (expected, dtype)]
            w.fail(WRONG_DTYPE, "input %s: dtype must be %s, got %s", name, *names)
        ndim, dims = w.load(spec, NDIM), w.load(spec, DIMS, "ptr")
        found = w.field(array, ARRAY_NDIM, "i32")
        w.need(w.value(f"icmp eq i64 {found}, {ndim}"), WRONG_SHAPE, "input %s: must have %lld dimensions, got %lld",
               name, f"i64 {ndim}", f"i64 {found}")  # fmt: skip
        size = w.variable("double", "1.0")
        with w.loop(ndim) as d:
            dim, given = w.load(dims, d), w.load(w.at(array, ARRAY_SHAPE, "i8"), d)
            _check_size(w, name, d, dim, given)
            w.line(f"store double {times_double(w, w.value(f'load double, ptr {size}'), given)}, ptr {size}")
        with w.when(w.value("xor i1 %asks, true")):
            total = times_double(w, w.value(f"load double, ptr {size}"), w.load(spec, ITEM))
            has = w.value(f"sitofp i64 {w.field(array, ARRAY_BYTES)} to double")
            w.need(w.value(f"fcmp oge double {has}, {total}"), ROOM, "input %s: its elements take %.0f bytes, has %lld",
                   name, f"double {total}", f"i64 {w.field(array, ARRAY_BYTES)}")  # fmt: skip
            is_there = w.value(f"icmp ne ptr {w.load(array, 0, 'ptr')}, null")
            is_empty = w.value(f"fcmp oeq double {total}, 0.0")
            w.need(w.value(f"or i1 {is_there}, {is_empty}"), ARGUMENT, "input %s: data is NULL", name)
    w.line("ret i32 0")
    return w.text


def times_double(w: Writer, x: str, y: str) -> str:
    return w.value(f"fmul double {x}, {w.value(f'sitofp i64 {y} to double')}")


def _check_size(w: Function, name: str, d: str, dim: str, given: str) -> None:
    """One dimension of an input: a number, or one of the sizes left open (-1, -2, ...)."""
    is_open = w.value(f"icmp slt i64 {dim}, 0")
    with w.when(is_open):
        code = w.value(f"sub i64 -1, {dim}")
        number = w.value(f"and i64 {code}, {(1 << SIZE_BITS) - 1}")
        above = w.value(f"ashr i64 {code}, {SIZE_BITS}")
        times, more = w.value(f"and i64 {above}, {MOST_TIMES}"), w.value(f"ashr i64 {above}, {TIMES_BITS}")
        range = w.at(w.load("%model", RANGES, "ptr"), w.times(number, 3))
        step, whole = w.times(w.load(range, 2), times), w.value(f"sub i64 {given}, {more}")
        is_multiple = w.value(f"icmp eq i64 {w.value(f'srem i64 {whole}, {step}')}, 0")
        w.need(is_multiple, WRONG_SHAPE, "input %s: dimension %lld must be a multiple of %lld, got %lld", name,
               f"i64 {d}", f"i64 {step}", f"i64 {given}")  # fmt: skip
        place, size = w.at("%sizes", number), w.value(f"sdiv i64 {whole}, {step}")
        for at, relation, word in ((0, "sge", "least"), (1, "sle", "most")):
            bound = w.load(range, at)
            w.need(w.value(f"icmp {relation} i64 {size}, {bound}"), WRONG_SHAPE,
                   f"input %s: dimension %lld must be at {word} %lld, got %lld", name, f"i64 {d}",
                   f"i64 {w.add(w.times(bound, step), more)}", f"i64 {given}")  # fmt: skip
        with w.when(w.value(f"icmp slt i64 {w.load(place)}, 0")):
            w.store(size, place)
        known = w.load(place)
        w.need(w.value(f"icmp eq i64 {known}, {size}"), WRONG_SHAPE,
               "input %s: dimension %lld must be %lld, as in the arrays before, got %lld", name, f"i64 {d}",
               f"i64 {w.add(w.times(known, step), more)}", f"i64 {given}")  # fmt: skip
    fits = w.value(f"or i1 {is_open}, {w.value(f'icmp eq i64 {dim}, {given}')}")
    w.need(fits, WRONG_SHAPE, "input %s: dimension %lld must be %lld, got %lld", name, f"i64 {d}", f"i64 {dim}",
           f"i64 {given}")  # fmt: skip


def _polynomial(w: Writer, row: str, values: str, first: int) -> str:
    """The value of a row of coefficients: how many, then pairs of a power's number and its factor."""
    total = w.variable("i64", 0)
    with w.loop(w.load(row, first)) as t:
        pair = w.at(row, w.add(w.times(t, 2), first + 1))
        term = w.times(w.load(values, w.load(pair)), w.load(pair, 1))
        w.line(f"store i64 {w.add(w.value(f'load i64, ptr {total}'), term)}, ptr {total}")
    return w.value(f"load i64, ptr {total}")


def _room(w: Writer, group: str) -> str:
    """The power that a part of the arena grows with; of no size less than 1, for which its arrays have been placed."""
    return w.load("%powers", w.add(w.load(group), MOST_POWERS))


def _quotients(w: Writer) -> str:
    """Write quotients of sizes behind these; how many there are together."""
    open, rows = w.load("%model", N_SIZES), w.load("%model", QUOTIENTS, "ptr")
    count = w.load("%model", N_QUOTIENTS)
    with w.loop(count) as q:
        row = w.at(rows, w.times(q, 4))
        of, times, plus, over = (w.load(row, i) for i in range(4))
        x = w.add(w.times(w.load("%sizes", of), times), plus)
        # Rounded down, also below 0: the program is not run for such sizes, but asked about them.
        below = w.value(f"and i64 {w.value(f'ashr i64 {x}, 63')}, {w.add(over, -1)}")
        down = w.value(f"sub i64 {x}, {below}")
        w.store(w.value(f"sdiv i64 {down}, {over}"), "%sizes", w.add(open, q))
    return w.add(open, count)


def _memory(strings: Strings) -> str:
    """Memory for a run with these sizes, its words filled in; null after an error."""
    w = Function(strings, "ptr", "vitrify.memory", ("ptr %model", "ptr %sizes", "ptr %powers"))
    count, powers = w.load("%model", N_POWERS), w.load("%model", POWERS, "ptr")
    sizes = _quotients(w)
    bound, row = w.variable("double", "0.0"), w.load("%model", BOUND, "ptr")
    with w.loop(count) as p:  # in floating point first, which tells what is too large
        x, exact, room = w.variable("double", "1.0"), w.variable("i64", 1), w.variable("i64", 1)
        with w.loop(sizes) as s, w.loop(w.load(powers, w.add(w.times(p, sizes), s))):
            size = w.load("%sizes", s)
            w.line(f"store double {times_double(w, w.value(f'load double, ptr {x}'), size)}, ptr {x}")
            w.line(f"store i64 {w.times(w.value(f'load i64, ptr {exact}'), size)}, ptr {exact}")
            some = w.value(f"select i1 {w.value(f'icmp slt i64 {size}, 1')}, i64 1, i64 {size}")
            w.line(f"store i64 {w.times(w.value(f'load i64, ptr {room}'), some)}, ptr {room}")
        w.store(w.value(f"load i64, ptr {exact}"), "%powers", p)
        w.store(w.value(f"load i64, ptr {room}"), "%powers", w.add(p, MOST_POWERS))
        term = times_double(w, w.value(f"load double, ptr {x}"), w.load(row, p))
        before = w.value(f"load double, ptr {bound}")
        w.line(f"store double {w.value(f'fadd double {before}, {term}')}, ptr {bound}")
    most = w.value(f"load double, ptr {bound}")
    w.need(w.value(f"fcmp olt double {most}, {_LARGEST}"), MEMORY, "sizes are too large: %.0f bytes", f"double {most}")
    total = w.variable("i64", w.load("%model", FIXED))
    groups = w.load("%model", GROUPS, "ptr")
    with w.loop(w.load("%model", N_GROUPS)) as g:
        group = w.at(groups, w.times(g, 2))
        room = w.times(_room(w, group), w.load(group, 1))
        w.line(f"store i64 {w.add(w.value(f'load i64, ptr {total}'), room)}, ptr {total}")
    size = w.value(f"load i64, ptr {total}")
    block = w.variable("ptr", w.value(f"atomicrmw xchg ptr {w.load('%model', KEPT, 'ptr')}, ptr null acquire"))
    kept = w.value(f"load ptr, ptr {block}")
    with (
        w.when(w.value(f"icmp ne ptr {kept}, null")),
        w.when(w.value(f"icmp ult i64 {w.load(kept, CAPACITY)}, {size}")),
    ):
        w.call("void", "@free", f"ptr {kept}")
        w.line(f"store ptr null, ptr {block}")
    with w.when(w.value(f"icmp eq ptr {w.value(f'load ptr, ptr {block}')}, null")):
        made = w.call("ptr", "@aligned_alloc", "i64 64", f"i64 {size}")
        w.need(w.value(f"icmp ne ptr {made}, null"), MEMORY, "there is no memory for %lld bytes", f"i64 {size}")
        w.store(size, made, CAPACITY)
        w.store(0, made, READY)
        w.line(f"store ptr {made}, ptr {block}")
    found = w.value(f"load ptr, ptr {block}")
    w.call("void", "@vitrify.fill", "ptr %model", f"ptr {found}", "ptr %sizes", "ptr %powers")
    w.line(f"ret ptr {found}")
    return w.text


def _fill(strings: Strings) -> str:
    """Fill in the words of a block of memory, unless they are for these sizes."""
    w = Function(strings, "void", "vitrify.fill", ("ptr %model", "ptr %block", "ptr %sizes", "ptr %powers"))
    is_same = w.variable("i64", w.load("%block", READY))
    with w.loop(w.load("%model", N_SIZES)) as s:
        own, wanted = w.load(w.at("%block", SIZES), s), w.load("%sizes", s)
        with w.when(w.value(f"icmp ne i64 {own}, {wanted}")):
            w.line(f"store i64 0, ptr {is_same}")
        w.store(wanted, w.at("%block", SIZES), s)
    with w.when(w.value(f"icmp ne i64 {w.value(f'load i64, ptr {is_same}')}, 0")):
        w.leave("void")
    words = w.at("%block", BLOCK_HEAD)
    w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {words}", f"ptr {w.load('%model', WORDS, 'ptr')}",
           f"i64 {w.times(w.load('%model', N_WORDS), 8)}", "i1 0")  # fmt: skip
    row = w.variable("ptr", w.load("%model", PATCHES, "ptr"))
    with w.loop(w.load("%model", N_PATCHES)):
        here = w.value(f"load ptr, ptr {row}")
        w.store(_polynomial(w, here, "%powers", 1), words, w.load(here))
        w.line(f"store ptr {w.at(here, w.add(w.times(w.load(here, 1), 2), 2))}, ptr {row}")
    floats = w.load("%model", FLOATS, "ptr")
    with w.loop(w.load("%model", N_FLOATS)) as f:
        own = w.at(floats, w.times(f, 3))
        number = w.value(f"sitofp i64 {w.load(w.at(words, w.load(own)))} to double")
        at, is_short = w.at(words, w.load(own, 1), "i8"), w.value(f"icmp eq i64 {w.load(own, 2)}, 4")
        with w.when(is_short):
            w.store(w.value(f"fptrunc double {number} to float"), at, 0, "float", 4)
        with w.when(w.value(f"xor i1 {is_short}, true")):
            w.store(number, at, 0, "double")
    places, base = w.load("%model", PLACES, "ptr"), w.value(f"ptrtoint ptr {words} to i64")
    with w.loop(w.load("%model", N_PLACES)) as p:
        at = w.load(places, p)
        w.store(w.add(base, w.times(w.load(words, at), 8)), words, at)
    w.store(1, "%block", READY)
    w.line("ret void")
    return w.text


def _shapes(strings: Strings) -> str:
    """Tell what the results are; whether there is room for them, unless that is not asked."""
    w = Function(strings, "i32", "vitrify.results", ("ptr %model", "ptr %words", "ptr %outputs", "i1 %asks"))
    specs = w.load("%model", OUTPUTS, "ptr")
    count = w.load("%model", N_OUTPUTS)
    with w.loop(count) as i:
        spec, array = w.at(specs, w.times(i, EACH)), w.at("%outputs", w.times(i, ARRAY_SIZE), "i8")
        w.set_field(w.load(spec, DTYPE), array, ARRAY_DTYPE)
        w.set_field(w.load(spec, NDIM), array, ARRAY_NDIM)
        with w.loop(w.load(spec, NDIM)) as d:
            w.store(w.load("%words", w.add(w.load(spec, AT), d)), w.at(array, ARRAY_SHAPE, "i8"), d)
    with w.when("%asks"):
        w.leave("i32 0")
    with w.loop(count) as i:
        spec, array = w.at(specs, w.times(i, EACH)), w.at("%outputs", w.times(i, ARRAY_SIZE), "i8")
        name, has = f"ptr {w.load(spec, NAME, 'ptr')}", w.field(array, ARRAY_BYTES)
        size = w.load("%words", w.add(w.load(spec, AT), w.load(spec, NDIM)))
        w.need(w.value(f"icmp sge i64 {has}, {size}"), ROOM, "output %s: takes %lld bytes, has room for %lld", name,
               f"i64 {size}", f"i64 {has}")  # fmt: skip
        is_there = w.value(f"icmp ne ptr {w.load(array, 0, 'ptr')}, null")
        w.need(
            w.value(f"or i1 {is_there}, {w.value(f'icmp eq i64 {size}, 0')}"), ARGUMENT, "output %s: data is NULL", name
        )
    w.line("ret i32 0")
    return w.text


def _addresses(strings: Strings) -> str:
    """Fill in the addresses of all arrays of a run; where they lie."""
    w = Function(strings, "ptr", "vitrify.addresses", (
        "ptr %model", "ptr %block", "ptr %powers", "ptr %inputs", "ptr %outputs"
    ))  # fmt: skip
    words = w.at("%block", BLOCK_HEAD)
    pointers = w.at(words, w.load("%model", N_WORDS))
    inputs, outputs = w.load("%model", N_INPUTS), w.load("%model", N_OUTPUTS)
    for arrays, count, first in (("%inputs", inputs, "0"), ("%outputs", outputs, inputs)):
        with w.loop(count) as i:
            array = w.at(arrays, w.times(i, ARRAY_SIZE), "i8")
            w.store(w.load(array, 0, "ptr"), pointers, w.add(first, i), "ptr")
    start = w.variable("ptr", w.at("%block", w.load("%model", FIXED), "i8"))
    base, groups = w.add(inputs, outputs), w.load("%model", GROUPS, "ptr")
    count = w.load("%model", N_GROUPS)
    with w.loop(count) as g:
        here, group = w.value(f"load ptr, ptr {start}"), w.at(groups, w.times(g, 2))
        w.store(here, pointers, w.add(base, g), "ptr")
        size = w.times(_room(w, group), w.load(group, 1))
        w.line(f"store ptr {w.at(here, size, 'i8')}, ptr {start}")
    data = w.add(base, count)
    w.store(w.load("%model", DATA, "ptr"), pointers, data, "ptr")
    w.store(w.at(words, w.load("%model", SIZED)), pointers, w.add(data, 1), "ptr")
    pairs, first = w.at(words, w.load("%model", DERIVED)), w.add(data, 2)
    with w.loop(w.load("%model", N_DERIVED)) as i:
        pair = w.at(pairs, w.times(i, 2))
        w.store(w.add(w.load(pointers, w.load(pair)), w.load(pair, 1)), pointers, w.add(first, i))
    w.line(f"ret ptr {pointers}")
    return w.text


def checked_run(strings: Strings, name: str) -> tuple[Function, str]:
    """The beginning of a run: what is wrong with its arguments ends it. And the sizes that were found."""
    w = Function(strings, "i32", name, (
        "ptr %model", "ptr %inputs", "i64 %n_inputs", "ptr %outputs", "i64 %n_outputs", "i1 %asks"
    ))  # fmt: skip
    sizes = w.space(f"[{MOST_SIZES} x i64]")
    w.store(0, w.error(), 0, "i8", 1)
    code = w.call("i32", "@vitrify.check", "ptr %model", "ptr %inputs", "i64 %n_inputs", f"ptr {sizes}", "i1 %asks")
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.leave(f"i32 {code}")
    wanted = w.load("%model", N_OUTPUTS)
    w.need(w.value(f"icmp eq i64 %n_outputs, {wanted}"), ARGUMENT, "gives %lld outputs, got room for %lld",
           f"i64 {wanted}", "i64 %n_outputs")  # fmt: skip
    w.need(w.value("icmp ne ptr %outputs, null"), ARGUMENT, "outputs is NULL")
    return w, sizes


def _asserted(strings: Strings) -> str:
    """A step that ends the run with a text where a flag is 0. c: 2 flags, 3 how many, 4 the text."""
    w = Function(strings, "i32", "asserted", PARAMETERS)
    flags = array(w, 2)
    with w.loop(word(w, 3)) as i:
        holds = w.value(f"icmp ne i8 {w.load(flags, i, 'i8', 1)}, 0")
        w.need(holds, RAISED, "%s", f"ptr {array(w, 4)}")
    w.line("ret i32 0")
    return w.text


def _run(strings: Strings) -> str:
    w, sizes = checked_run(strings, "vitrify.run")
    powers = w.space(f"[{2 * MOST_POWERS} x i64]")
    block = w.call("ptr", "@vitrify.memory", "ptr %model", f"ptr {sizes}", f"ptr {powers}")
    with w.when(w.value(f"icmp eq ptr {block}, null")):
        w.leave(f"i32 {MEMORY}")
    words = w.at(block, BLOCK_HEAD)
    found = w.variable(
        "i32", w.call("i32", "@vitrify.results", "ptr %model", f"ptr {words}", "ptr %outputs", "i1 %asks")
    )
    is_ready = w.value(f"icmp eq i32 {w.value(f'load i32, ptr {found}')}, 0")
    with w.when(w.value(f"and i1 {is_ready}, {w.value('xor i1 %asks, true')}")):
        pointers = w.call("ptr", "@vitrify.addresses", "ptr %model", f"ptr {block}", f"ptr {powers}", "ptr %inputs",
                          "ptr %outputs")  # fmt: skip
        ends = [w.at(words, w.load("%model", index)) for index in (CODE, END)]
        ended = w.call("i32", "@run", f"ptr {pointers}", *[f"ptr {end}" for end in ends])
        with w.when(w.value(f"icmp eq i32 {ended}, {REFUSED}")):
            text = strings.at("an index or label lies outside of what it numbers")
            w.value(f"call i32 (ptr, i64, ptr, ...) @snprintf(ptr {w.error()}, i64 {ERROR_BYTES}, ptr {text})")
            w.line(f"store i32 {VALUE}, ptr {found}")
        with w.when(w.value(f"icmp eq i32 {ended}, {RAISED}")):
            w.line(f"store i32 {RAISED}, ptr {found}")
    old = w.value(f"atomicrmw xchg ptr {w.load('%model', KEPT, 'ptr')}, ptr {block} acq_rel")
    w.call("void", "@free", f"ptr {old}")
    w.line(f"ret i32 {w.value(f'load i32, ptr {found}')}")
    return w.text


def _set_threads(strings: Strings) -> str:
    w = Function(strings, "i32", "vitrify.set_threads", ("i32 %threads",))
    w.store(0, w.error(), 0, "i8", 1)
    threads = w.value("sext i32 %threads to i64")
    w.need(w.value(f"icmp sge i64 {threads}, 1"), ARGUMENT, "threads must be at least 1, got %lld", f"i64 {threads}")
    w.call("void", "@limit_threads", f"i64 {threads}")
    w.line("ret i32 0")
    return w.text


def common_ir(strings: Strings) -> str:
    """The functions that all models of a module share."""
    names = ", ".join(f"ptr {strings.at(name)}" for name in (*DTYPES, "an unknown dtype"))
    functions = [f(strings) for f in (_check, _fill, _memory, _shapes, _addresses, _asserted, _run, _set_threads)]
    return "\n\n".join([
        f"@error = internal thread_local global [{ERROR_BYTES} x i8] zeroinitializer",
        f"@dtype.names = internal constant [{len(DTYPES) + 1} x ptr] [{names}]",
        "declare i32 @snprintf(ptr, i64, ptr, ...)\ndeclare ptr @aligned_alloc(i64, i64)\ndeclare void @free(ptr)",
        "declare void @limit_threads(i64)",
        "declare ptr @llvm.threadlocal.address.p0(ptr)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        *functions,
    ])  # fmt: skip


# -- exported functions ------------------------------------------------------------------------------------------------


def exported(prefix: str, model: str, run: str = "vitrify.run") -> str:
    """The functions of one model that C calls; run: by which function it runs."""
    parts = [_counts(prefix, model, what, index) for what, index in (("input", N_INPUTS), ("output", N_OUTPUTS))]
    for what, count, specs in (("input", N_INPUTS, INPUTS), ("output", N_OUTPUTS, OUTPUTS)):
        for name, type, place, missing in (
            ("name", "ptr", NAME, "null"), ("dtype", "i32", DTYPE, "-1"), ("ndim", "i32", NDIM, "-1"),
            ("shape", "ptr", SHOWN, "null"),
        ):  # fmt: skip
            parts.append(_asked(f"{prefix}_{what}_{name}", model, type, (count, specs, place), missing))
    for name, asks in (("run", "false"), ("shapes", "true")):
        w = Writer("i32", f"{prefix}_{name}", ("ptr %inputs", "i64 %n_inputs", "ptr %outputs", "i64 %n_outputs"))
        given = ("ptr %inputs", "i64 %n_inputs", "ptr %outputs", "i64 %n_outputs", f"i1 {asks}")
        w.line(f"ret i32 {w.call('i32', f'@{run}', f'ptr {model}', *given)}")
        parts.append(w.text)
    w = Writer("i32", f"{prefix}_set_threads", ("i32 %threads",))
    w.line(f"ret i32 {w.call('i32', '@vitrify.set_threads', 'i32 %threads')}")
    parts.append(w.text)
    w = Writer("ptr", f"{prefix}_last_error", ())
    w.line(f"ret ptr {w.value('call ptr @llvm.threadlocal.address.p0(ptr @error)')}")
    parts.append(w.text)
    w = Writer("void", f"{prefix}_release", ())
    kept = w.load(model, KEPT, "ptr")
    w.call("void", "@free", f"ptr {w.value(f'atomicrmw xchg ptr {kept}, ptr null acq_rel')}")
    w.line("ret void")
    parts.append(w.text)
    w = Writer("void", f"{prefix}_free", ("ptr %data",))
    w.call("void", "@free", "ptr %data")
    w.line("ret void")
    return "\n\n".join([*parts, w.text])


def _counts(prefix: str, model: str, what: str, index: int) -> str:
    w = Writer("i64", f"{prefix}_{what}_count", ())
    w.line(f"ret i64 {w.load(model, index)}")
    return w.text


def _asked(name: str, model: str, type: str, places: tuple[int, int, int], missing: str) -> str:
    """A function that tells something of an input or output by its number."""
    count, specs, place = places
    w = Writer(type, name, ("i64 %i",))
    with w.when(w.value(f"icmp uge i64 %i, {w.load(model, count)}")):
        w.leave(f"{type} {missing}")
    spec = w.at(w.load(model, specs, "ptr"), w.times("%i", EACH))
    found = w.load(spec, place, "ptr" if type == "ptr" else "i64")
    w.line(f"ret {type} {found if type == 'ptr' else w.value(f'trunc i64 {found} to i32')}")
    return w.text

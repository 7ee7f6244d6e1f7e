"""Inner loops that serve all programs: `void loop(char **arguments, intp *size, intp *steps, void *data)`, as NumPy has
them. The runner (steps.py) calls them for one dimension; those of elementwise kernels are made for each (native.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .emit import FLOAT32, FLOAT64, INT64, Dtype, memory_type
from .writer import Writer

PARAMETERS = ("ptr %arguments", "ptr %sizes", "ptr %steps", "ptr %data")
# Elements that a reduction takes side by side.
LANES = 8
# Elements that are copied by the C library, whose call takes as long as copying a few.
_MANY = 128
REDUCED = {"f32": FLOAT32, "f64": FLOAT64, "i64": INT64}


def copy_loop(size: int) -> str:
    """Elements of so many bytes, of any steps."""
    w = Writer("void", f"copy{size}", PARAMETERS)
    n, (source, target), (from_step, to_step) = _given(w)
    type = f"i{8 * size}"
    dense = w.value(f"icmp eq i64 {from_step}, {size}")
    dense = w.value(f"and i1 {dense}, {w.value(f'icmp eq i64 {to_step}, {size}')}")
    with w.when(dense):
        with w.when(w.value(f"icmp uge i64 {n}, {_MANY}")):
            count = w.times(n, size)
            w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {target}", f"ptr {source}", f"i64 {count}", "i1 0")
            w.leave("void")
        whole, full = w.value(f"and i64 {n}, {-LANES}"), f"<{LANES} x {type}>"
        for kind, first, end, step in ((full, 0, whole, LANES), (type, whole, n, 1)):
            with w.loop(end, first, step) as i:
                value = w.value(f"load {kind}, ptr {w.at(source, i, type)}, align {size}")
                w.line(f"store {kind} {value}, ptr {w.at(target, i, type)}, align {size}")
        w.leave("void")
    with w.when(_is_reversed(w, n, from_step, to_step, size)):
        whole, full = w.value(f"and i64 {n}, {-LANES}"), f"<{LANES} x {type}>"
        backwards = ", ".join(f"i32 {LANES - 1 - lane}" for lane in range(LANES))
        with w.loop(whole, 0, LANES) as i:
            back = w.at(source, w.value(f"sub i64 {1 - LANES}, {i}"), type)
            value = w.value(f"load {full}, ptr {back}, align {size}")
            turned = w.value(f"shufflevector {full} {value}, {full} poison, <{LANES} x i32> <{backwards}>")
            w.line(f"store {full} {turned}, ptr {w.at(target, i, type)}, align {size}")
        with w.loop(n, whole) as i:
            w.store(w.load(source, w.value(f"sub i64 0, {i}"), type, size), target, i, type, size)
        w.leave("void")
    with w.loop(n) as i:
        value = w.load(w.at(source, w.times(i, from_step), "i8"), 0, type, size)
        w.store(value, w.at(target, w.times(i, to_step), "i8"), 0, type, size)
    w.line("ret void")
    return w.text


def _is_reversed(w: Writer, n: str, from_step: str, to_step: str, size: int) -> str:
    """Whether many elements go to where they lie side by side, from where they lie so the other way round."""
    steps = [w.value(f"icmp eq i64 {step}, {by}") for step, by in ((from_step, -size), (to_step, size))]
    return w.value(f"and i1 {w.value(f'and i1 {steps[0]}, {steps[1]}')}, {w.value(f'icmp sge i64 {n}, {LANES}')}")


def turned_loop() -> str:
    """Elements of four bytes, of two dimensions: one is the source's innermost, the other the target's.

    As an inner loop over the target's; the data says how many elements the other has (the low half), and the target's
    step there. Squares of eight by eight are exchanged in registers.
    """
    w = Writer("void", "turned4", PARAMETERS)
    n, (source, target), (row, _) = _given(w)
    data = w.value("ptrtoint ptr %data to i64")
    m, column = w.value(f"and i64 {data}, {(1 << 32) - 1}"), w.value(f"lshr i64 {data}, 32")
    squares, others = w.value(f"and i64 {n}, {-_SQUARE}"), w.value(f"and i64 {m}, {-_SQUARE}")
    with w.loop(others, 0, _SQUARE) as j:
        with w.loop(squares, 0, _SQUARE) as i:
            _turned(w, w.at(source, w.add(w.times(i, row), w.times(j, 4)), "i8"), row,
                    w.at(target, w.add(w.times(j, column), w.times(i, 4)), "i8"), column)  # fmt: skip
        with w.loop(_SQUARE) as k:
            _row_by_elements(w, source, row, target, column, w.add(j, k), squares, n)
    with w.loop(m, others) as j:
        _row_by_elements(w, source, row, target, column, j, 0, n)
    w.line("ret void")
    return w.text


_SQUARE = 8


def _row_by_elements(
    w: Writer, source: str, row: str, target: str, column: str, j: str, first: object, end: str
) -> None:
    start, to = w.at(source, w.times(j, 4), "i8"), w.at(target, w.times(j, column), "i8")
    with w.loop(end, first) as i:
        w.store(w.load(w.at(start, w.times(i, row), "i8"), 0, "i32", 4), to, i, "i32", 4)


def _turned(w: Writer, source: str, row: str, target: str, column: str) -> None:
    """A square: blocks of one element, two and four are exchanged in pairs of rows."""
    full = f"<{_SQUARE} x i32>"
    rows = [
        w.value(f"load {full}, ptr {w.at(source, w.times(row, i), 'i8')}, align 4") for i in range(_SQUARE)
    ]  # fmt: skip
    lanes = range(_SQUARE)
    for k in (1, 2, 4):
        low = ", ".join(f"i32 {lane if not lane & k else _SQUARE + lane - k}" for lane in lanes)
        high = ", ".join(f"i32 {lane + k if not lane & k else _SQUARE + lane}" for lane in lanes)
        for i in (i for i in lanes if not i & k):
            pair = f"{full} {rows[i]}, {full} {rows[i + k]}, <{_SQUARE} x i32>"
            rows[i], rows[i + k] = (w.value(f"shufflevector {pair} <{mask}>") for mask in (low, high))
    for i, value in enumerate(rows):
        w.line(f"store {full} {value}, ptr {w.at(target, w.times(column, i), 'i8')}, align 4")


def _given(w: Writer) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """The size, and addresses and steps of what is read and what is written."""
    arguments = w.load("%arguments", 0, "ptr"), w.load("%arguments", 1, "ptr")
    return w.load("%sizes"), arguments, (w.load("%steps", 0), w.load("%steps", 1))


Combine = Callable[[Writer, str, str, str], str]


def largest(w: Writer, type: str, x: str, y: str, predicate: str = "ogt") -> str:
    """The larger of the two, NaN if one is."""
    if "i64" in type:
        chosen = w.value(f"icmp s{predicate[1:]} {type} {x}, {y}")
    else:
        chosen = w.value(f"fcmp {predicate} {type} {x}, {y}")
        nan = w.value(f"fcmp uno {type} {x}, {x}")
        chosen = w.value(f"or {type.replace('float', 'i1').replace('double', 'i1')} {chosen}, {nan}")
    condition = type.replace("float", "i1").replace("double", "i1").replace("i64", "i1")
    return w.value(f"select {condition} {chosen}, {type} {x}, {type} {y}")


def smallest(w: Writer, type: str, x: str, y: str) -> str:
    return largest(w, type, x, y, "olt")


def extreme_loop(name: str, code: str) -> str:
    """The largest or smallest of at least one element."""
    combine: Combine = largest if name == "max" else smallest
    dtype = REDUCED[code]
    type = memory_type(dtype)
    full = f"<{LANES} x {type}>"
    w = Writer("void", f"{name}_{code}", PARAMETERS)
    n, (source, target), (step, _) = _given(w)
    found = w.variable(type, w.load(source, 0, type, dtype.itemsize))
    done = w.variable("i64", 0)
    with w.when(_is_long(w, n, step, dtype)):
        parts = w.variable(full, w.load(source, 0, full, dtype.itemsize))
        whole = w.value(f"and i64 {n}, {-LANES}")
        with w.loop(whole, LANES, LANES) as i:
            x = w.value(f"load {full}, ptr {w.at(source, i, type)}, align {dtype.itemsize}")
            w.line(f"store {full} {combine(w, full, w.value(f'load {full}, ptr {parts}'), x)}, ptr {parts}")
        for lane in range(LANES):
            x = w.value(f"extractelement {full} {w.value(f'load {full}, ptr {parts}')}, i64 {lane}")
            w.line(f"store {type} {combine(w, type, w.value(f'load {type}, ptr {found}'), x)}, ptr {found}")
        w.line(f"store i64 {whole}, ptr {done}")
    with w.loop(n, w.value(f"load i64, ptr {done}")) as i:
        x = w.load(w.at(source, w.times(i, step), "i8"), 0, type, dtype.itemsize)
        w.line(f"store {type} {combine(w, type, w.value(f'load {type}, ptr {found}'), x)}, ptr {found}")
    w.store(w.value(f"load {type}, ptr {found}"), target, 0, type, dtype.itemsize)
    w.line("ret void")
    return w.text


def _is_long(w: Writer, n: str, step: str, dtype: Dtype) -> str:
    """Whether the elements lie side by side, and fill a vector."""
    dense = w.value(f"icmp eq i64 {step}, {dtype.itemsize}")
    return w.value(f"and i1 {dense}, {w.value(f'icmp sge i64 {n}, {LANES}')}")


def sum_loop(code: str) -> str:
    """The sum. float32 is added up in float64; float64 with what rounding loses kept beside it."""
    dtype = REDUCED[code]
    type, wide = memory_type(dtype), "i64" if code == "i64" else "double"
    full, fullwide = f"<{LANES} x {type}>", f"<{LANES} x {wide}>"
    w = Writer("void", f"sum_{code}", PARAMETERS)
    n, (source, target), (step, _) = _given(w)
    done = w.variable("i64", 0)
    one, many = Total(w, wide, code), Total(w, fullwide, code)
    with w.when(_is_long(w, n, step, dtype)):
        whole = w.value(f"and i64 {n}, {-LANES}")
        with w.loop(whole, 0, LANES) as i:
            x = w.value(f"load {full}, ptr {w.at(source, i, type)}, align {dtype.itemsize}")
            many.add(w.value(f"fpext {full} {x} to {fullwide}") if code == "f32" else x)
        for lane in range(LANES):
            one.add(w.value(f"extractelement {fullwide} {many.total()}, i64 {lane}"))
        w.line(f"store i64 {whole}, ptr {done}")
    with w.loop(n, w.value(f"load i64, ptr {done}")) as i:
        x = w.load(w.at(source, w.times(i, step), "i8"), 0, type, dtype.itemsize)
        one.add(w.value(f"fpext float {x} to double") if code == "f32" else x)
    total = one.total()
    w.store(w.value(f"fptrunc double {total} to float") if code == "f32" else total, target, 0, type, dtype.itemsize)
    w.line("ret void")
    return w.text


def _zero(type: str, code: str) -> str:
    """What to add up from."""
    return "zeroinitializer" if "<" in type else "0" if code == "i64" else "0.0"


class Total:
    """A sum in the making; of float64 also the sum of what rounding has lost (Knuth's exact sum of two).

    places: where the two are gathered; variables of its own, which begin with 0, where none are given.
    """

    def __init__(self, w: Writer, type: str, code: str, places: Sequence[str] = ()) -> None:
        self.w, self.type = w, type
        own = places or [w.variable(type, _zero(type, c)) for c in ((code, "") if code == "f64" else (code,))]
        self.sum, self.lost = own[0], own[1] if code == "f64" else ""
        self.opcode = "add" if code == "i64" else "fadd"

    def add(self, x: str) -> None:
        """One more."""
        w, type = self.w, self.type
        old = w.value(f"load {type}, ptr {self.sum}")
        new = w.value(f"{self.opcode} {type} {old}, {x}")
        w.line(f"store {type} {new}, ptr {self.sum}")
        if self.lost:
            back = w.value(f"fsub {type} {new}, {old}")
            mine = w.value(f"fsub {type} {old}, {w.value(f'fsub {type} {new}, {back}')}")
            lost = w.value(f"fadd {type} {mine}, {w.value(f'fsub {type} {x}, {back}')}")
            before = w.value(f"load {type}, ptr {self.lost}")
            w.line(f"store {type} {w.value(f'fadd {type} {before}, {lost}')}, ptr {self.lost}")

    def total(self) -> str:
        """The sum so far; where it is not finite, without what was lost, which is NaN then."""
        w, type = self.w, self.type
        total = w.value(f"load {type}, ptr {self.sum}")
        if not self.lost:
            return total
        lost = w.value(f"load {type}, ptr {self.lost}")
        is_number = w.value(f"fcmp ord {type} {lost}, {lost}")
        both = w.value(f"fadd {type} {total}, {lost}")
        condition = type.replace("double", "i1")
        return w.value(f"select {condition} {is_number}, {type} {both}, {type} {total}")


def inner_loops() -> dict[str, str]:
    """All of them, by name."""
    copies = {f"copy{size}": copy_loop(size) for size in (1, 2, 4, 8)}
    sums = {f"sum_{code}": sum_loop(code) for code in REDUCED}
    extremes = {f"{name}_{code}": extreme_loop(name, code) for name in ("max", "min") for code in REDUCED}
    return {**copies, "turned4": turned_loop(), **sums, **extremes}

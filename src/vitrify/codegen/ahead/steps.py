"""Steps that only programs compiled ahead of time have: what a library or NumPy does for the others."""

from __future__ import annotations

from contextlib import ExitStack

from ..emit import FLOAT32, FLOAT64, Dtype, memory_type
from ..order_steps import order_steps
from ..steps import PARAMETERS
from ..steps import steps as common_steps
from ..table_steps import table_steps
from ..writer import Writer


def _array(w: Writer, index: int) -> str:
    return w.load("%P", w.load("%c", index), "ptr")


def pooled(name: str, dtype: Dtype) -> str:
    """The largest element, or the sum, of each window of arrays of three dimensions, without what lies outside.

    c: 2 to, 3 from, 4 how many arrays, 5 the step between them; 6 for each dimension how many windows, its size, that
    of a window, the windows' step, how much lies before the first element, the step of an element; 24 what an empty
    window gives, the bits of a float or double.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"pooled_{name}_{type}", PARAMETERS)
    target, source = _array(w, 2), _array(w, 3)
    bits = w.load("%c", 24)
    none = w.value(f"bitcast i64 {bits} to double")
    none = none if size == 8 else w.value(f"bitcast i32 {w.value(f'trunc i64 {bits} to i32')} to float")
    dims = [[w.load("%c", 6 + 6 * d + i) for i in range(6)] for d in range(3)]
    place, found = w.variable("i64", 0), w.variable(type, none)
    with w.loop(w.load("%c", 4)) as plane:
        start = w.at(source, w.times(plane, w.load("%c", 5)), "i8")
        with ExitStack() as loops:
            windows = [loops.enter_context(w.loop(count)) for count, *_ in dims]
            w.line(f"store {type} {none}, ptr {found}")
            with ExitStack() as inside:
                at = start
                for o, (_, extent, kernel, stride, before, step) in zip(windows, dims):
                    low = w.value(f"sub i64 {w.times(o, stride)}, {before}")
                    first = w.value(f"select i1 {w.value(f'icmp sgt i64 {low}, 0')}, i64 {low}, i64 0")
                    high = w.add(low, kernel)
                    last = w.value(f"select i1 {w.value(f'icmp slt i64 {high}, {extent}')}, i64 {high}, i64 {extent}")
                    i = inside.enter_context(w.loop(last, first))
                    at = w.at(at, w.times(i, step), "i8")
                x, old = w.load(at, 0, type, size), w.value(f"load {type}, ptr {found}")
                if name == "max":  # NaN wins, as in NumPy
                    less = w.value(f"fcmp ogt {type} {old}, {x}")
                    keeps = w.value(f"or i1 {less}, {w.value(f'fcmp uno {type} {old}, {old}')}")
                    new = w.value(f"select i1 {keeps}, {type} {old}, {type} {x}")
                else:
                    new = w.value(f"fadd {type} {old}, {x}")
                w.line(f"store {type} {new}, ptr {found}")
            here = w.value(f"load i64, ptr {place}")
            w.store(w.value(f"load {type}, ptr {found}"), target, here, type, size)
            w.line(f"store i64 {w.add(here, 1)}, ptr {place}")
    w.line("ret i32 0")
    return w.text


def never_interrupted() -> str:
    """What loops ask from time to time: nobody interrupts here."""
    return "define i32 @interrupted(ptr %P, i64 %at) {\n  ret i32 0\n}"


def steps() -> dict[str, str]:
    """All steps by name."""
    common = {name: text for name, text in common_steps().items() if not name.startswith("products_")}
    own = [pooled(n, d) for n in ("max", "sum") for d in (FLOAT32, FLOAT64)]
    named = {_name(text): text for text in own}
    return {**common, **table_steps(), **order_steps(), "interrupted": never_interrupted(), **named}


def _name(text: str) -> str:
    return text.partition("@")[2].partition("(")[0]

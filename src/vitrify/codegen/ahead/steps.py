"""Steps that only programs compiled ahead of time have: what a library or NumPy does for the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np

from ..emit import FLOAT32, FLOAT64, Dtype, memory_type
from ..order_steps import order_steps
from ..steps import PARAMETERS
from ..steps import steps as common_steps
from ..table_steps import table_steps
from ..writer import Writer


def _array(w: Writer, index: int) -> str:
    return w.load("%P", w.load("%c", index), "ptr")


@contextmanager
def _inside(
    w: Writer, start: str, windows: Sequence[str], dims: Sequence[Sequence[str]]
) -> Iterator[tuple[str, list[str]]]:
    """A loop over the elements of a window, as of `pooled`: where each is, by address and by dimensions."""
    with ExitStack() as loops:
        places = []
        for o, (_, extent, kernel, stride, before, step) in zip(windows, dims):
            low = w.value(f"sub i64 {w.times(o, stride)}, {before}")
            first = w.value(f"select i1 {w.value(f'icmp sgt i64 {low}, 0')}, i64 {low}, i64 0")
            high = w.add(low, kernel)
            last = w.value(f"select i1 {w.value(f'icmp slt i64 {high}, {extent}')}, i64 {high}, i64 {extent}")
            places.append(loops.enter_context(w.loop(last, first)))
            start = w.at(start, w.times(places[-1], step), "i8")
        yield start, places


def pool_places(dtype: Dtype) -> str:
    """Where in its plane the first element of each window is that has a value; -1 where there is none.

    c: 2 to, of 32 bits, 3 from, 4... as of `pooled`, 24 the values.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"pool_places_{type}", PARAMETERS)
    target, source, values = _array(w, 2), _array(w, 3), _array(w, 24)
    dims = [[w.load("%c", 6 + 6 * d + i) for i in range(6)] for d in range(3)]
    place, found = w.variable("i64", 0), w.variable("i64", 0)
    with w.loop(w.load("%c", 4)) as plane:
        start = w.at(source, w.times(plane, w.load("%c", 5)), "i8")
        with ExitStack() as loops:
            windows = [loops.enter_context(w.loop(count)) for count, *_ in dims]
            w.line(f"store i64 -1, ptr {found}")
            here = w.value(f"load i64, ptr {place}")
            best = w.load(values, here, type, size)
            with _inside(w, start, windows, dims) as (at, at_dims):
                is_best = w.value(f"fcmp oeq {type} {w.load(at, 0, type, size)}, {best}")
                is_first = w.value(f"icmp slt i64 {w.value(f'load i64, ptr {found}')}, 0")
                with w.when(w.value(f"and i1 {is_best}, {is_first}")):
                    number = "0"
                    for i, (_, extent, *_) in zip(at_dims, dims):
                        number = w.add(w.times(number, extent), i)
                    w.line(f"store i64 {number}, ptr {found}")
            short = w.value(f"trunc i64 {w.value(f'load i64, ptr {found}')} to i32")
            w.store(short, target, here, "i32", 4)
            w.line(f"store i64 {w.add(here, 1)}, ptr {place}")
    w.line("ret i32 0")
    return w.text


def _joined(w: Writer, name: str, type: str, old: str, x: str) -> str:
    """What an element leaves of what was found before it: the larger one, NaN where either is NaN, or the sum."""
    if name != "max":
        return w.value(f"fadd {type} {old}, {x}")
    less = w.value(f"fcmp ogt {type} {old}, {x}")
    keeps = w.value(f"or i1 {less}, {w.value(f'fcmp uno {type} {old}, {old}')}")
    return w.value(f"select i1 {keeps}, {type} {old}, {type} {x}")


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
            with _inside(w, start, windows, dims) as (at, _):
                x, old = w.load(at, 0, type, size), w.value(f"load {type}, ptr {found}")
                w.line(f"store {type} {_joined(w, name, type, old, x)}, ptr {found}")
            here = w.value(f"load i64, ptr {place}")
            w.store(w.value(f"load {type}, ptr {found}"), target, here, type, size)
            w.line(f"store i64 {w.add(here, 1)}, ptr {place}")
    w.line("ret i32 0")
    return w.text


def binned(name: str, dtype: Dtype) -> str:
    """The largest element, or the mean, of each bin of arrays of three dimensions: bin i of n over [i, i + 1) / n.

    c: 2 to, 3 from, 4 how many arrays, 5 the step between them; 6 for each dimension how many bins, its size, the step
    of an element.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"binned_{name}_{type}", PARAMETERS)
    target, source = _array(w, 2), _array(w, 3)
    dims = [[w.load("%c", 6 + 3 * d + i) for i in range(3)] for d in range(3)]
    place, found, number = w.variable("i64", 0), w.variable("double", "0.0"), w.variable("i64", 0)
    with w.loop(w.load("%c", 4)) as plane:
        start = w.at(source, w.times(plane, w.load("%c", 5)), "i8")
        with ExitStack() as loops:
            bins = [loops.enter_context(w.loop(count)) for count, *_ in dims]
            w.line(f"store double {'0.0' if name == 'mean' else '0xFFF0000000000000'}, ptr {found}")
            w.line(f"store i64 0, ptr {number}")
            with ExitStack() as inside:
                at = start
                for o, (count, extent, step) in zip(bins, dims):
                    first = w.value(f"sdiv i64 {w.times(o, extent)}, {count}")
                    end = w.add(w.times(w.add(o, 1), extent), w.add(count, -1))
                    i = inside.enter_context(w.loop(w.value(f"sdiv i64 {end}, {count}"), first))
                    at = w.at(at, w.times(i, step), "i8")
                x, old = w.load(at, 0, type, size), w.value(f"load double, ptr {found}")
                x = x if type == "double" else w.value(f"fpext {type} {x} to double")
                w.line(f"store double {_joined(w, name, 'double', old, x)}, ptr {found}")
                w.line(f"store i64 {w.add(w.value(f'load i64, ptr {number}'), 1)}, ptr {number}")
            value = w.value(f"load double, ptr {found}")
            if name == "mean":
                count = w.value(f"sitofp i64 {w.value(f'load i64, ptr {number}')} to double")
                value = w.value(f"fdiv double {value}, {count}")
            here = w.value(f"load i64, ptr {place}")
            value = value if type == "double" else w.value(f"fptrunc double {value} to {type}")
            w.store(value, target, here, type, size)
            w.line(f"store i64 {w.add(here, 1)}, ptr {place}")
    w.line("ret i32 0")
    return w.text


def offsets() -> str:
    """The offsets of all places in four dimensions, the last one fastest. c: 2 to, 3 for each its size and its step."""
    w = Writer("i32", "offsets", PARAMETERS)
    to = w.variable("ptr", _array(w, 2))
    dims = [[w.load("%c", 3 + 2 * d + i) for i in range(2)] for d in range(4)]
    with ExitStack() as loops:
        total = "0"
        for size, step in dims:
            total = w.add(total, w.times(loops.enter_context(w.loop(size)), step))
        here = w.value(f"load ptr, ptr {to}")
        w.store(total, here)
        w.line(f"store ptr {w.at(here, 1)}, ptr {to}")
    w.line("ret i32 0")
    return w.text


def integer_products(dtype: Dtype) -> str:
    """Products of stacks of matrices of integers, which wrap around as NumPy's do.

    c: 2 to, 3 and 4 from, 5 how many, 6 rows, 7 columns, 8 elements of a sum.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"products_of_{type}", PARAMETERS)
    out, x, y = (_array(w, i) for i in (2, 3, 4))
    stacks, rows, columns, inner = (w.load("%c", i) for i in range(5, 9))
    with w.loop(stacks) as s, w.loop(rows) as i:
        row = w.add(w.times(s, rows), i)
        target = w.at(out, w.times(row, columns), type)
        w.call("void", "@llvm.memset.p0.i64", f"ptr {target}", "i8 0", f"i64 {w.times(columns, size)}", "i1 0")
        with w.loop(inner) as p:
            by = w.load(x, w.add(w.times(row, inner), p), type, size)
            other = w.at(y, w.times(w.add(w.times(s, inner), p), columns), type)
            with w.loop(columns) as j:
                product = w.value(f"mul {type} {by}, {w.load(other, j, type, size)}")
                w.store(w.value(f"add {type} {w.load(target, j, type, size)}, {product}"), target, j, type, size)
    w.line("ret i32 0")
    return w.text


def never_interrupted() -> str:
    """What loops ask from time to time: nobody interrupts here."""
    return "define i32 @interrupted(ptr %P, i64 %at) {\n  ret i32 0\n}"


def steps() -> dict[str, str]:
    """All steps by name."""
    common = {name: text for name, text in common_steps().items() if not name.startswith("products_")}
    own = [pooled(n, d) for n in ("max", "sum") for d in (FLOAT32, FLOAT64)]
    own += [pool_places(d) for d in (FLOAT32, FLOAT64)]
    own += [*[binned(n, d) for n in ("max", "mean") for d in (FLOAT32, FLOAT64)], offsets()]
    own += [integer_products(np.dtype(f"i{size}")) for size in (1, 2, 4, 8)]
    named = {_name(text): text for text in own}
    return {**common, **table_steps(), **order_steps(), "interrupted": never_interrupted(), **named}


def _name(text: str) -> str:
    return text.partition("@")[2].partition("(")[0]

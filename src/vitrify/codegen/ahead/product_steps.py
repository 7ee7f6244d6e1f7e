"""The step of matrix products in programs compiled ahead of time, cut into parts for the library's threads.

Parts are whole products of a stack, or ranges of columns or rows of each; never of the inner size. So each element is
the same sum in the same order for any number of threads.
"""

from __future__ import annotations

from ..emit import memory_type
from ..gemm import Shape
from ..steps import PARAMETERS, optional
from ..writer import Writer

# So many multiplications take several times as long as waking other threads does.
_LARGE = 1 << 20
# What is cut: the words of the step say how many there are of each.
_STACKS, _COLUMNS, _ROWS = range(3)


def product_steps(shape: Shape) -> dict[str, str]:
    """The functions by name: the step `multiply_<type>`, and what it needs."""
    type = memory_type(shape.dtype)
    return {
        f"multiply_{type}": _multiply(shape), f"multiply_part_{type}": _one_part(shape),
        f"multiply_some_{type}": _some(shape),
    }  # fmt: skip


def _multiply(shape: Shape) -> str:
    """Matrix products by the function of `gemm.py`.

    c: 2 3 4 rows, columns, inner size; 5 6 the steps of A's rows and columns, 7 8 of B's, 9 of C's rows; 10 scratch;
    11 12 13 A B C; 14 dimensions of stacks, 15 how many products, 16 17 tables of offsets of B's elements, or -1;
    18 what rows of C begin with, or -1; 19... the sizes of 14; then for A, B, C its steps from one to the next in each
    of these dimensions.
    """
    w = Writer("i32", f"multiply_{shape.type}", PARAMETERS)
    m, n, k, count = (w.load("%c", i) for i in (2, 3, 4, 15))
    threads = w.call("i64", "@threads")
    is_large = w.value(f"icmp sge i64 {w.times(w.times(m, n), w.times(k, count))}, {_LARGE}")
    is_shared = w.value(f"and i1 {is_large}, {w.value(f'icmp sgt i64 {threads}, 1')}")
    is_stack = w.value(f"icmp sge i64 {count}, {threads}")
    # A that is packed lies in the order of all its rows.
    is_packed = w.value(f"icmp eq i64 {w.load('%c', 5)}, -1")
    is_wide = w.value(f"or i1 {is_packed}, {w.value(f'icmp sge i64 {n}, {m}')}")
    side = w.value(f"select i1 {is_wide}, i64 {_COLUMNS}, i64 {_ROWS}")
    cut = w.value(f"select i1 {is_stack}, i64 {_STACKS}, i64 {side}")
    columns, rows = (w.value(f"sdiv i64 {x}, {grain}") for x, grain in ((n, shape.width), (m, shape.most)))
    grains = w.value(f"select i1 {is_wide}, i64 {columns}, i64 {rows}")
    most = w.value(f"select i1 {is_stack}, i64 {count}, i64 {grains}")
    parts = w.least(threads, most)
    context = w.space("[4 x i64]")
    for i, (value, kind) in enumerate((("%P", "ptr"), ("%c", "ptr"), (cut, "i64"), (parts, "i64"))):
        w.store(value, context, i, kind)
    with w.when(w.value(f"and i1 {is_shared}, {w.value(f'icmp sgt i64 {parts}, 1')}")):
        w.call("void", "@spread", f"ptr @multiply_part_{shape.type}", f"ptr {context}", f"i64 {parts}")
        w.leave("i32 0")
    scratch = w.load("%P", w.load("%c", 10), "ptr")
    ends = ("i64 0", f"i64 {count}", "i64 0", f"i64 {m}", "i64 0", f"i64 {n}")
    w.call("void", f"@multiply_some_{shape.type}", "ptr %P", "ptr %c", f"ptr {scratch}", *ends)
    w.line("ret i32 0")
    return w.text


def _one_part(shape: Shape) -> str:
    """A part; member 0 is the caller, who has scratch memory in the run's own."""
    w = Writer("void", f"multiply_part_{shape.type}", ("ptr %context", "i64 %part", "i64 %member"))
    P, c = w.load("%context", 0, "ptr"), w.load("%context", 1, "ptr")
    cut, parts = w.load("%context", 2), w.load("%context", 3)
    ends = []
    for number, (word, grain) in enumerate(((15, 1), (3, shape.width), (2, shape.most))):
        count = w.load(c, word)
        is_cut = w.value(f"icmp eq i64 {cut}, {number}")
        grains = w.value(f"sdiv i64 {w.add(count, grain - 1)}, {grain}")
        first, last = (
            w.least(w.times(w.value(f"sdiv i64 {w.times(grains, part)}, {parts}"), grain), count)
            for part in ("%part", w.add("%part", 1))
        )
        ends.append([w.value(f"select i1 {is_cut}, i64 {x}, i64 {y}") for x, y in ((first, "0"), (last, count))])
    (stack, columns, rows) = ends
    scratch = w.variable("ptr", w.load(P, w.load(c, 10), "ptr"))
    with w.when(w.value("icmp ne i64 %member, 0")):
        w.line(f"store ptr {w.call('ptr', '@member_scratch', 'i64 %member')}, ptr {scratch}")
    given = [f"i64 {x}" for x in (*stack, *rows, *columns)]
    own = w.value(f"load ptr, ptr {scratch}")
    w.call("void", f"@multiply_some_{shape.type}", f"ptr {P}", f"ptr {c}", f"ptr {own}", *given)
    w.line("ret void")
    return w.text


def _some(shape: Shape) -> str:
    """Some products of a stack, some rows and columns of each."""
    size = shape.dtype.itemsize
    w = Writer("void", f"multiply_some_{shape.type}", (
        "ptr %P", "ptr %c", "ptr %scratch", "i64 %first", "i64 %last", "i64 %row", "i64 %end", "i64 %column",
        "i64 %right",
    ))  # fmt: skip
    k, arow, acolumn, brow, bcolumn, crow = (w.load("%c", i) for i in range(4, 10))
    m, n = w.value("sub i64 %end, %row"), w.value("sub i64 %right, %column")
    dims = w.load("%c", 14)
    koffsets, joffsets, bias = (optional(w, i) for i in (16, 17, 18))
    has_table, has_bias = (w.value(f"icmp ne ptr {p}, null") for p in (joffsets, bias))
    along = w.value(f"select i1 {has_table}, i64 0, i64 {w.times('%column', bcolumn)}")
    starts = (w.times("%row", arow), along, w.add(w.times("%row", crow), w.times("%column", size)))
    right = w.value(f"select i1 {has_table}, i64 %column, i64 0")
    joffsets = w.at(joffsets, right)
    bias = w.at(bias, w.value(f"select i1 {has_bias}, i64 %row, i64 0"), shape.type)
    with w.loop("%last", "%first") as number:
        bases = [w.variable("ptr", w.at(w.load("%P", w.load("%c", i), "ptr"), start, "i8"))
                 for i, start in zip((11, 12, 13), starts)]  # fmt: skip
        rest = w.variable("i64", number)
        with w.loop(dims) as back:
            d = w.value(f"sub i64 {w.value(f'sub i64 {dims}, 1')}, {back}")
            length, left = w.load("%c", w.add(19, d)), w.value(f"load i64, ptr {rest}")
            index = w.value(f"urem i64 {left}, {length}")
            w.line(f"store i64 {w.value(f'udiv i64 {left}, {length}')}, ptr {rest}")
            for i, base in enumerate(bases):
                step = w.load("%c", w.add(w.add(19, d), w.times(dims, i + 1)))
                here = w.at(w.value(f"load ptr, ptr {base}"), w.times(index, step), "i8")
                w.line(f"store ptr {here}, ptr {base}")
        a, b, c = (w.value(f"load ptr, ptr {base}") for base in bases)
        given = [f"i64 {m}", f"i64 {n}", f"i64 {k}", f"ptr {a}", f"i64 {arow}", f"i64 {acolumn}", f"ptr {b}",
                 f"i64 {brow}", f"i64 {bcolumn}", f"ptr {c}", f"i64 {crow}", "ptr %scratch", f"ptr {koffsets}",
                 f"ptr {joffsets}", f"ptr {bias}", "ptr null"]  # fmt: skip
        w.call("i32", f"@gemm_{shape.type}", *given)
    w.line("ret void")
    return w.text


__all__ = ["product_steps"]

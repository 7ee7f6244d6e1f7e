"""The steps of a whole program: `i32 step(ptr *P, intp *c)`. P holds the addresses of all arrays of a run, c is the
step's own part of the plan: c[0] the step's function, c[1] how many words it has, then what the writers here say.

A step returns 0, or why the run ends: RAISED, a Python exception is set; REFUSED, the interpreter has to do it.
"""

from __future__ import annotations

from collections.abc import Callable

from .writer import Writer

RAISED, REFUSED = 1, 2
PARAMETERS = ("ptr %P", "ptr %c")
BRANCH = "branch"
"""The step that runs one of two blocks."""
MOST_OPERANDS = 64
# Behind the arrays, at P[c[..]]: the plan, the state of the thread that has given up Python's lock, how deep calls may
# nest, a list that holds the objects made by steps, and the tuple of the results.
PLAN, THREAD, LIMIT, HELD, RESULTS = 0, 1, 2, 3, 4
STATE_WORDS = 5
# Iterations of a loop, or calls, after which it looks whether the user has interrupted.
CHECKED = 128
# In the plan: the class of arrays, and the functions of Python's that are called.
ARRAY_TYPE, FUNCTIONS = 11, 16
NAMES = (
    "malloc", "free", "PyTuple_New", "PyArray_NewFromDescr", "Py_DecRef", "Py_IncRef", "PyEval_SaveThread",
    "PyEval_RestoreThread", "PyErr_CheckSignals", "PyErr_NoMemory",
    "Py_GetRecursionLimit", "PyList_Append", "PyList_New", "PyObject_CallObject", "PyList_GetSlice",
    "PyList_Reverse",
)  # fmt: skip


def python(w: Writer, plan: str, name: str) -> str:
    """The address of one of these functions."""
    return w.load(plan, FUNCTIONS + NAMES.index(name), "ptr")


def word(w: Writer, index: object) -> str:
    """A word of the step."""
    return w.load("%c", index)


def array(w: Writer, index: object) -> str:
    """The address of the array that this word names."""
    return w.load("%P", word(w, index), "ptr")


def optional(w: Writer, index: object) -> str:
    """The address of the array that this word names; null where it is -1."""
    number, found = word(w, index), w.variable("ptr", "null")
    with w.when(w.value(f"icmp sge i64 {number}, 0")):
        w.line(f"store ptr {w.load('%P', number, 'ptr')}, ptr {found}")
    return w.value(f"load ptr, ptr {found}")


def runner() -> str:
    """Steps one after the other: c and `end` are where they begin and end."""
    w = Writer("i32", "run", ("ptr %P", "ptr %first", "ptr %end"))
    at = w.variable("ptr", "%first")
    w.label("next")
    c = w.value(f"load ptr, ptr {at}")
    more = w.value(f"icmp ult ptr {c}, %end")
    done = w.value(f"xor i1 {more}, true")
    with w.when(done):
        w.leave("i32 0")
    code = w.call("i32", w.load(c, 0, "ptr"), "ptr %P", f"ptr {c}")
    bad = w.value(f"icmp ne i32 {code}, 0")
    with w.when(bad):
        w.leave(f"i32 {code}")
    w.line(f"store ptr {w.at(c, w.load(c, 1))}, ptr {at}")
    w.line("br label %next")
    return w.text


def over_elements() -> str:
    """An inner loop over all of some operands.

    c: 2 inner loop, 3 its data, or of one over rows how many elements these have, 4 operands, 5 inner size, 6 outer
    dimensions, 7 their sizes' product, 8... their sizes; then for each operand its array, inner step and outer steps.
    """
    w = Writer("i32", "over_elements", PARAMETERS)
    pointers, steps, sizes, places = (w.space(f"[{MOST_OPERANDS} x i64]") for _ in range(4))
    loop, data, count = w.load("%c", 2, "ptr"), w.load("%c", 3, "ptr"), word(w, 4)
    dims, outer = word(w, 6), word(w, 7)
    each = w.add(dims, 2)
    first = w.add(dims, 8)
    w.store(word(w, 5), sizes)
    w.store(word(w, 3), sizes, 1)
    with w.loop(dims) as d:
        w.store(0, places, d)
    with w.loop(count) as k:
        own = w.at("%c", w.add(first, w.times(k, each)))
        w.store(w.load("%P", w.load(own)), pointers, k)
        w.store(w.load(own, 1), steps, k)
    with w.loop(outer):
        w.call("void", loop, f"ptr {pointers}", f"ptr {sizes}", f"ptr {steps}", f"ptr {data}")
        # On to the next place, as a counter with digits goes: the last first, the one before it when that begins anew.
        at = w.variable("i64", w.add(dims, -1))
        w.label("carry")
        d = w.value(f"load i64, ptr {at}")
        with w.when(w.value(f"icmp sge i64 {d}, 0")):
            last = w.add(w.load("%c", w.add(8, d)), -1)
            place = w.load(places, d)
            is_last = w.value(f"icmp eq i64 {place}, {last}")
            w.store(w.value(f"select i1 {is_last}, i64 0, i64 {w.add(place, 1)}"), places, d)
            back = w.value(f"sub i64 0, {last}")
            by = w.value(f"select i1 {is_last}, i64 {back}, i64 1")
            with w.loop(count) as k:
                step = w.load("%c", w.add(w.add(first, w.times(k, each)), w.add(2, d)))
                w.store(w.add(w.load(pointers, k), w.times(by, step)), pointers, k)
            w.line(f"store i64 {w.add(d, -1)}, ptr {at}")
            w.jump(is_last, "carry", "moved")
        w.label("moved")
    w.line("ret i32 0")
    return w.text


def products(type: str) -> str:
    """Matrix products by BLAS: c: 2 gemm, 3... m n k lda ldb ldc as Fortran has them, 9 10 how A and B lie ("N", "T"),
    11 12 13 the arrays A B C, 14 how many, 15... what to go on by from one to the next, in bytes.
    """
    w = Writer("i32", f"products_{type}", PARAMETERS)
    numbers = [w.space("i32", 4) for _ in range(6)]
    for i, space in enumerate(numbers):
        w.line(f"store i32 {w.value(f'trunc i64 {word(w, 3 + i)} to i32')}, ptr {space}")
    m, n, k, lda, ldb, ldc = numbers
    letters = [w.at("%c", 9), w.at("%c", 10)]  # their first byte, as the words are little-endian
    one, zero = w.variable(type, "1.0"), w.variable(type, "0.0")
    gemm = w.load("%c", 2, "ptr")
    a, b, c = (array(w, i) for i in (11, 12, 13))
    with w.loop(word(w, 14)) as number:
        x, y, z = (w.at(p, w.times(number, word(w, 15 + j)), "i8") for j, p in enumerate((a, b, c)))
        given = [*letters, m, n, k, one, x, lda, y, ldb, zero, z, ldc]
        w.call("void", gemm, *[f"ptr {p}" for p in given])
    w.line("ret i32 0")
    return w.text


def own_products() -> str:
    """Matrix products by the function of `gemm` or `gemm_bf16`: c: 2 that, 3... m n k, 6... steps in bytes from row to
    row and from column to column of A, then of B, 10 from row to row of C, 11... the arrays A B C and working memory,
    15 how many, 16... what to go on by from one to the next, in bytes, 19... tables of offsets, and what to add to rows
    and to columns.
    """
    w = Writer("i32", "own_products", PARAMETERS)
    gemm = w.load("%c", 2, "ptr")
    m, n, k, arow, acolumn, brow, bcolumn, crow = (word(w, i) for i in range(3, 11))
    a, b, c, scratch = (array(w, i) for i in range(11, 15))
    tables = [optional(w, i) for i in range(19, 23)]
    with w.loop(word(w, 15)) as number:
        x, y, z = (w.at(p, w.times(number, word(w, 16 + j)), "i8") for j, p in enumerate((a, b, c)))
        of_a, of_b = (f"ptr {x}", f"i64 {arow}", f"i64 {acolumn}"), (f"ptr {y}", f"i64 {brow}", f"i64 {bcolumn}")
        given = [f"i64 {m}", f"i64 {n}", f"i64 {k}", *of_a, *of_b, f"ptr {z}", f"i64 {crow}", f"ptr {scratch}"]
        w.call("i32", gemm, *given, *[f"ptr {t}" for t in tables])
    w.line("ret i32 0")
    return w.text


def packed() -> str:
    """A matrix in the order in which products read it. c: 2 the function, 3 columns, 4 rows, 5 the matrix, 6 and 7 its
    steps from row to row and from column to column, 8 where to.
    """
    w = Writer("i32", "packed", PARAMETERS)
    given = [f"i64 {word(w, 3)}", f"i64 {word(w, 4)}", f"ptr {array(w, 5)}", f"i64 {word(w, 6)}", f"i64 {word(w, 7)}"]
    w.call("void", w.load("%c", 2, "ptr"), *given, f"ptr {array(w, 8)}")
    w.line("ret i32 0")
    return w.text


def _label(w: Writer, labels: str, row: str, classes: str, ignored: str) -> tuple[str, str]:
    """A row's label, 0 where it is to be ignored, and whether it is; one out of range ends the run."""
    label = w.load(labels, row)
    skipped = w.value(f"icmp eq i64 {label}, {ignored}")
    label = w.value(f"select i1 {skipped}, i64 0, i64 {label}")
    with w.when(w.value(f"icmp uge i64 {label}, {classes}")):
        w.leave(f"i32 {REFUSED}")
    return label, skipped


def picked(type: str, size: int) -> str:
    """out[r] = x[r, label[r]], and weight[r] = 1, or 0 where the label is to be ignored.

    c: 2 out, 3 weight, 4 x, 5 labels, 6 rows, 7 classes, 8 the label to ignore.
    """
    w = Writer("i32", f"picked_{type}", PARAMETERS)
    out, weight, x, labels = (array(w, i) for i in (2, 3, 4, 5))
    classes, ignored = word(w, 7), word(w, 8)
    with w.loop(word(w, 6)) as row:
        label, skipped = _label(w, labels, row, classes, ignored)
        w.store(w.load(x, w.add(w.times(row, classes), label), type, size), out, row, type, size)
        w.store(w.value(f"select i1 {skipped}, {type} 0.0, {type} 1.0"), weight, row, type, size)
    w.line("ret i32 0")
    return w.text


def weights(type: str, size: int) -> str:
    """weight[r] as of `picked`. c: 2 weight, 3 labels, 4 rows, 5 classes, 6 the label to ignore."""
    w = Writer("i32", f"weights_{type}", PARAMETERS)
    weight, labels, classes, ignored = array(w, 2), array(w, 3), word(w, 5), word(w, 6)
    with w.loop(word(w, 4)) as row:
        _, skipped = _label(w, labels, row, classes, ignored)
        w.store(w.value(f"select i1 {skipped}, {type} 0.0, {type} 1.0"), weight, row, type, size)
    w.line("ret i32 0")
    return w.text


def lowered(type: str, size: int) -> str:
    """x[r, label[r]] -= by[r]; 0 stands for a label to ignore. c: 2 x, 3 by, 4 labels, 5 rows, 6 classes, 7 ignored."""
    w = Writer("i32", f"lowered_{type}", PARAMETERS)
    x, by, labels, classes, ignored = array(w, 2), array(w, 3), array(w, 4), word(w, 6), word(w, 7)
    with w.loop(word(w, 5)) as row:
        label, _ = _label(w, labels, row, classes, ignored)
        place = w.add(w.times(row, classes), label)
        less = w.value(f"fsub {type} {w.load(x, place, type, size)}, {w.load(by, row, type, size)}")
        w.store(less, x, place, type, size)
    w.line("ret i32 0")
    return w.text


def _blocks(w: Writer, first: object, end: object) -> None:
    """Run steps, and end with them where they fail."""
    code = w.call("i32", "@run", "ptr %P", f"ptr {w.load('%c', first, 'ptr')}", f"ptr {w.load('%c', end, 'ptr')}")
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.leave(f"i32 {code}")


def branch() -> str:
    """One of two blocks. c: 2 what decides, a byte, 3 4 the steps of one block, 5 6 those of the other."""
    w = Writer("i32", "branch", PARAMETERS)
    flag = w.load(array(w, 2), 0, "i8", 1)
    with w.when(w.value(f"icmp ne i8 {flag}, 0")):
        _blocks(w, 3, 4)
        w.leave("i32 0")
    _blocks(w, 5, 6)
    w.line("ret i32 0")
    return w.text


def shared() -> str:
    """Blocks that members of a team run side by side (`team.py`).

    c: 2 `share`, 3 the team, 4 how many blocks, 5... where the steps of each begin and end.
    """
    w = Writer("i32", "shared", PARAMETERS)
    context = w.space("[3 x i64]")
    w.store("%P", context, 0, "ptr")
    w.store("%c", context, 1, "ptr")
    w.store(0, context, 2)
    given = (f"ptr {w.load('%c', 3, 'ptr')}", "ptr @one_of_shared", f"ptr {context}", f"i64 {word(w, 4)}")
    w.call("void", w.load("%c", 2, "ptr"), *given)
    w.line(f"ret i32 {w.value(f'trunc i64 {w.load(context, 2)} to i32')}")
    return w.text


def one_of_shared() -> str:
    """One block of `shared`, whose context is that of the run, its words, and why the run ends."""
    w = Writer("void", "one_of_shared", ("ptr %context", "i64 %part", "i64 %member"))
    c = w.load("%context", 1, "ptr")
    place = w.add(w.times("%part", 2), 5)
    edges = [f"ptr {w.load(c, at, 'ptr')}" for at in (place, w.add(place, 1))]
    code = w.call("i32", "@run", f"ptr {w.load('%context', 0, 'ptr')}", *edges)
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.store(w.value(f"zext i32 {code} to i64"), "%context", 2)
    w.line("ret void")
    return w.text


def while_true() -> str:
    """A loop while a byte is not 0.

    c: 2 the byte, 3 4 the steps that compute it, 5 6 those of the body, 7 the number of iterations so far, 8 where the
    plan and the thread lie.
    """
    w = Writer("i32", "while_true", PARAMETERS)
    count, byte = array(w, 7), array(w, 2)
    w.store(0, count)
    w.label("again")
    _blocks(w, 3, 4)
    over = w.value(f"icmp eq i8 {w.load(byte, 0, 'i8', 1)}, 0")
    with w.when(over):
        w.leave("i32 0")
    _blocks(w, 5, 6)
    _iterated(w, count)
    w.line("br label %again")
    return w.text


def repeat() -> str:
    """A loop of so many iterations. c: 2 how many, an int64, 5 6 7 8 as of `while_true`."""
    w = Writer("i32", "repeat", PARAMETERS)
    count = array(w, 7)
    w.store(0, count)
    with w.loop(w.load(array(w, 2))):
        _blocks(w, 5, 6)
        _iterated(w, count)
    w.line("ret i32 0")
    return w.text


def _iterated(w: Writer, count: str) -> None:
    """One more iteration; now and then the user's Ctrl-C is looked for."""
    code = counted(w, count, lambda: w.call("i32", "@interrupted", "ptr %P", f"i64 {word(w, 8)}"))
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.leave(f"i32 {code}")


def counted(w: Writer, count: str, interrupted: Callable[[], str]) -> str:
    """One more of what is counted; every now and then RAISED if the user has interrupted, else 0."""
    steps, found = w.add(w.load(count), 1), w.space("i32", 4)
    w.store(steps, count)
    w.line(f"store i32 0, ptr {found}")
    with w.when(w.value(f"icmp eq i64 {w.value(f'urem i64 {steps}, {CHECKED}')}, 0")):
        has_raised = w.value(f"icmp ne i32 {interrupted()}, 0")
        w.line(f"store i32 {w.value(f'select i1 {has_raised}, i32 {RAISED}, i32 0')}, ptr {found}")
    return w.load(found, 0, "i32", 4)


def interrupted() -> str:
    """Whether a signal's handler has raised; takes Python's lock for the question where the run goes without."""
    w = Writer("i32", "interrupted", ("ptr %P", "i64 %at"))
    places = w.at("%P", "%at")
    plan, thread = w.load(places, PLAN, "ptr"), w.load(places, THREAD, "ptr")
    is_free = w.value(f"icmp ne ptr {thread}, null")
    with w.when(is_free):
        w.call("void", python(w, plan, "PyEval_RestoreThread"), f"ptr {thread}")
    with w.when(w.value(f"xor i1 {is_free}, true")):  # others may want it
        own = w.call("ptr", python(w, plan, "PyEval_SaveThread"))
        w.call("void", python(w, plan, "PyEval_RestoreThread"), f"ptr {own}")
    code = w.call("i32", python(w, plan, "PyErr_CheckSignals"))
    with w.when(is_free):
        w.store(w.call("ptr", python(w, plan, "PyEval_SaveThread")), places, THREAD, "ptr")
    w.line(f"ret i32 {code}")
    return w.text


def steps() -> dict[str, str]:
    """All functions, by name."""
    types = {"float": 4, "double": 8}
    labelled = {f"{f.__name__}_{t}": f(t, size) for f in (picked, weights, lowered) for t, size in types.items()}
    made = {f.__name__: f() for f in (
        over_elements, own_products, packed, branch, shared, one_of_shared, while_true, repeat, interrupted
    )}  # fmt: skip
    return {"run": runner(), **made, **labelled, **{f"products_{t}": products(t) for t in types}}

"""What Python calls to run a whole program: a built-in function whose `self` is the plan, an array of integers.

It looks whether the arrays it is given are those that the plan is for, makes the results and the arena, runs the steps,
and returns the results in a tuple; None where another plan or the interpreter has to do it. It reads the fields of
arrays where NumPy's C interface has them since NumPy 1; `objects.layout_is_known` asks once whether that is true here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ops.control_flow import DEPTH_FACTOR
from . import steps as program_steps
from .column_steps import column_steps
from .frames import frame_steps
from .host_steps import host_steps
from .inner_loops import inner_loops
from .kept import kept_steps
from .list_steps import list_steps
from .native import loaded
from .norm_steps import DECLARATIONS as _OF_NORMS
from .norm_steps import norm_steps
from .objects import DATA, DESCR, DIMS, FASTCALL, FLAGS, ITEMS, NDIM, STRIDES, TYPE, address_of, bound, method_at
from .order_steps import order_steps
from .pool_steps import pool_steps
from .random_steps import random_steps
from .steps import ARRAY_TYPE, FUNCTIONS, NAMES, RAISED, STATE_WORDS, python
from .table_steps import table_steps
from .vectors import DECLARATIONS as _OF_VECTORS
from .window_steps import window_steps
from .winograd_steps import winograd_steps
from .writer import Writer

# Words at the plan's head.
(
    N_INPUTS, N_OUTPUTS, BYTES, N_POINTERS, N_DERIVED, DERIVED, CODE, END, IS_FREE, INPUTS, OUTPUTS, _ARRAY_TYPE,
    RUNNER, HAS_OBJECTS
) = range(14)  # fmt: skip
HEAD = FUNCTIONS + len(NAMES)
# Words for each input: dtype, dimensions, where the sizes and steps lie, flags; and for each result. Frames, which are
# tuples, have no dtype.
EACH = 5
ALIGNMENT = 64


def _field(w: Writer, object: str, offset: int, type: str = "ptr") -> str:
    return w.load(w.at(object, offset, "i8"), 0, type, 4 if type == "i32" else 8)


def _fits(w: Writer, array: str, wanted: str, array_type: str) -> None:
    """Return None unless this is an array of the dtype, sizes, steps and flags of an entry."""

    def need(condition: str) -> None:
        with w.when(w.value(f"xor i1 {condition}, true")):
            _return_none(w)

    need(w.value(f"icmp eq ptr {_field(w, array, TYPE)}, {array_type}"))
    need(w.value(f"icmp eq ptr {_field(w, array, DESCR)}, {w.load(wanted, 0, 'ptr')}"))
    ndim = w.value(f"zext i32 {_field(w, array, NDIM, 'i32')} to i64")
    need(w.value(f"icmp eq i64 {ndim}, {w.load(wanted, 1)}"))
    wanted_flags = w.value(f"trunc i64 {w.load(wanted, 4)} to i32")
    flags = w.value(f"and i32 {_field(w, array, FLAGS, 'i32')}, {wanted_flags}")
    need(w.value(f"icmp eq i32 {flags}, {wanted_flags}"))
    for offset, index in ((DIMS, 2), (STRIDES, 3)):
        found, expected = _field(w, array, offset), w.load(wanted, index, "ptr")
        with w.loop(ndim) as d:
            need(w.value(f"icmp eq i64 {w.load(found, d)}, {w.load(expected, d)}"))


def _return_none(w: Writer) -> None:
    none = w.value("load ptr, ptr %none")
    w.call("void", python(w, "%plan", "Py_IncRef"), f"ptr {none}")
    w.leave(f"ptr {none}")


def _call() -> str:
    w = Writer("ptr", "call", ("ptr %self", "ptr %arguments", "i64 %count"))
    w.line(f"%plan.at = getelementptr i8, ptr %self, i64 {DATA}")
    w.line("%plan = load ptr, ptr %plan.at")
    w.line(f"%none = getelementptr i64, ptr %plan, i64 {HEAD}")
    with w.when(w.value(f"icmp ne i64 %count, {w.load('%plan', N_INPUTS)}")):
        _return_none(w)
    array_type, inputs = w.load("%plan", ARRAY_TYPE, "ptr"), w.load("%plan", INPUTS, "ptr")
    with w.loop("%count") as i:
        given, wanted = w.load("%arguments", i, "ptr"), w.at(inputs, w.times(i, EACH))
        is_array = w.value(f"icmp ne i64 {w.load(wanted)}, 0")
        with w.when(is_array):
            _fits(w, given, wanted, array_type)
        is_other = w.value(f"icmp ne ptr {_field(w, given, TYPE)}, {w.load(wanted, 1, 'ptr')}")
        with w.when(w.value(f"select i1 {is_array}, i1 false, i1 {is_other}")):
            _return_none(w)
    size = w.add(w.load("%plan", BYTES), ALIGNMENT)
    memory = w.call("ptr", python(w, "%plan", "malloc"), f"i64 {size}")
    with w.when(w.value(f"icmp eq ptr {memory}, null")):
        _return_none(w)
    start = w.value(f"and i64 {w.add(w.value(f'ptrtoint ptr {memory} to i64'), ALIGNMENT - 1)}, {-ALIGNMENT}")
    pointers = w.value(f"inttoptr i64 {start} to ptr")
    with w.loop("%count") as i:
        given = w.load("%arguments", i, "ptr")
        at = w.variable("ptr", w.at("%arguments", i, "ptr"))  # where the address of a frame is
        with w.when(w.value(f"icmp ne i64 {w.load(inputs, w.times(i, EACH))}, 0")):
            w.line(f"store ptr {_field(w, given, DATA)}, ptr {at}")
        w.store(w.value(f"load ptr, ptr {at}"), pointers, i, "ptr")
    results = _made(w, pointers, memory)
    state = _addresses(w, pointers, start)
    w.store(results, state, program_steps.RESULTS, "ptr")
    w.store("null", state, program_steps.HELD, "ptr")
    with w.when(w.value(f"icmp ne i64 {w.load('%plan', HAS_OBJECTS)}, 0")):
        held = w.call("ptr", python(w, "%plan", "PyList_New"), "i64 0")
        w.store(held, state, program_steps.HELD, "ptr")
        with w.when(w.value(f"icmp eq ptr {held}, null")):
            w.call("void", python(w, "%plan", "Py_DecRef"), f"ptr {results}")
            w.call("void", python(w, "%plan", "free"), f"ptr {memory}")
            w.leave("ptr null")
    _run(w, pointers, state, memory, results)
    w.line(f"ret ptr {results}")
    return w.text


def _made(w: Writer, pointers: str, memory: str) -> str:
    """A tuple of new arrays for the results; frames come later."""
    count, specs = w.load("%plan", N_OUTPUTS), w.load("%plan", OUTPUTS, "ptr")
    results = w.call("ptr", python(w, "%plan", "PyTuple_New"), f"i64 {count}")
    with w.when(w.value(f"icmp eq ptr {results}, null")):
        w.call("void", python(w, "%plan", "free"), f"ptr {memory}")
        w.leave("ptr null")
    with w.loop(count) as i, w.when(w.value(f"icmp ne i64 {w.load(specs, w.times(i, EACH))}, 0")):
        spec = w.at(specs, w.times(i, EACH))
        descr = w.load(spec, 0, "ptr")
        w.call("void", python(w, "%plan", "Py_IncRef"), f"ptr {descr}")
        ndim = w.value(f"trunc i64 {w.load(spec, 1)} to i32")
        array = w.call(
            "ptr", python(w, "%plan", "PyArray_NewFromDescr"), f"ptr {w.load('%plan', ARRAY_TYPE, 'ptr')}",
            f"ptr {descr}", f"i32 {ndim}", f"ptr {w.load(spec, 2, 'ptr')}", f"ptr {w.load(spec, 3, 'ptr')}", "ptr null",
            "i32 0", "ptr null",
        )  # fmt: skip
        with w.when(w.value(f"icmp eq ptr {array}, null")):
            w.call("void", python(w, "%plan", "Py_DecRef"), f"ptr {results}")
            w.call("void", python(w, "%plan", "free"), f"ptr {memory}")
            w.leave("ptr null")
        w.store(array, w.at(results, ITEMS, "i8"), i, "ptr")
        w.store(_field(w, array, DATA), pointers, w.add("%count", i), "ptr")
    return results


def _addresses(w: Writer, pointers: str, start: str) -> str:
    """Fill in what the addresses of all other arrays are; where the plan and the thread lie among them."""
    base = w.add("%count", w.load("%plan", N_OUTPUTS))
    room = w.times(w.load("%plan", N_POINTERS), 8)
    arena = w.value(f"and i64 {w.add(w.add(start, room), ALIGNMENT - 1)}, {-ALIGNMENT}")
    w.store(arena, pointers, base)
    w.store(0, pointers, w.add(base, 1))
    state = w.at(pointers, w.add(base, 2))
    w.store("%plan", state, program_steps.PLAN, "ptr")
    w.store("null", state, program_steps.THREAD, "ptr")
    own_limit = w.value(f"sext i32 {w.call('i32', python(w, '%plan', 'Py_GetRecursionLimit'))} to i64")
    w.store(w.times(own_limit, DEPTH_FACTOR), state, program_steps.LIMIT)
    derived, first = w.load("%plan", DERIVED, "ptr"), w.add(base, 2 + STATE_WORDS)
    with w.loop(w.load("%plan", N_DERIVED)) as i:
        pair = w.at(derived, w.times(i, 2))
        w.store(w.add(w.load(pointers, w.load(pair)), w.load(pair, 1)), pointers, w.add(first, i))
    return state


def _run(w: Writer, pointers: str, state: str, memory: str, results: str) -> None:
    """Run the steps, and give up the arena; return here where they failed."""
    is_free = w.value(f"icmp ne i64 {w.load('%plan', IS_FREE)}, 0")
    with w.when(is_free):
        w.store(w.call("ptr", python(w, "%plan", "PyEval_SaveThread")), state, program_steps.THREAD, "ptr")
    first, end = w.load("%plan", CODE, "ptr"), w.load("%plan", END, "ptr")
    runner = w.load("%plan", RUNNER, "ptr")
    code = w.call("i32", runner, f"ptr {pointers}", f"ptr {first}", f"ptr {end}")
    with w.when(is_free):
        w.call("void", python(w, "%plan", "PyEval_RestoreThread"), f"ptr {w.load(state, program_steps.THREAD, 'ptr')}")
    held = w.load(state, program_steps.HELD, "ptr")
    w.call("void", python(w, "%plan", "free"), f"ptr {memory}")
    with w.when(w.value(f"icmp ne ptr {held}, null")):
        w.call("void", python(w, "%plan", "Py_DecRef"), f"ptr {held}")
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.call("void", python(w, "%plan", "Py_DecRef"), f"ptr {results}")
        with w.when(w.value(f"icmp eq i32 {code}, {RAISED}")):
            w.leave("ptr null")
        _return_none(w)


_DECLARED = (
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    *_OF_VECTORS,
    *_OF_NORMS,
)


_NAMED = re.compile(r"@(\w+)")
# What nearly every program runs is compiled together, the other parts each when a program first needs it: all of them
# take as long to compile as fifteen groups do.
_TOGETHER = ("call", "copy4", "over_elements", "own_products", "packed", "run")


# Families of fixed parts, the common ones first: what is asked for only rarely is written only when it is.
_FAMILIES: tuple[Callable[[], dict[str, str]], ...] = (
    lambda: {"call": _call()}, program_steps.steps, inner_loops, table_steps, random_steps, window_steps,
    winograd_steps, pool_steps, norm_steps, column_steps, order_steps, frame_steps, kept_steps,
    host_steps, list_steps,
)  # fmt: skip


@functools.lru_cache(maxsize=len(_FAMILIES))
def _family(number: int) -> dict[str, str]:
    return _FAMILIES[number]()


def texts() -> dict[str, str]:
    """The fixed parts by name: functions that serve all programs."""
    return {name: text for number in range(len(_FAMILIES)) for name, text in _family(number).items()}


def _text(name: str) -> str | None:
    """A fixed part; None for a name of none."""
    if name == "llvm":  # what its instructions' names begin with
        return None
    return next((own[name] for own in map(_family, range(len(_FAMILIES))) if name in own), None)


def part(name: str) -> int:
    """The address of a fixed part, compiled once for all programs. Raises KeyError for a name of none."""
    return _compiled(_TOGETHER if name in _TOGETHER else (name,))[name]


@functools.lru_cache(maxsize=1024)
def may_refuse(name: str) -> bool:
    """Whether a fixed part may leave a run to the interpreter, by itself: what it runs is looked at by others."""
    text = _text(name)
    return text is not None and f"ret i32 {program_steps.REFUSED}\n" in text


@functools.lru_cache(maxsize=128)
def _compiled(names: tuple[str, ...]) -> Mapping[str, int]:
    """The addresses of some parts, compiled together with those that they name."""
    needed: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        text = _text(name)
        if text is None:
            if name in names:
                raise KeyError(name)
        elif name not in needed:
            needed[name] = text
            waiting += _NAMED.findall(text)
    return loaded("\n\n".join([*needed.values(), *_DECLARED]), names).addresses


@functools.lru_cache(maxsize=1)
def functions() -> list[int]:
    """The addresses of the functions of Python's and NumPy's that the plan names."""
    return [address_of(name) for name in NAMES]


def function_of(plan: np.ndarray[Any, Any]) -> Any:
    """The built-in function that runs a plan, which it keeps alive."""
    return bound(method_at(part("call"), FASTCALL, b"whole_program"), plan)

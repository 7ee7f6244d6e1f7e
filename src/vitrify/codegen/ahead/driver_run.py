"""The run of a program that has a driver: its slots, its instructions, and where its results go."""

from __future__ import annotations

from .abi import ARRAY_DTYPE, ARRAY_NDIM, ARRAY_SHAPE, ARRAY_SIZE, MEMORY, ROOM
from .driver_steps import slot_at
from .interface import (
    DRIVE,
    DTYPE,
    EACH,
    FRAME,
    N_OUTPUTS,
    NDIM,
    OUTPUTS,
    RESULTS,
    SHOWN,
    SLOTS,
    Function,
    Strings,
    checked_run,
)


def _known(strings: Strings) -> str:
    """What is known of the results before a run: -1 for sizes that only the run knows."""
    w = Function(strings, "void", "drive.known", ("ptr %model", "ptr %outputs"))
    specs = w.load("%model", OUTPUTS, "ptr")
    with w.loop(w.load("%model", N_OUTPUTS)) as i:
        spec, array = w.at(specs, w.times(i, EACH)), w.at("%outputs", w.times(i, ARRAY_SIZE), "i8")
        w.set_field(w.load(spec, DTYPE), array, ARRAY_DTYPE)
        w.set_field(w.load(spec, NDIM), array, ARRAY_NDIM)
        with w.loop(w.load(spec, NDIM)) as d:
            w.store(w.load(w.load(spec, SHOWN, "ptr"), d), w.at(array, ARRAY_SHAPE, "i8"), d)
    w.line("ret void")
    return w.text


def _given(strings: Strings) -> str:
    """Put the results where the caller wants them: into memory of his, or, where he gives none, into new one."""
    w = Function(strings, "i32", "drive.given", ("ptr %model", "ptr %f", "ptr %outputs"))
    count, places = w.load("%model", N_OUTPUTS), w.load("%model", RESULTS, "ptr")
    with w.loop(count) as i:  # first whether there is room for all
        array, slot = w.at("%outputs", w.times(i, ARRAY_SIZE), "i8"), slot_at(w, "%f", w.load(places, i))
        for at, type in ((ARRAY_DTYPE, "i32"), (ARRAY_NDIM, "i32")):
            w.set_field(w.field(slot, at, type), array, at)
        with w.loop(w.field(slot, ARRAY_NDIM, "i32")) as d:
            w.store(w.load(w.at(slot, ARRAY_SHAPE, "i8"), d), w.at(array, ARRAY_SHAPE, "i8"), d)
        is_given = w.value(f"icmp ne ptr {w.load(array, 0, 'ptr')}, null")
        has, size = w.load(array, 1), w.load(slot, 1)
        is_short = w.value(f"icmp slt i64 {has}, {size}")
        with w.when(w.value(f"and i1 {is_given}, {is_short}")):
            w.fail(ROOM, "output %lld: takes %lld bytes, has room for %lld", f"i64 {i}", f"i64 {size}", f"i64 {has}")
    with w.loop(count) as i:
        array, slot = w.at("%outputs", w.times(i, ARRAY_SIZE), "i8"), slot_at(w, "%f", w.load(places, i))
        size = w.load(slot, 1)
        with w.when(w.value(f"icmp eq ptr {w.load(array, 0, 'ptr')}, null")):
            room = w.call("ptr", "@malloc", f"i64 {w.add(size, 1)}")
            w.need(w.value(f"icmp ne ptr {room}, null"), MEMORY, "there is no memory for %lld bytes", f"i64 {size}")
            w.store(room, array, 0, "ptr")
            w.store(size, array, 1)
        to, source = w.load(array, 0, "ptr"), w.load(slot, 0, "ptr")
        w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {to}", f"ptr {source}", f"i64 {size}", "i1 0")
    w.line("ret i32 0")
    return w.text


def _follow(strings: Strings) -> str:
    """Follow the instructions to their end."""
    w = Function(strings, "i32", "drive.follow", ("ptr %model", "ptr %f"))
    code, place = w.load("%model", DRIVE, "ptr"), w.variable("i64", 0)
    w.label("next")
    at = w.value(f"load i64, ptr {place}")
    here = w.at(code, at)
    function = w.load(here, 0, "ptr")
    with w.when(w.value(f"icmp eq ptr {function}, null")):
        w.leave("i32 0")
    found = w.call("i64", function, "ptr %f", f"ptr {here}")
    with w.when(w.value(f"icmp slt i64 {found}, 0")):
        w.leave(_negative(w, found))
    after = w.add(at, w.load(here, 1))
    w.line(f"store i64 {w.value(f'select i1 {_is_zero(w, found)}, i64 {after}, i64 {found}')}, ptr {place}")
    w.line("br label %next")
    return w.text


def _is_zero(w: Function, x: str) -> str:
    return w.value(f"icmp eq i64 {x}, 0")


def _negative(w: Function, x: str) -> str:
    minus = w.value(f"sub i64 0, {x}")
    return f"i32 {w.value(f'trunc i64 {minus} to i32')}"


def _run(strings: Strings) -> str:
    w, _ = checked_run(strings, "drive.run")
    with w.when("%asks"):
        w.call("void", "@drive.known", "ptr %model", "ptr %outputs")
        w.leave("i32 0")
    size = w.load("%model", FRAME)
    frame = w.call("ptr", "@malloc", f"i64 {size}")
    w.need(w.value(f"icmp ne ptr {frame}, null"), MEMORY, "there is no memory for %lld bytes", f"i64 {size}")
    w.call("void", "@llvm.memset.p0.i64", f"ptr {frame}", "i8 0", f"i64 {size}", "i1 0")
    with w.loop("%n_inputs") as i:
        array = w.at("%inputs", w.times(i, ARRAY_SIZE), "i8")
        w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {slot_at(w, frame, i)}", f"ptr {array}", f"i64 {ARRAY_SIZE}",
               "i1 0")  # fmt: skip
    ended = w.variable("i32", w.call("i32", "@drive.follow", "ptr %model", f"ptr {frame}"))
    with w.when(w.value(f"icmp eq i32 {w.value(f'load i32, ptr {ended}')}, 0")):
        given = w.call("i32", "@drive.given", "ptr %model", f"ptr {frame}", "ptr %outputs")
        w.line(f"store i32 {given}, ptr {ended}")
    with w.loop(w.load("%model", SLOTS)) as i:
        w.call("void", "@drive.release", f"ptr {slot_at(w, frame, i)}")
    w.call("void", "@free", f"ptr {frame}")
    w.line(f"ret i32 {w.value(f'load i32, ptr {ended}')}")
    return w.text


def driver_run_ir(strings: Strings) -> list[str]:
    """These functions."""
    return ["declare ptr @malloc(i64)", *[f(strings) for f in (_known, _given, _follow, _run)]]

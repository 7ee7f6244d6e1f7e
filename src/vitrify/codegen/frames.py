"""The steps of programs that call functions, without any recursion of machine code: each call has a frame on the heap.

Blocks that call functions are no steps of their own here, as those of `steps.py` are: their steps stand in line, with
jumps between them (`flat.py`). So one loop runs all steps of all calls, and what a deep recursion needs are frames,
not the stack of a thread, which may be short.
"""

from __future__ import annotations

from .arena import ALIGNMENT
from .steps import LIMIT, PARAMETERS, PLAN, RAISED, REFUSED, STATE_WORDS, array, counted, python, word
from .writer import Writer

JUMP, ENTER = 3, 4
"""What steps return beside what those of all programs do: go on at the address in c[2]; call the function of c[2]."""
# Of a function, in the plan: the bytes of its frames, how many addresses are in each and how many of them are computed
# from others, how, where its steps begin and end, and how many arrays it takes and gives.
RECORD = BYTES, N_POINTERS, N_DERIVED, DERIVED, CODE, END, N_ARRAYS = range(7)
# At the beginning of a frame: the caller's addresses, its next step and its last, the frame that it has; the plan.
_POINTERS, _NEXT, _END, _FRAME, _PLAN = range(5)
_HEAD = 5
# Words of a call: the function's record, where the state lies among the caller's addresses, what raises if it is too
# deep, or 0 if the interpreter does, then its arrays.
_RECORD, _STATE, _DEEP, _ARRAYS = 2, 3, 4, 5


def frame_bytes(n_pointers: int, arena: int) -> int:
    """What a frame of so many addresses and such an arena takes."""
    return 8 * (_HEAD + n_pointers) + arena + ALIGNMENT


class _Run:
    """The variables of a run: whose steps are run now, and how deep it is in calls."""

    def __init__(self, w: Writer) -> None:
        self.pointers, self.at, self.end = (w.variable("ptr", p) for p in ("%P", "%first", "%last"))
        self.frame = w.variable("ptr", "null")
        self.depth, self.calls = w.variable("i64", 0), w.variable("i64", 0)

    def returns_to(self) -> list[tuple[str, int]]:
        """The variables that a frame keeps for the caller, and where."""
        return [(self.pointers, _POINTERS), (self.at, _NEXT), (self.end, _END), (self.frame, _FRAME)]


def _frames() -> str:
    """Steps one after the other, and those of functions that they call: `%first` and `%last` are where they lie."""
    w = Writer("i32", "frames", ("ptr %P", "ptr %first", "ptr %last"))
    run = _Run(w)
    w.label("next")
    c, p, end, frame = (w.value(f"load ptr, ptr {v}") for v in (run.at, run.pointers, run.end, run.frame))
    with w.when(w.value(f"icmp uge ptr {c}, {end}")):
        with w.when(w.value(f"icmp eq ptr {frame}, null")):
            w.leave("i32 0")
        for variable, index in run.returns_to():
            w.line(f"store ptr {w.load(frame, index, 'ptr')}, ptr {variable}")
        w.store(w.add(w.load(run.depth), -1), run.depth)
        _free(w, frame)
        w.go("next")
    code = w.call("i32", w.load(c, 0, "ptr"), f"ptr {p}", f"ptr {c}")
    behind = w.at(c, w.load(c, 1))
    with w.when(w.value(f"icmp eq i32 {code}, 0")):
        w.line(f"store ptr {behind}, ptr {run.at}")
        w.go("next")
    with w.when(w.value(f"icmp eq i32 {code}, {JUMP}")):
        w.line(f"store ptr {w.load(c, 2, 'ptr')}, ptr {run.at}")
        w.go("next")
    why = w.variable("i32", code)
    with w.when(w.value(f"icmp eq i32 {code}, {ENTER}")):
        _enter(w, run, (p, c, behind, end, frame), why)
    _give_up(w, run)
    w.line(f"ret i32 {w.load(why, 0, 'i32', 4)}")
    return w.text


def _enter(w: Writer, run: _Run, caller: tuple[str, str, str, str, str], why: str) -> None:
    """Go on in a frame for the function that a step calls; else behind this, where `why` says what is wrong."""
    p, c, behind, end, frame = caller
    state, record = w.at(p, w.load(c, _STATE)), w.load(c, _RECORD, "ptr")
    plan, depth = w.load(state, PLAN, "ptr"), w.add(w.load(run.depth), 1)
    checked = counted(w, run.calls, lambda: w.call("i32", "@interrupted", f"ptr {p}", f"i64 {w.load(c, _STATE)}"))
    w.line(f"store i32 {checked}, ptr {why}")
    with w.when(w.value(f"icmp eq i32 {checked}, 0")):
        deep = w.load(c, _DEEP, "ptr")
        raises = w.value(f"icmp ne ptr {deep}, null")
        w.line(f"store i32 {w.value(f'select i1 {raises}, i32 {RAISED}, i32 {REFUSED}')}, ptr {why}")
        with w.when(w.value(f"icmp sle i64 {depth}, {w.load(state, LIMIT)}")):
            own = w.call("ptr", python(w, plan, "malloc"), f"i64 {w.load(record, BYTES)}")
            with w.when(w.value(f"icmp ne ptr {own}, null")):
                for value, index in ((p, _POINTERS), (behind, _NEXT), (end, _END), (frame, _FRAME), (plan, _PLAN)):
                    w.store(value, own, index, "ptr")
                pointers = w.at(own, _HEAD)
                _fill(w, (p, c, state), record, pointers)
                first, last = w.load(record, CODE, "ptr"), w.load(record, END, "ptr")
                for value, variable in zip((pointers, first, last, own), (v for v, _ in run.returns_to())):
                    w.line(f"store ptr {value}, ptr {variable}")
                w.store(depth, run.depth)
                w.go("next")
            with w.when(raises):
                w.call("ptr", python(w, plan, "PyErr_NoMemory"))
                w.go("freeing")
        with w.when(raises):
            w.call("ptr", python(w, plan, "PyObject_CallObject"), f"ptr {deep}", "ptr null")


def _fill(w: Writer, caller: tuple[str, str, str], record: str, pointers: str) -> None:
    """The addresses of a call: those of the arrays that it is given and gives, its arena, the state, and others."""
    p, c, state = caller
    count = w.load(record, N_ARRAYS)
    with w.loop(count) as i:
        w.store(w.load(p, w.load(c, w.add(i, _ARRAYS))), pointers, i)
    behind = w.value(f"ptrtoint ptr {w.at(pointers, w.load(record, N_POINTERS))} to i64")
    w.store(w.rounded_up(behind, ALIGNMENT), pointers, count)
    w.store(0, pointers, w.add(count, 1))
    own_state = w.at(pointers, w.add(count, 2))
    for number in range(STATE_WORDS):
        w.store(w.load(state, number), own_state, number)
    derived, first = w.load(record, DERIVED, "ptr"), w.add(count, 2 + STATE_WORDS)
    with w.loop(w.load(record, N_DERIVED)) as i:
        pair = w.at(derived, w.times(i, 2))
        w.store(w.add(w.load(pointers, w.load(pair)), w.load(pair, 1)), pointers, w.add(first, i))


def _give_up(w: Writer, run: _Run) -> None:
    """Free all frames."""
    w.label("freeing")
    frame = w.value(f"load ptr, ptr {run.frame}")
    with w.when(w.value(f"icmp ne ptr {frame}, null")):
        w.line(f"store ptr {w.load(frame, _FRAME, 'ptr')}, ptr {run.frame}")
        _free(w, frame)
        w.go("freeing")


def _free(w: Writer, frame: str) -> None:
    w.call("void", python(w, w.load(frame, _PLAN, "ptr"), "free"), f"ptr {frame}")


def _enters() -> str:
    """A call of a function: c as `_RECORD` and what follows say."""
    w = Writer("i32", "enter", PARAMETERS)
    w.line(f"ret i32 {ENTER}")
    return w.text


def _jump() -> str:
    """Go on elsewhere. c: 2 where."""
    w = Writer("i32", "jump", PARAMETERS)
    w.line(f"ret i32 {JUMP}")
    return w.text


def _jump_unless() -> str:
    """Go on elsewhere if a byte is 0. c: 2 where, 3 the byte."""
    w = Writer("i32", "jump_unless", PARAMETERS)
    is_zero = w.value(f"icmp eq i8 {w.load(array(w, 3), 0, 'i8', 1)}, 0")
    w.line(f"ret i32 {w.value(f'select i1 {is_zero}, i32 {JUMP}, i32 0')}")
    return w.text


def _begun() -> str:
    """The beginning of a loop. c: 2 the number of iterations so far."""
    w = Writer("i32", "begun", PARAMETERS)
    w.store(0, array(w, 2))
    w.line("ret i32 0")
    return w.text


def _jump_after() -> str:
    """Go on elsewhere after so many iterations. c: 2 where, 3 how many there are, 4 how many there were, int64s."""
    w = Writer("i32", "jump_after", PARAMETERS)
    is_over = w.value(f"icmp sge i64 {w.load(array(w, 4))}, {w.load(array(w, 3))}")
    w.line(f"ret i32 {w.value(f'select i1 {is_over}, i32 {JUMP}, i32 0')}")
    return w.text


def _again() -> str:
    """The end of an iteration. c: 2 where the loop goes on, 3 the number of iterations so far, 4 where the state is."""
    w = Writer("i32", "again", PARAMETERS)
    code = counted(w, array(w, 3), lambda: w.call("i32", "@interrupted", "ptr %P", f"i64 {word(w, 4)}"))
    with w.when(w.value(f"icmp ne i32 {code}, 0")):
        w.leave(f"i32 {code}")
    w.line(f"ret i32 {JUMP}")
    return w.text


def frame_steps() -> dict[str, str]:
    """All functions, by name."""
    return {
        "frames": _frames(), "enter": _enters(), "jump": _jump(), "jump_unless": _jump_unless(), "begun": _begun(),
        "jump_after": _jump_after(), "again": _again(),
    }  # fmt: skip


__all__ = ["RECORD", "frame_bytes", "frame_steps"]

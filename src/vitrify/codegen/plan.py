"""From steps to a plan: an array of integers that says all that a run needs to know.

Its parts: a head (`entry`), what the inputs and results must be, which addresses are those of arenas and numbers plus
so much, the steps' words, the numbers. Addresses are those of the array itself, which stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import entry
from .arena import padded, placed
from .assembler import Assembler
from .calls import LARGE_FRAME, NativeFunction
from .draws import counting, drawing
from .errors import NoNativeForm
from .frames import RECORD, frame_bytes
from .kept import dtype_address
from .layout import Layout
from .llvm import host
from .objects import ALIGNED, WRITABLE
from .operands import ARENA, Buffer, Frame, Maybe, Operand, Step, all_steps
from .results import is_object, results_of_program
from .sharing import SHARED
from .steps import BRANCH, FUNCTIONS
from .whole_vectors import fill_vectors

# Bytes that steps write from which on a run lets other threads of Python's run: some ten microseconds of work.
_LONG = 1 << 17


@dataclass(frozen=True)
class Planned:
    """A plan: its function, which draws random numbers by itself, the bytes of its arena and of all results, how many
    steps it has, and whether it does more than giving arrays.
    """

    function: Any
    arena: int
    results: int
    steps: int
    has_others: bool = False


def plan_of(assembler: Assembler, inputs: Sequence[Operand], outputs: Sequence[Any]) -> Planned:
    """The plan of the steps collected, for these inputs, giving these outputs."""
    draws = assembler.words or assembler.counted is not None
    if draws and assembler.key is not None:
        inputs = [*inputs, assembler.key]
    results = results_of_program(assembler, outputs)
    program = _placed(assembler, assembler.steps, len(inputs), len(results))
    functions = {f: _placed(assembler, f.steps, len(f.inputs), len(f.outputs)) for f in assembler.functions}
    if any(8 * frame.n_pointers + frame.arena > LARGE_FRAME for frame in functions.values()):
        raise NoNativeForm("a call needs much memory")
    flags = [WRITABLE if x.buffer in assembler.written else ALIGNED for x in inputs]
    is_free = (assembler.has_loops or assembler.bytes >= _LONG) and not assembler.has_objects
    plan = _array(program, functions, list(zip(inputs, flags)), results, is_free, assembler.has_objects)
    size = sum(r.size * r.dtype.itemsize for r in results if not is_object(r))
    plan.objects = assembler.objects
    function = entry.function_of(plan)
    if draws and assembler.calls_host:
        raise NoNativeForm("Python may draw random numbers between those of the program")
    if assembler.counted is not None:
        function = counting(function)
    elif draws:
        function = drawing(function, assembler.words)
    count = sum(len(list(all_steps(steps))) for steps in (assembler.steps, *[f.steps for f in functions]))
    has_others = assembler.calls_host or any(x is None or is_object(x) or isinstance(x, Maybe) for x in outputs)
    return Planned(function, program.arena, size, count, has_others)


def _placed(assembler: Assembler, steps: list[Step], n_inputs: int, n_outputs: int) -> Layout:
    """Where the arrays and words lie of a program or of a function."""
    arena = _place(steps)
    fill_vectors(all_steps(steps), assembler.part("loop"), host().lanes)
    return Layout(steps, n_inputs, n_outputs, arena)


def _place(steps: Sequence[Step]) -> int:
    """Give arrays in the arena their offsets; the arena's size."""
    lives = lives_of(steps)
    buffers = [b for b in lives if b.kind == ARENA]
    offsets, total = placed([(lives[b][0], lives[b][1], b.size) for b in buffers])
    for buffer, offset in zip(buffers, offsets):
        buffer.number = offset
    return total


def lives_of(steps: Sequence[Step]) -> dict[Buffer, list[int]]:
    """The first and last step that uses each buffer."""
    lives: dict[Buffer, list[int]] = {}
    _live(steps, lives, 0)
    return lives


def _live(steps: Sequence[Step], lives: dict[Buffer, list[int]], at: int) -> int:
    """Note at which steps each buffer is used first and last; what a loop finds made it keeps until it ends. Of the
    blocks of a branch one runs alone: what only the first of them reads leaves its memory to the second.
    """
    for step in steps:
        first = at
        for block in step.blocks:
            at = _live(block, lives, at)
        for buffer in step.touched:
            lives.setdefault(buffer, [first, at])[1] = at
        if step.function == SHARED:  # all blocks run at a time
            for life in lives.values():
                if life[1] >= first:
                    life[:] = [min(life[0], first), at]
        elif step.blocks and step.function != BRANCH:
            for life in lives.values():
                if life[0] < first <= life[1] or any(lives.get(b) is life for b in step.touched):
                    life[:] = [min(life[0], first), at]
        at += 1
    return at


def _array(
    program: Layout, functions: Mapping[NativeFunction, Layout], inputs: Sequence[tuple[Operand, int]],
    results: Sequence[Operand], is_free: bool, has_objects: bool,
) -> Any:  # fmt: skip
    """All words, with addresses filled in; each input with the flags that it must have."""
    parts = _Parts(entry.HEAD + 1)
    frames = [program, *functions.values()]
    codes = [parts.add([0] * len(frame.words)) for frame in frames]
    held = dict.fromkeys(key.number for frame in frames for key in frame.derived if key.number)
    numbers = {number: parts.add(_as_words(number)) for number in held}
    given = [parts.add([*x.shape, *x.strides]) for x, _ in inputs]
    made = [parts.add([*x.shape, *x.strides]) for x in results]
    specs_in, specs_out = parts.add([0] * (entry.EACH * len(inputs))), parts.add([0] * (entry.EACH * len(results)))
    pairs = [parts.add([0] * (2 * len(frame.derived))) for frame in frames]
    records = {f: parts.add([0] * len(RECORD)) for f in functions}
    plan = np.array(parts.words, np.int64).view(_Plan)
    start = plan.ctypes.data

    def at(index: int) -> int:
        return start + 8 * index

    places = {f: at(record) for f, record in records.items()}
    for frame, code, first in zip(frames, codes, pairs):
        plan[code : code + len(frame.words)] = frame.filled(at(code), places)
        for i, (base, offset, number) in enumerate(frame.derived):
            plan[first + 2 * i : first + 2 * i + 2] = [base, offset + (at(numbers[number]) if number else 0)]
    for (function, frame), code, first in zip(functions.items(), codes[1:], pairs[1:]):
        n_pointers, (begin, end), record = frame.n_pointers, frame.code, records[function]
        plan[record : record + len(RECORD)] = [
            frame_bytes(n_pointers, frame.arena), n_pointers, len(frame.derived), at(first), at(code + begin),
            at(code + end), frame.n_arrays,
        ]  # fmt: skip
    for i, ((x, flags), place) in enumerate(zip(inputs, given)):
        first = specs_in + entry.EACH * i
        own = [0, id(list if x.is_list else tuple)] if isinstance(x, Frame) else [dtype_address(x), x.ndim]
        plan[first : first + entry.EACH] = [*own, at(place), at(place + x.ndim), flags]
    for i, (x, place) in enumerate(zip(results, made)):
        first = specs_out + entry.EACH * i
        steps = 0 if x.is_contiguous else at(place + x.ndim)  # null: elements in their order
        descr = 0 if is_object(x) else dtype_address(x)
        plan[first : first + entry.EACH - 1] = [descr, x.ndim, at(place), steps]
    n_pointers, code = program.n_pointers, codes[0]
    plan[: entry.HEAD + 1] = [
        len(inputs), len(results), padded(8 * n_pointers) + program.arena + 64, n_pointers, len(program.derived),
        at(pairs[0]), at(code + program.code[0]), at(code + program.code[1]), is_free, at(specs_in), at(specs_out),
        id(np.ndarray), entry.part("frames" if functions else "run"), has_objects,
        *[0] * (FUNCTIONS - entry.HAS_OBJECTS - 1), *entry.functions(), id(None),
    ]  # fmt: skip
    return plan


class _Plan(np.ndarray[Any, Any]):
    """The words, and the objects of Python's that they name."""

    objects: list[Any]


class _Parts:
    """Words laid out one part behind the other."""

    def __init__(self, head: int) -> None:
        self.words = [0] * head

    def add(self, words: Sequence[int]) -> int:
        """Where these words begin."""
        first = len(self.words)
        self.words += words
        return first


def _as_words(number: bytes) -> list[int]:
    return [int(n) for n in np.frombuffer(number.ljust(-(-len(number) // 8) * 8, b"\0"), np.int64)]

"""From steps to a plan: an array of integers that says all that a run needs to know.

Its parts: a head (`entry`), what the inputs and results must be, which addresses are those of arenas and numbers plus
so much, the steps' words, the numbers. Addresses are those of the array itself, which stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import entry
from .arena import padded, placed
from .assembler import Assembler
from .draws import drawing
from .errors import NoNativeForm
from .llvm import host
from .objects import ALIGNED, WRITABLE
from .operands import ARENA, INPUT, OUTPUT, STATE, Buffer, Edge, Operand, Step, all_steps
from .sharing import SHARED
from .steps import FUNCTIONS
from .whole_vectors import fill_vectors

# Bytes that steps write from which on a run lets other threads of Python's run: some ten microseconds of work.
_LONG = 1 << 17


@dataclass(frozen=True)
class Planned:
    """A plan: its function, which draws random numbers by itself, the bytes of its arena and of all results, and how
    many steps it has.
    """

    function: Any
    arena: int
    results: int
    steps: int


def plan_of(assembler: Assembler, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Planned:
    """The plan of the steps collected, for these inputs, giving these outputs."""
    if assembler.words and assembler.key is not None:
        inputs = [*inputs, assembler.key]
    results = results_of(assembler, outputs, in_any_order=True)
    arena = _place(assembler.steps, results)
    fill_vectors(all_steps(assembler.steps), assembler.part("loop"), host().lanes)
    layout = _Layout(len(inputs), len(results))
    layout.add(assembler.steps)
    flags = [WRITABLE if x.buffer in assembler.written else ALIGNED for x in inputs]
    is_free = assembler.has_loops or assembler.bytes >= _LONG
    plan = layout.array(list(zip(inputs, flags)), results, arena, is_free)
    size = sum(r.size * r.dtype.itemsize for r in results)
    function = entry.function_of(plan)
    if assembler.words:
        function = drawing(function, assembler.words)
    return Planned(function, arena, size, len(list(all_steps(assembler.steps))))


def results_of(assembler: Assembler, outputs: Sequence[Operand], in_any_order: bool = False) -> list[Operand]:
    """The outputs, each all of a buffer of its own, which is a result's from now on: in the order of their elements, or
    as they lie.
    """
    taken: set[Buffer] = set()
    found = []
    for out in outputs:
        size = out.size * out.dtype.itemsize
        whole = out.offset == 0 and (out.is_contiguous or (in_any_order and _fills(out))) and out.buffer.size == size
        if out.buffer.kind != ARENA or out.buffer in taken or not whole:
            out = assembler.copy(out)
        taken.add(out.buffer)
        found.append(out)
    for number, out in enumerate(found):
        out.buffer.kind, out.buffer.number = OUTPUT, number
    return found


def _fills(x: Operand) -> bool:
    """Whether the elements lie side by side, in whatever order of the dimensions."""
    order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
    return replace(x, shape=tuple(x.shape[d] for d in order), strides=tuple(x.strides[d] for d in order)).is_contiguous


def _place(steps: Sequence[Step], results: Sequence[Operand]) -> int:
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
    """Note at which steps each buffer is used first and last; what a loop finds made it keeps until it ends."""
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
        elif step.blocks:
            for life in lives.values():
                if life[0] < first <= life[1] or any(lives.get(b) is life for b in step.touched):
                    life[:] = [min(life[0], first), at]
        at += 1
    return at


class _Layout:
    """The words of a plan, and where its parts begin."""

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self.first = {INPUT: 0, OUTPUT: n_inputs}
        self.base = n_inputs + n_outputs
        self.words: list[Any] = []
        self.blocks: dict[int, tuple[int, int]] = {}
        self.derived: dict[tuple[int, int, bytes], int] = {}  # base, offset, and what lies there if it is a constant
        self.code = (0, 0)

    def add(self, steps: list[Step]) -> None:
        """The program's steps, and those of blocks inside."""
        self.code = self._block(steps)

    def _block(self, steps: list[Step]) -> tuple[int, int]:
        inner = [[self._block(block) for block in step.blocks] for step in steps]
        first = len(self.words)
        for step, blocks in zip(steps, inner):
            self.words += [_Address(step.function), len(step.words) + 2]
            self.words += [self._word(word, blocks) for word in step.words]
        return first, len(self.words)

    def _word(self, word: Any, blocks: Sequence[tuple[int, int]]) -> Any:
        if isinstance(word, Operand):
            return self._pointer(word)
        if word is STATE:
            return self.state
        return _Place(blocks[word.block][word.is_end]) if isinstance(word, Edge) else int(word)

    def _pointer(self, x: Operand) -> int:
        """Which of the addresses of a run is that of x."""
        buffer = x.buffer
        if buffer.kind in self.first:
            base = int(self.first[buffer.kind] + buffer.number)
            if not x.offset:
                return base
            key = (base, x.offset, b"")
        elif buffer.kind == ARENA:
            key = (self.base, buffer.number + x.offset, b"")
        else:
            key = (self.base + 1, x.offset, buffer.number)
        return self.base + 4 + self.derived.setdefault(key, len(self.derived))

    @property
    def state(self) -> int:
        """Where the plan and the thread lie among the addresses."""
        return self.base + 2

    def array(
        self, inputs: Sequence[tuple[Operand, int]], results: Sequence[Operand], arena: int, is_free: bool
    ) -> Any:
        """All words, with addresses filled in; each input with the flags that it must have."""
        parts = _Parts(entry.HEAD + 1)
        code = parts.add([0] * len(self.words))
        held = dict.fromkeys(number for _, _, number in self.derived if number)
        numbers = {number: parts.add(_as_words(number)) for number in held}
        given = [parts.add([*x.shape, *x.strides]) for x, _ in inputs]
        made = [parts.add([*x.shape, *x.strides]) for x in results]
        specs_in, specs_out = parts.add([0] * (entry.EACH * len(inputs))), parts.add([0] * (entry.EACH * len(results)))
        pairs = parts.add([0] * (2 * len(self.derived)))
        plan = np.array(parts.words, np.int64)
        start = plan.ctypes.data

        def at(index: int) -> int:
            return start + 8 * index

        plan[code : code + len(self.words)] = [_filled(w, at(code)) for w in self.words]
        for i, ((x, flags), place) in enumerate(zip(inputs, given)):
            first = specs_in + entry.EACH * i
            plan[first : first + entry.EACH] = [_descr(x), x.ndim, at(place), at(place + x.ndim), flags]
        for i, (x, place) in enumerate(zip(results, made)):
            first = specs_out + entry.EACH * i
            steps = 0 if x.is_contiguous else at(place + x.ndim)  # null: elements in their order
            plan[first : first + entry.EACH - 1] = [_descr(x), x.ndim, at(place), steps]
        for i, key in enumerate(self.derived):
            base, offset, number = key
            plan[pairs + 2 * i : pairs + 2 * i + 2] = [base, offset + (at(numbers[number]) if number else 0)]
        n_pointers = self.base + 4 + len(self.derived)
        plan[: entry.HEAD + 1] = [
            len(inputs), len(results), padded(8 * n_pointers) + arena + 64, n_pointers, len(self.derived), at(pairs),
            at(code + self.code[0]), at(code + self.code[1]), is_free, at(specs_in), at(specs_out), id(np.ndarray),
            *[0] * (FUNCTIONS - entry.ARRAY_TYPE - 1), *entry.functions(), id(None),
        ]  # fmt: skip
        return plan


@dataclass(frozen=True)
class _Address:
    """The address of a fixed part."""

    name: str


@dataclass(frozen=True)
class _Place:
    """The address of a word of the steps."""

    index: int


class _Parts:
    """Words laid out one part behind the other."""

    def __init__(self, head: int) -> None:
        self.words = [0] * head

    def add(self, words: Sequence[int]) -> int:
        """Where these words begin."""
        first = len(self.words)
        self.words += words
        return first


def _filled(word: Any, start: int) -> int:
    if isinstance(word, _Address):
        return entry.part(word.name)
    return start + 8 * word.index if isinstance(word, _Place) else int(word)


def _as_words(number: bytes) -> list[int]:
    return [int(n) for n in np.frombuffer(number.ljust(-(-len(number) // 8) * 8, b"\0"), np.int64)]


def _descr(x: Operand) -> int:
    """The address of NumPy's dtype, of which there is one object in the process."""
    found = np.dtype(x.dtype.type)
    if found is not np.dtype(x.dtype.type) or not found.isbuiltin:
        raise NoNativeForm(f"{x.dtype} is no dtype of NumPy's own")
    return id(found)

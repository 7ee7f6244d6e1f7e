"""The words of a program's steps, or of a function's, and the addresses that they read in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..ir.program import Operator
from . import entry
from .flat import Label, flattened
from .operands import ARENA, INPUT, OUTPUT, STATE, Edge, Entry, Operand, Step
from .steps import STATE_WORDS


class Derived(NamedTuple):
    """An address: another one plus so much; `number`: what lies there if it is a constant."""

    base: int
    offset: int
    number: bytes


class _Address(NamedTuple):
    """The address of a fixed part."""

    name: str


class _Place(NamedTuple):
    """The address of a word of the steps."""

    at: int


class Layout:
    """The words of steps that share an arena. Addresses: inputs, results, the arena, zero, the state, derived ones."""

    def __init__(self, steps: Sequence[Step], n_inputs: int, n_outputs: int, arena: int) -> None:
        self.n_arrays = n_inputs + n_outputs
        self.arena = arena  # bytes
        self._first = {INPUT: 0, OUTPUT: n_inputs}
        self._state = self.n_arrays + 2
        self.derived: dict[Derived, int] = {}
        self.words: list[Any] = []
        self.code = self._block(steps)

    @property
    def n_pointers(self) -> int:
        """How many addresses a run has."""
        return self._state + STATE_WORDS + len(self.derived)

    def _block(self, steps: Sequence[Step]) -> tuple[int, int]:
        """Where the words of these steps begin and end; those of blocks inside lie before them."""
        flat = [(s, [] if isinstance(s, Label) else [self._block(b) for b in s.blocks]) for s in flattened(steps)]
        first = len(self.words)
        for step, blocks in flat:
            if isinstance(step, Label):
                step.at = len(self.words)
            else:
                self.words += [_Address(step.function), len(step.words) + 2]
                self.words += [self._word(word, blocks) for word in step.words]
        return first, len(self.words)

    def _word(self, word: Any, blocks: Sequence[tuple[int, int]]) -> Any:
        if isinstance(word, Operand):
            return self._pointer(word)
        if word is STATE:
            return self._state
        if isinstance(word, (Entry, Label)):
            return word
        if isinstance(word, Operator):  # nobody has to raise for it
            return 0
        return _Place(blocks[word.block][word.is_end]) if isinstance(word, Edge) else int(word)

    def _pointer(self, x: Operand) -> int:
        """Which of the addresses of a run is that of x."""
        buffer = x.buffer
        if buffer.kind in self._first:
            base = int(self._first[buffer.kind] + buffer.number)
            if not x.offset:
                return base
            key = Derived(base, x.offset, b"")
        elif buffer.kind == ARENA:
            key = Derived(self.n_arrays, buffer.number + x.offset, b"")
        else:
            key = Derived(self.n_arrays + 1, x.offset, buffer.number)
        return self._state + STATE_WORDS + self.derived.setdefault(key, len(self.derived))

    def filled(self, start: int, records: Mapping[Any, int]) -> list[int]:
        """The words for a place in memory; records: where it is said what each function is."""
        return [_filled(word, start, records) for word in self.words]


def _filled(word: Any, start: int, records: Mapping[Any, int]) -> int:
    if isinstance(word, _Address):
        return entry.part(word.name)
    if isinstance(word, Entry):
        return records[word.function]
    if isinstance(word, (_Place, Label)):
        return start + 8 * word.at
    return int(word)


__all__ = ["Derived", "Layout"]

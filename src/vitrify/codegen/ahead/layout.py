"""From the steps of some samples to the words of a program: what a run copies, fills in by its sizes, and follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.program import Operator
from ..arena import padded, placed
from ..errors import NoNativeForm
from ..operands import ARENA, CONSTANT, INPUT, OUTPUT, STATE, Buffer, Edge, Operand, Step, all_steps
from ..plan import lives_of
from .assembler import Symbol
from .sizes import Basis

Coefficients = tuple[int, ...]
# Numbers that depend on sizes: as many as there are sizes of an array.
_FEW = 64
# So many integers that an operator computes of sizes may be sizes in their own right.
_LISTED = 8
_SIZED = (np.dtype("<i8"), np.dtype("<f4"), np.dtype("<f8"))


Known = tuple[Operator, Sequence[tuple[Any, ...] | None]]
"""An operator that computes of sizes and constants alone, and the elements of its results where they are few."""


@dataclass(frozen=True)
class Sample:
    """A program put together for certain sizes."""

    steps: list[Step]
    inputs: Sequence[Operand]
    outputs: Sequence[Operand]
    shapes: Sequence[tuple[int, ...]]  # of the results of all operators
    numbers: Sequence[Known] = ()

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        """The shapes, and the few integers that were computed of sizes, each as a shape of its own."""
        several = [found for _, outputs in self.numbers for found in outputs if found and len(found) <= _LISTED]
        return [*self.shapes, *[(n,) for found in several for n in found if type(n) is int]]


@dataclass(frozen=True)
class Place:
    """A word that is the address of another one."""

    index: int


@dataclass
class Layout:
    """A program as words. `patches`: those that depend on sizes, as coefficients of the basis's powers.

    code: where the steps begin and end. derived: where the pairs (base, offset) of addresses begin, and how many there
    are. outputs: for each where its sizes begin, and behind them its bytes. groups: parts of the arena, as the power
    that their bytes grow with and how many these are. data: constants with their offsets; constants: the words that are
    offsets within one of them, with that one's own. sized: the words
    from which on numbers lie that depend on sizes. floats: those of them that are to be floating-point numbers, each
    with where it is to lie, in bytes behind the first word, and its bytes.
    """

    basis: Basis
    words: list[int | Symbol | Place] = field(default_factory=list)
    patches: dict[int, Coefficients] = field(default_factory=dict)
    code: tuple[int, int] = (0, 0)
    derived: tuple[int, int] = (0, 0)
    outputs: list[int] = field(default_factory=list)
    groups: list[tuple[int, int]] = field(default_factory=list)
    data: list[tuple[int, bytes | Any]] = field(default_factory=list)
    constants: list[tuple[int, int]] = field(default_factory=list)
    data_bytes: int = 0
    pointers: int = 0
    sized: int = 0
    floats: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def bound(self) -> Coefficients:
        """A polynomial that no word and no size of the arena exceeds."""
        rows = list(self.patches.values())
        found = [max((abs(r[i]) for r in rows), default=0) for i in range(len(self.basis.powers))]
        for power, size in self.groups:
            found[power] += size
        return tuple(found)


def layout_of(basis: Basis, samples: Sequence[Sample]) -> Layout:
    """The words of a program. Raises NoNativeForm where sizes do not enter as polynomials."""
    return _Builder(basis, samples).built()


class _Builder:
    """Goes through the steps of all samples side by side."""

    def __init__(self, basis: Basis, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self.layout = Layout(basis)
        self.first = samples[0]
        self.numbers: list[dict[Buffer, int]] = [{} for _ in samples]
        self.sizes: dict[int, Coefficients] = {}
        self.places: dict[int, tuple[int, Coefficients]] = {}  # of arrays in the arena: the base, and the offset
        self.derived: dict[tuple[int, Coefficients, int | None], int] = {}  # of constants with where they lie
        self.data: dict[Any, int] = {}
        self.sized: dict[
            tuple[str, tuple[Coefficients, ...]], int
        ] = {}  # numbers that depend on sizes: where they begin

    def built(self) -> Layout:
        layout = self.layout
        self._place()
        layout.code = self._block([s.steps for s in self.samples])
        start = len(layout.words)
        for base, offset, constant in self.derived:
            self._add(base)
            if constant is not None:
                layout.constants.append((len(layout.words), constant))
            self._fit_word(offset)
        layout.derived = start, len(self.derived)
        for outs in zip(*[s.outputs for s in self.samples]):
            layout.outputs.append(len(layout.words))
            for dims in zip(*[out.shape for out in outs]):
                self._fit_word(self._fit(dims))
            self._fit_word(self._fit([out.size * out.dtype.itemsize for out in outs]))
        layout.sized = len(layout.words)
        for kind, rows in self.sized:
            start, item = 8 * len(layout.words), np.dtype(kind).itemsize
            for i, row in enumerate(rows):
                if kind != "<i8":  # side by side, so that none is written over a word that is still to be read
                    layout.floats.append((len(layout.words), start + i * item, item))
                self._fit_word(row)
        layout.pointers = self._base + 2 + len(self.derived)
        return layout

    # -- memory --------------------------------------------------------------------------------------------------------

    @property
    def _base(self) -> int:
        """Where the base of constants is among a run's addresses: behind inputs, outputs, parts of the arena. The next
        one is that of numbers that depend on sizes.
        """
        return len(self.first.inputs) + len(self.first.outputs) + len(self.layout.groups)

    def _place(self) -> None:
        """Give every array in the arena its offset: those that grow alike lie in one part of it."""
        orders = [self._arena(sample) for sample in self.samples]
        if len({len(o) for o in orders}) != 1:
            raise NoNativeForm("what is computed depends on the sizes")
        lives = lives_of(self.first.steps)
        groups: dict[int, list[tuple[int, Buffer, int]]] = {}
        for number, buffers in enumerate(zip(*orders)):
            coefficients = self._fit([b.size for b in buffers])
            power, unit = self._leading(coefficients)
            groups.setdefault(power, []).append((number, buffers[0], padded(unit)))
        outside = len(self.first.inputs) + len(self.first.outputs)
        for at, (power, members) in enumerate(sorted(groups.items())):
            offsets, total = placed([(lives[b][0], lives[b][1], unit) for _, b, unit in members])
            self.layout.groups.append((power, total))
            for (number, _, _), offset in zip(members, offsets):
                self.places[number] = outside + at, self._term(power, offset)

    def _arena(self, sample: Sample) -> list[Buffer]:
        """The arrays in the arena in the order in which steps touch them."""
        numbers = self.numbers[self.samples.index(sample)]
        for step in all_steps(sample.steps):
            for buffer in step.touched:
                if buffer.kind == ARENA:
                    numbers.setdefault(buffer, len(numbers))
        return list(numbers)

    def _leading(self, coefficients: Coefficients) -> tuple[int, int]:
        """The power that no term outgrows, and how many times it is as much as all of them."""
        basis = self.layout.basis
        terms = [(p, c) for p, c in zip(basis.powers, coefficients) if c > 0] or [(basis.powers[0], 0)]
        most = tuple(max(p[i] for p, _ in terms) for i in range(len(terms[0][0])))
        if most in basis.powers:
            return basis.powers.index(most), sum(c for _, c in terms)
        # Several levels of an image side by side: a quotient is at most so many times what it is one of.
        for lead in dict.fromkeys([*[p for p, _ in terms], *reversed(basis.powers)]):
            times = [basis.bound(p, lead) for p, _ in terms]
            if None not in times:
                return basis.powers.index(lead), sum(c * (t or 0) for (_, c), t in zip(terms, times))
        raise NoNativeForm("its arrays grow with several sizes in several ways")

    def _term(self, power: int, factor: int) -> Coefficients:
        return tuple(factor if i == power else 0 for i in range(len(self.layout.basis.powers)))

    # -- words ---------------------------------------------------------------------------------------------------------

    def _fit(self, values: Sequence[int]) -> Coefficients:
        found = self.layout.basis.fitted([int(v) for v in values])
        if found is None:
            raise NoNativeForm("its sizes depend on those left open otherwise than by products and sums")
        return found

    def _add(self, word: int | Symbol | Place) -> int:
        self.layout.words.append(word)
        return len(self.layout.words) - 1

    def _fit_word(self, coefficients: Coefficients) -> None:
        at = self._add(coefficients[0])
        if any(coefficients[1:]):
            self.layout.patches[at] = coefficients

    def _block(self, blocks: Sequence[Sequence[Step]]) -> tuple[int, int]:
        """The steps of one block, behind those of the blocks inside."""
        if len({len(b) for b in blocks}) != 1:
            raise NoNativeForm("what is computed depends on the sizes")
        inner = [[self._block(nested) for nested in zip(*[s.blocks for s in steps])] for steps in zip(*blocks)]
        first = len(self.layout.words)
        for steps, within in zip(zip(*blocks), inner):
            if len({(s.function, len(s.words), len(s.blocks)) for s in steps}) != 1:
                raise NoNativeForm("what is computed depends on the sizes")
            self._add(Symbol(steps[0].function))
            self._add(len(steps[0].words) + 2)
            for words in zip(*[s.words for s in steps]):
                self._word(words, within)
        return first, len(self.layout.words)

    def _word(self, words: Sequence[Any], within: Sequence[tuple[int, int]]) -> None:
        word = words[0]
        if isinstance(word, Operand):
            self._fit_word(self._term(0, self._pointer(words)))
        elif word is STATE:
            self._add(0)
        elif isinstance(word, Edge):
            self._add(Place(within[word.block][word.is_end]))
        elif isinstance(word, Symbol):
            if any(w != word for w in words):
                raise NoNativeForm("what is computed depends on the sizes")
            self._add(word)
        else:
            self._fit_word(self._fit(words))

    def _pointer(self, operands: Sequence[Operand]) -> int:
        """Which of the addresses of a run is that of an operand."""
        buffer = operands[0].buffer
        if any(x.buffer.kind != buffer.kind for x in operands):
            raise NoNativeForm("what is computed depends on the sizes")
        offset, constant = self._fit([x.offset for x in operands]), None
        if buffer.kind in (INPUT, OUTPUT):
            base = buffer.number + (len(self.first.inputs) if buffer.kind == OUTPUT else 0)
            if not any(offset):
                return int(base)
        elif buffer.kind == ARENA:
            numbers = {n[x.buffer] for n, x in zip(self.numbers, operands)}
            if len(numbers) != 1:
                raise NoNativeForm("what is computed depends on the sizes")
            base, start = self.places[numbers.pop()]
            offset = tuple(a + b for a, b in zip(offset, start))
        else:
            place, base = self._constant(operands), self._base
            constant = place
            if place is None:
                place, base = 8 * self._sized(operands), base + 1
            offset = tuple(a + b for a, b in zip(offset, self._term(0, place)))
        return self._base + 2 + self.derived.setdefault((base, offset, constant), len(self.derived))

    def _constant(self, operands: Sequence[Operand]) -> int | None:
        """Where the constants of these operands lie in the program's data; None where they depend on sizes."""
        buffers = [x.buffer for x in operands]
        key: Any = buffers[0].number
        if buffers[0].kind == CONSTANT:
            if any(b.number != key for b in buffers):
                return None
            return self.data[key] if key in self.data else self._put(key, key, 8)
        if any(b.number is not key and not np.array_equal(b.number, key) for b in buffers):
            return None
        return self.data[id(key)] if id(key) in self.data else self._put(id(key), key, 64)

    def _sized(self, operands: Sequence[Operand]) -> int:
        """The word from which on numbers lie that depend on sizes."""
        arrays, dtype = [x.buffer.number for x in operands], operands[0].dtype
        if operands[0].buffer.kind == CONSTANT:
            arrays = [np.frombuffer(a, dtype) for a in arrays]
        first = arrays[0]
        if dtype not in _SIZED or first.size > _FEW or len({a.shape for a in arrays}) != 1:
            raise NoNativeForm("its constants depend on the sizes")
        if any(a.size and (a != np.rint(a)).any() for a in arrays):
            raise NoNativeForm("its constants depend on the sizes")
        rows = tuple(self._fit([int(v) for v in values]) for values in zip(*[a.reshape(-1).tolist() for a in arrays]))
        return self.sized.setdefault((dtype.str, rows), sum(len(rows) for _, rows in self.sized))

    def _put(self, key: Any, content: Any, alignment: int) -> int:
        layout = self.layout
        at = -(-layout.data_bytes // alignment) * alignment
        layout.data.append((at, content))
        layout.data_bytes = at + (len(content) if isinstance(content, bytes) else content.nbytes)
        self.data[key] = at
        return at

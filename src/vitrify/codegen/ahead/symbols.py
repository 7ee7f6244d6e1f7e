"""Sizes that are known only when a program runs, as symbols: rows of numbers, samples of what they may be.

Sizes computed from symbols are the rows that polynomials give, so equal rows are equal sizes, and rows that differ by
one number are sizes that do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .interface import MOST_TIMES
from .sizes import OpenShape, Plus

Size = tuple[int, ...]
Sizes = tuple[Size, ...]
SAMPLES = 4
_MOST_CHOICES = 16


@dataclass(frozen=True)
class Origin:
    """Where the symbol of a size comes from: a branch, or part with versions, that gives one or another, or a loop that
    begins with one.
    """

    operator: int
    base: Size
    ways: tuple[Size, ...]


class Symbols:
    """The symbols of a program, and where they come from."""

    def __init__(self) -> None:
        self._known: dict[Any, Size] = {}
        self._origins: dict[Size, Origin] = {}

    def symbol(self, key: Any) -> Size:
        """Numbers that stand for a size; the same for the same key."""
        if key not in self._known:
            rng = np.random.default_rng(len(self._known) + 1)
            self._known[key] = tuple(int(n) for n in rng.integers(1 << 20, 1 << 30, SAMPLES))
        return self._known[key]

    def related(self, owner: Any, key: Any, *ways: Size) -> Size:
        """The symbol of a group of sizes that differ by numbers, for the one that is one of these."""
        whole = (id(owner), key)
        symbol = self.symbol(whole)
        origin = self._origins.setdefault(relative(symbol), Origin(id(owner), symbol, ways))
        return _moved(ways[0], origin.ways[0], symbol)

    def one_of(self, owner: Any, found: Sequence[Sizes]) -> Sizes:
        """The sizes of a value that comes from one of several places: versions of a part, or branches."""
        return tuple(
            ways[0]
            if len(set(ways)) == 1
            else self.related(owner, (relative(ways[0]), *[minus(ways[0], y) for y in ways[1:]]), *ways)
            for ways in zip(*found)
        )

    def ways(self, sizes: Sequence[Size]) -> Iterator[tuple[Any, Callable[[Size], Size]]]:
        """As what to take sizes, in groups of which one does: as they are; as branches give them; as equal ones."""
        yield None, lambda n: n
        own = list({relative(n): n for n in sizes if is_open(n)}.values())
        loops = [n for n in own if (found := self._origins.get(relative(n))) is not None and len(found.ways) == 1]
        branches: dict[int, int] = {}
        for branch, number in dict(b for n in own for b in self._branches_of(n)).items():
            if prod(branches.values()) * number <= _MOST_CHOICES:
                branches[branch] = number
        for choice in product(*map(range, branches.values())) if branches else ():
            for kept in sorted(product((False, True), repeat=len(loops)), key=sum):
                fixed = {relative(n) for n, is_fixed in zip(loops, kept) if is_fixed}
                yield choice, self._chosen(dict(zip(branches, choice)), loops, fixed)
        for i, x in enumerate(own):
            for y in own[i + 1 :]:
                yield "equal", _equated([y], x)
        if len(own) > 2:
            yield "equal", _equated(own[1:], own[0])

    def _branches_of(self, n: Size) -> Iterator[tuple[int, int]]:
        """The branches that a size comes from, and how many ways each has: two, or one for each range of a part."""
        found = self._origins.get(relative(n))
        if found is not None:
            if len(found.ways) > 1:
                yield found.operator, len(found.ways)
            for way in found.ways:
                yield from self._branches_of(way)

    def _chosen(
        self, choice: Mapping[int, int], loops: Sequence[Size], fixed: Collection[Size]
    ) -> Callable[[Size], Size]:
        """Sizes as they are when branches go one way; those of a loop stay as they begin, or keep their relation."""

        def seen(n: Size) -> Size:
            found = self._origins.get(relative(n)) if is_open(n) else None
            if found is None or len(found.ways) == 1 or choice.get(found.operator, len(found.ways)) >= len(found.ways):
                return n
            return _moved(n, found.base, seen(found.ways[choice[found.operator]]))

        leads: dict[Any, tuple[Size, Size]] = {}
        moved: dict[Size, tuple[Size, Size]] = {}
        for n in loops:
            found = self._origins[relative(n)]
            start = seen(found.ways[0])
            if relative(n) in fixed:
                moved[relative(n)] = found.base, start
                continue
            lead, begin = leads.setdefault((found.operator, relative(start)), (found.base, start))
            moved[relative(n)] = found.base, _moved(start, begin, lead)
        return lambda n: _moved(n, *moved[relative(n)]) if is_open(n) and relative(n) in moved else seen(n)


def _equated(sizes: Sequence[Size], to: Size) -> Callable[[Size], Size]:
    """What takes sizes as equal to another one, and what differs from them by a number as that much more."""
    bases = {relative(n): n for n in sizes}
    return lambda n: _moved(n, bases[relative(n)], to) if relative(n) in bases else n


def minus(x: Size, y: Size) -> Size:
    return tuple(a - b for a, b in zip(x, y))


def relative(n: Size) -> Size:
    """What is the same for sizes that differ by a number."""
    return tuple(x - n[0] for x in n)


def _moved(n: Size, base: Size, to: Size) -> Size:
    """What n is when its base is another size; both differ by a number."""
    more = n[0] - base[0]
    return tuple(x + more for x in to)


def is_open(n: Size) -> bool:
    return len(set(n)) > 1


def ports(rows: Sequence[Sequence[Size]]) -> tuple[list[OpenShape], list[Size]]:
    """The shapes of a part's inputs, whose open sizes are names, multiples of these and what is added to them; and the
    sizes named.
    """
    least: dict[Size, Size] = {}
    for n in (n for row in rows for n in row):
        if is_open(n):
            least[relative(n)] = min(n, least.get(relative(n), n))
    made_of = {n: _multiple_of(n, least.values()) for n in least.values()}
    names = {n: f"size {i}" for i, n in enumerate(dict.fromkeys(own for own, _ in made_of.values()))}

    def shown(n: Size) -> int | str | Plus:
        if not is_open(n):
            return n[0]
        own, times = made_of[least[relative(n)]]
        return names[own] if n == own else Plus(names[own], n[0] - times * own[0], times)

    return [tuple(shown(n) for n in row) for row in rows], list(names)


def _multiple_of(n: Size, others: Collection[Size]) -> tuple[Size, int]:
    """Which other size this one is most times, and perhaps more, as the beams of a batch are; itself once, if none."""
    found = n, 1
    for other in others:
        times = relative(n)[1] // relative(other)[1]
        more = {x - times * y for x, y in zip(n, other)}
        if found[1] < times <= MOST_TIMES and len(more) == 1 and min(more) >= 0:
            found = other, times
    return found


def shapes_of(part: Any, names: Sequence[Size]) -> Iterator[Sizes]:
    """The sizes of a part's outputs for each sample of the sizes that it takes."""
    basis = part.layout.basis
    for port, at in zip(part.outputs, part.layout.outputs):
        sizes = []
        for d in range(len(port.shape)):
            row = part.layout.patches.get(at + d)
            if row is None:
                sizes.append((int(part.layout.words[at + d]),) * SAMPLES)
            else:
                sizes.append(tuple(basis.at(row, [n[k] for n in names]) for k in range(SAMPLES)))
        yield tuple(sizes)

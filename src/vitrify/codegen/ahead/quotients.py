"""Quotients of open sizes: what is left of heights and widths behind strides, windows and resizing.

A program is looked at for so many sizes that every rest of a division occurs. What is no open size of an array, but
(times * n + plus) // over of one, is a size of its own from then on, where `plus` can be one number only. The powers of
the basis are the products of sizes that arrays have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import gcd, prod

import numpy as np

from ...core.errors import VitrifyError
from ..errors import NoNativeForm
from .layout import Sample
from .sizes import MOST_SIZES, Basis, Powers, Quotient, independent, inverted, power, with_quotients

Column = tuple[int, ...]
"""What a size is in each of the samples."""
Shape = Sequence[int]

# How many samples there are at first, and at most: as many as the largest divisor, so that every rest occurs.
_SAMPLES, _FEW_SAMPLES, _MOST_SAMPLES = 72, 24, 288
_CHECKS = 6
_MOST_OVER, _MOST_TIMES = 64, 4
# From which sizes on samples are, one way after the other: after many strides little is left, and tables are short.
_FIRST = {"large": 97, "larger": 257, "small": 33, "all large": 97}
_ALL_LARGE, _LEAST = "all large", 5
QUOTIENT_SCALES = tuple(_FIRST)
_STEPS = (1, 2, 4, 8, 16, 32, 64)
_MOST_QUOTIENTS, _MOST_POWERS = 48, 256
_ANOTHER = "what is computed depends on the sizes"


def quotient_bases(
    steps: Sequence[int], scale: str, sample: Callable[[Sequence[int]], Sample]
) -> Iterator[tuple[Basis, list[Sample]]]:
    """Bases in which sizes of arrays are polynomials, each with its samples: of the products of sizes that arrays have,
    then, where these are few, of one size of each kind. Raises NoNativeForm.

    sample: the program put together for some sizes, each in its own steps.
    """
    count, samples = len(steps), list[Sample]()
    firsts = _firsts(steps, scale)
    for is_wide in (False, True):
        # Halves of what is a multiple are no quotients, so there are fewer rests, and images remain small.
        number = each = _SAMPLES if max(steps) == 1 else _FEW_SAMPLES
        while number <= _MOST_SAMPLES:
            points = _points(firsts, number, each)
            for point in points[len(samples) :]:
                samples.append(sample(point))
                _check_alike(samples[0], samples[-1])
            search = _Search(count, points)
            powers = search.powers_of([s.sizes for s in samples[:number]])
            if is_wide:
                powers = _wider(powers, search.quotients, count)
            found = _basis(count, powers, search.quotients, points)
            if found is not None:
                basis, order = found
                yield basis, [samples[i] for i in order]
                break
            number *= 2


def _check_alike(first: Sample, other: Sample) -> None:
    """Raise NoNativeForm where two samples differ in how many arrays or dimensions they have: more need not be made."""
    if [len(shape) for shape in first.sizes] != [len(shape) for shape in other.sizes]:
        raise NoNativeForm(_ANOTHER)


def _basis(
    count: int, powers: Sequence[Powers], quotients: Sequence[Quotient], points: Sequence[tuple[int, ...]]
) -> tuple[Basis, list[int]] | None:
    """The basis of these powers and the order of its samples; None where there are too few of them."""
    sizes = [with_quotients(point, quotients) for point in points]
    # Of sizes that are sums of others (a half rounded down, and one rounded up) one is left out.
    kept = independent([[power(p, row) for row in sizes] for p in powers])
    if len(kept) + _CHECKS > len(points):
        return None
    rows = [[power(powers[k], row) for k in kept] for row in sizes]
    first = independent(rows)  # samples that tell the powers apart; the others check what is found from them
    order = [*first, *sorted(set(range(len(points))) - set(first))]
    inverse = inverted([rows[i] for i in first])
    assert inverse is not None
    chosen = tuple(powers[k] for k in kept)
    return Basis(count, chosen, tuple(points[i] for i in order), inverse, tuple(quotients)), order


def _wider(powers: Sequence[Powers], quotients: Sequence[Quotient], count: int) -> list[Powers]:
    """The powers and all products of an open size, or a quotient of it, with those of the others."""
    kinds = [*range(count)]
    for quotient in quotients:
        kinds.append(kinds[quotient.of])
    each = [[(), *[(n,) for n, kind in enumerate(kinds) if kind == own]] for own in range(count)]
    if prod(map(len, each)) > _MOST_POWERS // 2:
        raise NoNativeForm("its arrays have too many sizes that depend on those left open")
    products = [[n for part in chosen for n in part] for chosen in product(*each)]
    wide = [tuple(own.count(i) for i in range(len(kinds))) for own in products]
    return sorted({*powers, *wide}, key=lambda p: (sum(p), [-n for n in p]))


def steps_of(count: int, sample: Callable[[Sequence[int]], Sample]) -> tuple[int, ...]:
    """The powers of two that each size must be a multiple of, where one size is no reason to refuse the others.

    Images that are halved and doubled again are such multiples. 1 where that is not what a program needs.
    """
    base = [_STEPS[-1] * (1 + size) for size in range(count)]

    def takes(values: Sequence[int]) -> bool:
        try:
            sample(values)
        except (VitrifyError, NoNativeForm, ValueError, MemoryError):
            return False
        return True

    if not takes(base):
        return (1,) * count
    found = []
    for size in range(count):
        moved = [[n + step * (i == size) for i, n in enumerate(base)] for step in _STEPS]
        found.append(next((step for step, values in zip(_STEPS, moved) if takes(values)), 1))
    return tuple(found)


def _firsts(steps: Sequence[int], scale: str) -> list[int]:
    """From which sizes on samples are. Of three the first is likely how many images there are, and may be small."""
    firsts = [max(_FIRST[scale] // step, _LEAST) for step in steps]
    return [_LEAST, *firsts[1:]] if len(steps) == MOST_SIZES and scale != _ALL_LARGE else firsts


def _points(firsts: Sequence[int], number: int, each: int) -> list[tuple[int, ...]]:
    """Sizes to look at: rounds of so many sizes from the first ones on, each size in an order of its own."""
    columns = []
    for size, first in enumerate(firsts):
        rng = np.random.default_rng(size)
        rounds = [first + r * each + rng.permutation(each) for r in range(number // each)]
        columns.append(np.concatenate(rounds).tolist())
    return list(zip(*columns))


class _Search:
    """Finds sizes among columns, from the first to the last."""

    def __init__(self, count: int, points: Sequence[tuple[int, ...]]) -> None:
        self.quotients: list[Quotient] = []
        self._columns: list[Column] = [tuple(p[i] for p in points) for i in range(count)]
        self._found: dict[Column, tuple[int, ...] | None] = {}

    def powers_of(self, shapes: Sequence[Sequence[Shape]]) -> list[Powers]:
        """The products of sizes in these shapes, those of fewer sizes first."""
        if len({len(sample) for sample in shapes}) != 1:
            raise NoNativeForm(_ANOTHER)
        products: dict[tuple[int, ...], None] = {(): None}
        for each in dict.fromkeys(zip(*[map(tuple, sample) for sample in shapes])):
            if len({len(shape) for shape in each}) != 1:
                raise NoNativeForm(_ANOTHER)
            dims = [self._numbers(column) for column in zip(*each)]
            for chosen in product(*[((), d) for d in dims if d]):
                products[tuple(sorted(n for d in chosen for n in d))] = None
        if len(products) > _MOST_POWERS or len(self.quotients) > _MOST_QUOTIENTS:
            raise NoNativeForm("its arrays have too many sizes that depend on those left open")
        total = len(self._columns)
        return [tuple(p.count(i) for i in range(total)) for p in sorted(products, key=lambda p: (len(p), p))]

    def _numbers(self, column: Column) -> tuple[int, ...] | None:
        """The sizes whose product, but for a factor and what is added, a size is; None where it is something else."""
        if column.count(column[0]) == len(column):
            return ()
        if column not in self._found:
            self._found[column] = self._searched(column)
        return self._found[column]

    def _searched(self, column: Column) -> tuple[int, ...] | None:
        for number, own in enumerate(self._columns):
            if _is_linear(column, own):
                return (number,)
        quotient = self._quotient(column)
        if quotient is not None:
            self.quotients.append(quotient)
            self._columns.append(column)
            return (len(self._columns) - 1,)
        for several in (2, 3):
            for numbers in combinations(range(len(self._columns)), several):
                if _is_linear(column, [prod(v) for v in zip(*[self._columns[n] for n in numbers])]):
                    return numbers
        return None

    def _quotient(self, column: Column) -> Quotient | None:
        """As what quotient of another size a column may be told from all others, with the least divisor."""
        for over in range(2, _MOST_OVER + 1):
            for times in range(1, _MOST_TIMES * over):
                if gcd(times, over) != 1:
                    continue
                for number, own in enumerate(self._columns):
                    plus = _added(column, own, times, over)
                    if plus is not None:
                        return Quotient(number, times, plus, over)
        return None


def _added(column: Column, own: Column, times: int, over: int) -> int | None:
    """What is added before the division, where that can be one number only."""
    least, most = -(1 << 62), 1 << 62
    for v, n in zip(column, own):
        low = over * v - times * n
        least, most = max(least, low), min(most, low + over - 1)
        if least > most:
            return None
    return least if least == most else None


def _is_linear(column: Column, own: Sequence[int]) -> bool:
    """Whether a column is a whole multiple of another one and a number."""
    other = next((i for i, n in enumerate(own) if n != own[0]), None)
    if other is None:
        return False
    factor, rest = divmod(column[other] - column[0], own[other] - own[0])
    return rest == 0 and all(v - column[0] == factor * (n - own[0]) for v, n in zip(column, own))


__all__ = ["QUOTIENT_SCALES", "quotient_bases", "steps_of"]

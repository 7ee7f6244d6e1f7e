"""Sizes that are known only when a program runs: what depends on them, as polynomials found from samples.

A program is put together for a few sizes. What differs between them (counts, steps, offsets) must be a polynomial of
the sizes, of third degree at most: n images of 3 x T x T have 3 n T T elements. One more sample checks that it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod

_DEGREE = 3
# Sizes to put programs together for: primes, so that none is a multiple or a part of another size by chance.
_PRIMES = (101, 103, 107, 109, 113)
_APART = 30  # one size from another
# The same for programs that refuse such sizes: with tables of a few rows, say.
_SMALL_PRIMES = (7, 11, 13, 17, 19)
_SMALL_APART = 2
Powers = tuple[int, ...]
MOST_SIZES = 3


@dataclass(frozen=True)
class Basis:
    """Powers of sizes, and the sizes to look at: as many samples as powers, and one more."""

    count: int
    powers: tuple[Powers, ...]
    samples: tuple[tuple[int, ...], ...]
    inverse: tuple[tuple[Fraction, ...], ...]

    def fitted(self, values: Sequence[int]) -> tuple[int, ...] | None:
        """The coefficients of the polynomial that has these values at the samples; None where there is none."""
        if values.count(values[0]) == len(values):
            return (values[0], *[0] * (len(self.powers) - 1))
        found = [sum((a * v for a, v in zip(row, values)), Fraction(0)) for row in self.inverse]
        if any(c.denominator != 1 for c in found):
            return None
        coefficients = tuple(int(c) for c in found)
        return coefficients if self.at(coefficients, self.samples[-1]) == values[-1] else None

    def at(self, coefficients: Sequence[int], sizes: Sequence[int]) -> int:
        """The polynomial's value."""
        return sum(c * power(p, sizes) for c, p in zip(coefficients, self.powers) if c)


def power(powers: Powers, sizes: Sequence[int]) -> int:
    """The product of sizes raised to powers."""
    return prod(size**p for size, p in zip(sizes, powers))


@lru_cache(maxsize=8)
def basis(count: int, small: bool = False) -> Basis:
    """The basis for so many sizes; of small ones, of which more may be equal by chance."""
    primes, apart = (_SMALL_PRIMES, _SMALL_APART) if small else (_PRIMES, _APART)
    powers = sorted(
        (p for p in product(range(_DEGREE + 1), repeat=count) if sum(p) <= _DEGREE), key=lambda p: (sum(p), p)
    )
    # Different primes for each size: shifted by one another.
    sizes = [tuple(primes[e] + apart * s for s, e in enumerate(p)) for p in powers]
    check = tuple(primes[-1] + apart * s for s in range(count))
    matrix = [[Fraction(power(p, point)) for p in powers] for point in sizes]
    return Basis(count, tuple(powers), (*sizes, *([check] if count else [])), _inverse(matrix))


def _inverse(matrix: list[list[Fraction]]) -> tuple[tuple[Fraction, ...], ...]:
    """By Gauss and Jordan, exactly."""
    size = len(matrix)
    rows = [row + [Fraction(int(i == j)) for j in range(size)] for i, row in enumerate(matrix)]
    for i in range(size):
        chosen = next(r for r in range(i, size) if rows[r][i])
        rows[i], rows[chosen] = rows[chosen], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i])]
    return tuple(tuple(row[size:]) for row in rows)

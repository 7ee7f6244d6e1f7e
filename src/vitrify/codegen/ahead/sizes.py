"""Sizes that are known only when a program runs: what depends on them, as polynomials found from samples.

A program is put together for a few sizes. What differs between them (counts, steps, offsets) must be a polynomial of
the sizes, of third degree at most: n images of 3 x T x T have 3 n T T elements. One more sample checks that it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

_DEGREE = 3
# Sizes to put programs together for, and how far one size is from another. Large ones are primes, so that none is a
# multiple or a part of another size by chance; small ones are for programs that refuse such sizes, with tables of a few
# rows, say; tiny ones for what at most a few elements remain of.
_SCALES = {"large": ((101, 103, 107, 109, 113), 30), "small": ((7, 11, 13, 17, 19), 2), "tiny": ((2, 3, 4, 5, 6), 0)}
SCALES = ("large", "small")
"""What whole programs are tried with, one after the other."""
PART_SCALES = ("small", "tiny", "large")
"""The same of parts of programs whose sizes the run knows: those are small rather than large."""
Powers = tuple[int, ...]
MOST_SIZES = 3


class Plus(NamedTuple):
    """A size that is another one and so much more."""

    name: str
    more: int


OpenShape = tuple[int | str | Plus, ...]


def open_name(n: int | str | Plus) -> str | None:
    """The name of the open size that a dimension is, or has something added to; None for a number."""
    return n.name if isinstance(n, Plus) else n if isinstance(n, str) else None


def dimension(n: int | str | Plus, sizes: Mapping[str, int]) -> int:
    """A dimension, when open sizes are these."""
    return sizes[n.name] + n.more if isinstance(n, Plus) else sizes[n] if isinstance(n, str) else n


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


@lru_cache(maxsize=16)
def basis(count: int, scale: str = "large") -> Basis:
    """The basis for so many sizes; of small ones more may be equal by chance."""
    primes, apart = _SCALES[scale]
    powers = sorted(
        (p for p in product(range(_DEGREE + 1), repeat=count) if sum(p) <= _DEGREE), key=lambda p: (sum(p), p)
    )
    # Different ones for each size: shifted by one another.
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

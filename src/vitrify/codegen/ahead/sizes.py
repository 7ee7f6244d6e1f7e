"""Sizes that are known only when a program runs: what depends on them, as polynomials found from samples.

A program is put together for a few sizes. What differs between them (counts, steps, offsets) must be a polynomial of
the sizes, of third degree at most: n images of 3 x T x T have 3 n T T elements. One more sample checks that it is.
Where sizes are divided with rounding, quotients of them are sizes of their own (`quotients.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
# Coefficients are found modulo this prime, and are the numbers next to 0; what they give is then compared exactly.
_PRIME = (1 << 61) - 1


class Plus(NamedTuple):
    """A size that is so many times another one, and so much more."""

    name: str
    more: int
    times: int = 1


OpenShape = tuple[int | str | Plus, ...]


def open_name(n: int | str | Plus) -> str | None:
    """The name of the open size that a dimension is, or has something added to; None for a number."""
    return n.name if isinstance(n, Plus) else n if isinstance(n, str) else None


def dimension(n: int | str | Plus, sizes: Mapping[str, int]) -> int:
    """A dimension, when open sizes are these."""
    return sizes[n.name] * n.times + n.more if isinstance(n, Plus) else sizes[n] if isinstance(n, str) else n


class Quotient(NamedTuple):
    """(times * n + plus) // over of the size of a number n: open ones come first, then quotients in their order."""

    of: int
    times: int
    plus: int
    over: int

    def at(self, n: int) -> int:
        """What it is where the other size is n."""
        return (self.times * n + self.plus) // self.over

    @property
    def most(self) -> int:
        """How many times the other size it is at most, where that is 1 or more."""
        return max(-(-(self.times + max(self.plus, 0)) // self.over), 1)


@dataclass(frozen=True)
class Basis:
    """Powers of sizes, and the sizes to look at: as many samples as powers, and some more that check them.

    inverse: modulo a prime, of the matrix of powers of the first samples. quotients: further sizes that powers have.
    """

    count: int
    powers: tuple[Powers, ...]
    samples: tuple[tuple[int, ...], ...]
    inverse: tuple[tuple[int, ...], ...]
    quotients: tuple[Quotient, ...] = ()

    def fitted(self, values: Sequence[int]) -> tuple[int, ...] | None:
        """The coefficients of the polynomial that has these values at the samples; None where there is none."""
        if values.count(values[0]) == len(values):
            return (values[0], *[0] * (len(self.powers) - 1))
        found = [sum(a * v for a, v in zip(row, values)) % _PRIME for row in self.inverse]
        coefficients = tuple(c - _PRIME if c > _PRIME // 2 else c for c in found)
        is_one = all(self.at(coefficients, sizes) == v for sizes, v in zip(reversed(self.samples), reversed(values)))
        return coefficients if is_one else None

    def at(self, coefficients: Sequence[int], sizes: Sequence[int]) -> int:
        """The polynomial's value."""
        sizes = with_quotients(sizes, self.quotients)
        return sum(c * power(p, sizes) for c, p in zip(coefficients, self.powers) if c)

    def bound(self, powers: Powers, by: Powers) -> int | None:
        """How many times a product of sizes of 1 and more is at most another one; None where that is not known."""
        left, times = [*powers], 1
        for number in reversed(range(self.count, len(left))):
            quotient = self.quotients[number - self.count]
            more = left[number] - by[number]
            if more > 0:
                left[number] -= more
                left[quotient.of] += more
                times *= quotient.most**more
        return times if all(n <= most for n, most in zip(left, by)) else None


def with_quotients(sizes: Sequence[int], quotients: Sequence[Quotient]) -> Sequence[int]:
    """Open sizes and behind them the quotients."""
    found = [*sizes]
    for quotient in quotients:
        found.append(quotient.at(found[quotient.of]))
    return found


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
    found = inverted([[power(p, point) for p in powers] for point in sizes])
    assert found is not None
    return Basis(count, tuple(powers), (*sizes, *([check] if count else [])), found)


def inverted(matrix: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...] | None:
    """The inverse modulo the prime, by Gauss and Jordan; None where there is none."""
    size = len(matrix)
    rows = [[n % _PRIME for n in row] + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for i in range(size):
        chosen = next((r for r in range(i, size) if rows[r][i]), None)
        if chosen is None:
            return None
        rows[i], rows[chosen] = rows[chosen], rows[i]
        by = pow(rows[i][i], -1, _PRIME)
        rows[i] = [x * by % _PRIME for x in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [(x - factor * y) % _PRIME for x, y in zip(rows[r], rows[i])]
    return tuple(tuple(row[size:]) for row in rows)


def independent(rows: Sequence[Sequence[int]]) -> list[int]:
    """The numbers of the first rows that are no sums of multiples of those before, modulo the prime."""
    reduced: list[tuple[int, list[int]]] = []
    found = []
    for number, row in enumerate(rows):
        left = [n % _PRIME for n in row]
        for lead, other in reduced:
            factor = left[lead]
            if factor:
                left = [(x - factor * y) % _PRIME for x, y in zip(left, other)]
        lead = next((i for i, x in enumerate(left) if x), -1)
        if lead >= 0:
            by = pow(left[lead], -1, _PRIME)
            reduced.append((lead, [x * by % _PRIME for x in left]))
            found.append(number)
    return found

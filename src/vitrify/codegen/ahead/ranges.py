"""For which open sizes a program holds: it was made from a few samples, and is asked about other sizes as well.

`x[:, :5]` has five elements a row in every sample, but three where a row has three. So the shapes of all results are
asked for at other sizes, too; where they are not those of the polynomials, or an operator refuses, the program must not
be run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

from ...core.errors import VitrifyError
from ...ir.program import Operator
from ..errors import NoNativeForm
from .layout import Known, Sample
from .sizes import Basis

# A program that holds for the first of these at which its arrays are no larger than _BYTES holds for all: who cuts or
# compares does it before. Arrays of a sample take memory, which is touched only where a view is none.
_LARGE = (65_537, 32_771, 16_411, 8_209, 4_099, 2_053, 1_031, 521, 257)
_BYTES = 1 << 28
_ITEM = 8
ANY = 1 << 62


def ranges_of(
    basis: Basis, samples: Sequence[Sample], sample: Callable[[Sequence[int]], Sample], smallest: int = 1
) -> tuple[tuple[int, int], ...]:
    """The least and the most of each size. `sample` puts the program together for some sizes, of `smallest` and more.

    Raises NoNativeForm where shapes are no polynomials of the sizes, or depend on which of them is larger.
    """
    if not basis.count:
        return ()
    wanted = [[_fitted(basis, dims) for dims in zip(*shapes)] for shapes in zip(*[s.shapes for s in samples])]

    known = [_by_operator(s.numbers) for s in samples]
    if any(found.keys() != known[0].keys() for found in known):
        raise NoNativeForm("what is computed depends on the sizes")
    numbers = {key: _Numbers.of(basis, [found[key] for found in known]) for key in known[0]}

    def holds(values: Sequence[int]) -> bool:
        try:
            found = sample(values)
        except (VitrifyError, NoNativeForm, AssertionError):  # that forms and their results fit is asserted there
            return False
        expected = [tuple(basis.at(c, values) for c in row) for row in wanted]
        if [tuple(shape) for shape in found.shapes] != expected:
            return False
        given = _by_operator(found.numbers)  # of small sizes more may be known; the run computes it at all sizes
        return all(key in given and n.holds(basis, values, given[key]) for key, n in numbers.items())

    def is_small(values: Sequence[int]) -> bool:
        return all(_ITEM * prod(basis.at(c, values) for c in row) <= _BYTES for row in wanted)

    ranges = tuple(_range(number, basis.samples[0], holds, is_small, smallest) for number in range(basis.count))
    if basis.count > 1:
        ranges = _raised(ranges, min(basis.samples[0]), holds)
        large = next((n for n in _LARGE if is_small([n] * basis.count)), max(max(s) for s in basis.samples))
        if not all(map(holds, product(*[(least, min(most, large)) for least, most in ranges]))):
            raise NoNativeForm("what is computed depends on which of them is larger")
    return ranges


def _raised(
    ranges: tuple[tuple[int, int], ...], good: int, holds: Callable[[Sequence[int]], bool]
) -> tuple[tuple[int, int], ...]:
    """The ranges with larger least sizes, where all of the least ones together are too small: the best of an image's
    places are more than a tiny image has. Those are raised, perhaps several, of which the largest is the smallest then.
    """
    least = [low for low, _ in ranges]
    if holds(least):
        return ranges
    found: tuple[int, tuple[int, ...]] | None = None
    for count in range(1, len(least) + 1):
        for chosen in combinations(range(len(least)), count):

            def is_enough(value: int, chosen: Sequence[int] = chosen) -> bool:
                return holds([max(low, value) if i in chosen else low for i, low in enumerate(least)])

            if is_enough(good):
                value = _edge(good, min(least) - 1, is_enough)
                found = min(found or (value, chosen), (value, chosen), key=lambda f: f[0])
    if found is None:
        return ranges
    value, raised = found
    return tuple((max(low, value) if i in raised else low, most) for i, (low, most) in enumerate(ranges))


def _by_operator(numbers: Sequence[Known]) -> dict[tuple[Operator, int, int], tuple[Any, ...] | None]:
    """The numbers of each operator's results, by which time it ran."""
    times: Counter[Operator] = Counter()
    found = {}
    for operator, several in numbers:
        found.update({(operator, times[operator], place): given for place, given in enumerate(several)})
        times[operator] += 1
    return found


@dataclass(frozen=True)
class _Numbers:
    """What was computed of sizes alone: polynomials of them, numbers that are always the same, or (None) neither.

    Whether a size is less than another number is such a number: all samples may say so, and other sizes not.
    """

    known: list[tuple[int, ...] | Any] | None

    @staticmethod
    def of(basis: Basis, found: Sequence[tuple[Any, ...] | None]) -> _Numbers:
        rows = [row for row in found if row is not None]
        if len(rows) < len(found) or len({len(row) for row in rows}) != 1:
            return _Numbers(None)
        return _Numbers([_polynomial(basis, values) for values in zip(*rows)])

    def holds(self, basis: Basis, sizes: Sequence[int], given: tuple[Any, ...] | None) -> bool:
        """Whether these are the numbers for these sizes; those of arrays without elements are."""
        if self.known is None or given == ():
            return True
        known = self.known * len(given or ()) if len(self.known) == 1 else self.known  # of many that are the same, one
        if given is None or len(given) != len(known):
            return False
        return all(
            c is None or (basis.at(c, sizes) if isinstance(c, tuple) else c) == value for c, value in zip(known, given)
        )


def _polynomial(basis: Basis, values: Sequence[Any]) -> tuple[int, ...] | Any:
    """The coefficients of what gives integers at the samples, or the number that it always is; None for others."""
    if all(isinstance(v, int) for v in values):
        return basis.fitted([int(v) for v in values])
    return values[0] if values.count(values[0]) == len(values) else None


def _fitted(basis: Basis, dims: Sequence[int]) -> tuple[int, ...]:
    found = basis.fitted(dims)
    if found is None:
        raise NoNativeForm("its sizes depend on those left open otherwise than by products and sums")
    return found


def _range(
    number: int,
    others: Sequence[int],
    holds: Callable[[Sequence[int]], bool],
    is_small: Callable[[Sequence[int]], bool],
    smallest: int,
) -> tuple[int, int]:
    """The least and the most of one size, the others being those of a sample."""

    def sizes(value: int) -> list[int]:
        return [value if i == number else other for i, other in enumerate(others)]

    def holds_at(value: int) -> bool:
        return holds(sizes(value))

    good = others[number]
    large = next((value for value in _LARGE if is_small(sizes(value))), good)
    least = smallest if holds_at(smallest) else _edge(good, smallest, holds_at)
    most = ANY if holds_at(large) else _edge(good, large, holds_at)
    return least, most


def _edge(good: int, bad: int, holds: Callable[[int], bool]) -> int:
    """The last value that holds on the way from one that does to one that does not."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good

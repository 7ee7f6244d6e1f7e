"""From where to where sizes left open may be: what a program does was found from a few, and holds no further.

`x[:, :5]` has five elements a row in every sample, but three where a row has three. So the shapes of all results are
asked for at other sizes, too; where they are not those of the polynomials, or an operator refuses, the program must not
be run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from ...core.errors import VitrifyError
from ..errors import NoNativeForm
from .layout import Sample
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

    def holds(values: Sequence[int]) -> bool:
        try:
            found = sample(values).shapes
        except (VitrifyError, NoNativeForm, AssertionError):  # that forms and their results fit is asserted there
            return False
        expected = [tuple(basis.at(c, values) for c in row) for row in wanted]
        return [tuple(shape) for shape in found] == expected

    def is_small(values: Sequence[int]) -> bool:
        return all(_ITEM * prod(basis.at(c, values) for c in row) <= _BYTES for row in wanted)

    ranges = tuple(_range(number, basis.samples[0], holds, is_small, smallest) for number in range(basis.count))
    if basis.count > 1:
        large = next((n for n in _LARGE if is_small([n] * basis.count)), max(max(s) for s in basis.samples))
        if not all(map(holds, product(*[(least, min(most, large)) for least, most in ranges]))):
            raise NoNativeForm("what is computed depends on which of them is larger")
    return ranges


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

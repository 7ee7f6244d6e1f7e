"""From where to where sizes left open may be: what a program does was found from a few, and holds no further.

`x[:, :5]` has five elements a row in every sample, but three where a row has three. So the shapes of all results are
asked for at other sizes, too; where they are not those of the polynomials, or an operator refuses, the program must not
be run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from ...core.errors import VitrifyError
from ..errors import NoNativeForm
from .layout import Sample
from .sizes import Basis

# A program that holds for a size as large as this holds for all: nobody cuts or compares there.
_LARGE = 65_537
_LARGE_TOGETHER = 1009
ANY = 1 << 62


def ranges_of(
    basis: Basis, samples: Sequence[Sample], sample: Callable[[Sequence[int]], Sample]
) -> tuple[tuple[int, int], ...]:
    """The least and the most of each size. `sample` puts the program together for some sizes.

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

    ranges = tuple(_range(number, basis.samples[0], holds) for number in range(basis.count))
    corners = product(*[(least, min(most, _LARGE_TOGETHER)) for least, most in ranges])
    if basis.count > 1 and not all(map(holds, corners)):
        raise NoNativeForm("what is computed depends on which of them is larger")
    return ranges


def _fitted(basis: Basis, dims: Sequence[int]) -> tuple[int, ...]:
    found = basis.fitted(dims)
    if found is None:
        raise NoNativeForm("its sizes depend on those left open otherwise than by products and sums")
    return found


def _range(number: int, others: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> tuple[int, int]:
    """The least and the most of one size, the others being those of a sample."""

    def holds_at(value: int) -> bool:
        return holds([value if i == number else other for i, other in enumerate(others)])

    good = others[number]
    least = 1 if holds_at(1) else _edge(good, 1, holds_at)
    most = ANY if holds_at(_LARGE) else _edge(good, _LARGE, holds_at)
    return least, most


def _edge(good: int, bad: int, holds: Callable[[int], bool]) -> int:
    """The last value that holds on the way from one that does to one that does not."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good

"""The equation of `einsum` as text: one string of labels for each operand, and one for the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..core.cache import BoundedCache
from ..core.errors import ArgumentError

DOTS = "..."
# Labels of the dimensions that an ellipsis stands for, counted from the last one, for they broadcast from there.
_FIRST_HIDDEN = 0x100


class Equation(NamedTuple):
    """The labels of each operand's dimensions and of the result's, one character a dimension, ellipses spelled out."""

    operands: tuple[str, ...]
    out: str


_PARSED: BoundedCache[tuple[str | int, ...], Equation] = BoundedCache("einsum equations", limit=256)


def _fail(equation: str, why: str) -> ArgumentError:
    return ArgumentError(f"einsum: {equation!r}: {why}")


def _halves(equation: str, count: int) -> tuple[list[str], str | None]:
    """The operands' labels, and the result's if the equation has an arrow."""
    left, *right = "".join(equation.split()).split("->")
    if len(right) > 1:
        raise _fail(equation, "more than one '->'")
    terms = left.split(",")
    if len(terms) != count:
        raise _fail(equation, f"has {len(terms)} terms for {count} operands")
    for term in [*terms, *right]:
        named = term.replace(DOTS, "", 1)
        if not all(c.isascii() and c.isalpha() for c in named):
            raise _fail(equation, f"{term!r} holds something other than letters and one '...'")
    return terms, right[0] if right else None


def _spelled(equation: str, term: str, ndim: int) -> str:
    """`term` with its ellipsis replaced by labels of their own."""
    hidden = ndim - len(term.replace(DOTS, ""))
    if hidden < 0 or (hidden > 0 and DOTS not in term):
        raise _fail(equation, f"{term!r} does not fit an operand of {ndim} dimensions")
    return term.replace(DOTS, _hidden(hidden))


def _hidden(count: int) -> str:
    return "".join(chr(_FIRST_HIDDEN + i) for i in reversed(range(count)))


def _implied(terms: Sequence[str]) -> str:
    """The labels that occur once, in order."""
    counts = Counter("".join(terms).replace(DOTS, ""))
    return "".join(sorted(label for label, count in counts.items() if count == 1))


def parse(equation: str, ndims: Sequence[int]) -> Equation:
    """The equation for operands with these numbers of dimensions; raises ArgumentError where it does not fit them.

    >>> parse("ij,jk", [2, 2])
    Equation(operands=('ij', 'jk'), out='ik')
    """
    return _PARSED.get_or_build((equation, *ndims), lambda: _parsed(equation, ndims))


def _parsed(equation: str, ndims: Sequence[int]) -> Equation:
    terms, out = _halves(equation, len(ndims))
    operands = tuple(_spelled(equation, term, ndim) for term, ndim in zip(terms, ndims))
    hidden = max((ndim - len(t.replace(DOTS, "")) for t, ndim in zip(terms, ndims)), default=0)
    has_dots = any(DOTS in term for term in terms)
    if out is None:
        out = (DOTS if has_dots else "") + _implied(terms)
    if hidden and DOTS not in out:
        raise _fail(equation, "the result has no '...', though an operand has")
    unknown = set(out.replace(DOTS, "")) - set("".join(terms))
    if unknown:
        raise _fail(equation, f"no operand has the label {min(unknown)!r} of the result")
    return Equation(operands, out.replace(DOTS, _hidden(hidden)))

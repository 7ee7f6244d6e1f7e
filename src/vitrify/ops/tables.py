"""Keys that only a run knows: where one stands in a list, and in which order Python has the items of a set.

A key may be taken apart into several tensors, each of which has a list of its own; `keys` puts those of a list together
again, as values of Python's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..core.dtype import bool_, int64
from ..core.meta import UNKNOWN, Meta
from ..core.set_log import ADD, first_popped, replayed
from .registry import NoGradient, OpDef, define_op


class Keys(Protocol):
    """Gives the keys of which lists hold the tensors, or what is equal where they are."""

    def __call__(self, *columns: Sequence[Any]) -> list[Any]:
        """The keys."""

    def told_apart(self, *columns: Sequence[Any]) -> list[Any]:
        """What is equal where the keys are, which may be made in less time."""


_NOT_DIFFERENTIABLE = NoGradient("the result is a place among keys")


def _halves(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The lists of the keys' tensors in the first half of `values`, and those of the one key in the second."""
    half = len(values) // 2
    return values[:half], [[part] for part in values[half:]]


def _place(values: Sequence[Any], keys: Keys) -> int:
    columns, one = _halves(values)
    known, (wanted,) = keys.told_apart(*columns), keys.told_apart(*one)
    try:
        return known.index(wanted)
    except ValueError:
        return len(known)


def _codes(codes: Sequence[Any]) -> list[int]:
    return [code.item() for code in codes]


def _is_in(codes: Sequence[Any], values: Sequence[Any], keys: Keys) -> bool:
    columns, one = _halves(values)
    done = _codes(codes)
    if all(code == ADD for code in done):
        (wanted,) = keys.told_apart(*one)
        return wanted in keys.told_apart(*columns)
    (wanted,) = keys(*one)
    return wanted in replayed(done, keys(*columns))


def _order(codes: Sequence[Any], columns: Sequence[Any], keys: Keys) -> list[int]:
    known = keys(*columns)
    places = {key: place for place, key in reversed(list(enumerate(known)))}
    return [places[key] for key in replayed(_codes(codes), known)]


def _popped(codes: Sequence[Any], columns: Sequence[Any], keys: Keys) -> int:
    known = keys(*columns)
    return known.index(first_popped(_codes(codes), known))


key_place_op: OpDef = define_op(  # where a key stands among others, or how many those are
    "key_place",
    amp="keep",
    kernel=lambda xp, *values, keys: xp.asarray(_place(values, keys), dtype="int64"),
    meta=lambda *values, keys: Meta((), int64),
    vjp=_NOT_DIFFERENTIABLE,
)
set_has_op: OpDef = define_op(
    "set_has",
    amp="keep",
    kernel=lambda xp, codes, *values, keys: xp.asarray(_is_in(codes, values, keys)),
    meta=lambda codes, *values, keys: Meta((), bool_),
    vjp=_NOT_DIFFERENTIABLE,
)
set_order_op: OpDef = define_op(  # the places, among its keys, of the items of a set, as Python goes through them
    "set_order",
    amp="keep",
    kernel=lambda xp, codes, *columns, keys: xp.asarray(_order(codes, columns, keys), dtype="int64"),
    meta=lambda codes, *columns, keys: Meta((UNKNOWN,), int64),
    vjp=_NOT_DIFFERENTIABLE,
)
set_popped_op: OpDef = define_op(
    "set_popped",
    amp="keep",
    kernel=lambda xp, codes, *columns, keys: xp.asarray(_popped(codes, columns, keys), dtype="int64"),
    meta=lambda codes, *columns, keys: Meta((), int64),
    vjp=_NOT_DIFFERENTIABLE,
)

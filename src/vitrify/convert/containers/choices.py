"""Items of lists that are one of several known Python values, such as texts: the program holds a number for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.dtype import int64
from ...core.errors import UnsupportedError
from ...core.meta import Meta
from ...ir.numbers import as_number
from ...ops.creation import assign
from ...ops.gather import gather
from ..values.base import builder, is_constant
from ..values.emit import is_numeric
from ..values.one_of import GraphOneOf


@dataclass(frozen=True)
class ChoiceSpec:
    """One of several Python values, each with the number by which the program knows it, in the order of the numbers."""

    options: tuple[tuple[int, Any], ...]
    meta: ClassVar[Meta] = Meta((), int64)

    @property
    def values(self) -> list[Any]:
        """The Python values."""
        return [value for _, value in self.options]

    def __or__(self, other: ChoiceSpec) -> ChoiceSpec:
        return ChoiceSpec(tuple(sorted({**dict(self.options), **dict(other.options)}.items(), key=lambda o: o[0])))


def is_choosable(value: Any) -> bool:
    """Whether a number of the program can stand for the value: it never changes, and is no number itself."""
    return is_constant(value) and not is_numeric(value)


def choice_of(value: Any) -> ChoiceSpec | None:
    """The spec of a Python value, or of one of several that a tensor decided; None where no number can stand for it."""
    values = value.options if isinstance(value, GraphOneOf) else (value,)
    if not all(map(is_choosable, values)):
        return None
    return ChoiceSpec(tuple(sorted({_number(v): v for v in values}.items(), key=lambda o: o[0])))


def _number(value: Any) -> int:
    known = builder().known_values
    return known.setdefault((type(value), value), len(known))


def number_for(value: Any) -> Any:
    """The number that stands for a value."""
    if not isinstance(value, GraphOneOf):
        return _number(value)
    return _mapped(value.code, [_number(option) for option in value.options])


def value_for(spec: ChoiceSpec, number: Any) -> Any:
    """The value that a number stands for."""
    if isinstance(number, int):
        return dict(spec.options)[number]
    if len(spec.options) == 1:
        return spec.options[0][1]
    places = {known: place for place, (known, _) in enumerate(spec.options)}
    return GraphOneOf([_mapped(number, [places.get(n, 0) for n in range(max(places) + 1)]), *spec.values], "an item")


def ranks(spec: ChoiceSpec, numbers: Any) -> Any:
    """Numbers that are in order as the values are for which these stand."""
    try:
        ordered: Sequence[Any] = sorted(spec.values)
    except TypeError as err:
        raise UnsupportedError(
            f"sorting by keys that have no order: {err}", hint="give `key` something that can be compared for each item"
        ) from err
    place = {number: ordered.index(value) for number, value in spec.options}
    return _mapped(numbers, [place.get(number, 0) for number in range(max(place) + 1)])


def _mapped(number: Any, table: list[int]) -> Any:
    """`table[number]`."""
    if table == list(range(len(table))):
        return number
    return as_number(gather(assign(table), number)) if number.ndim == 0 else gather(assign(table), number)

"""Displays of converted code: `[a, *b, c]` makes a list that may grow while a program is built, `(a, *b)` a tuple."""

from __future__ import annotations

from typing import Any

from ...core.pytree import is_open
from ...ir.builder import current_builder
from ..values.user_errors import for_user
from .lists import GraphList
from .tuples import GraphTuple


class Spread:
    """`*values` in a display or a call."""

    def __init__(self, values: Any) -> None:
        self.values = values


def new_tuple(values: tuple[Any, ...]) -> Any:
    """The tuple; one of any length where that of something behind a star is known only when the program runs."""
    made = new_list([*values])
    return GraphTuple(made) if is_open(made) else tuple(made)


@for_user
def new_list(values: list[Any]) -> list[Any]:
    """The list, as one that may grow while a program is built."""
    opened = next((i for i, v in enumerate(values) if isinstance(v, Spread) and is_open(v.values)), len(values))
    known = [item for v in values[:opened] for item in (v.values if isinstance(v, Spread) else (v,))]
    if current_builder() is None:
        return known
    made = GraphList(known)
    for value in values[opened:]:
        made.extend(value.values if isinstance(value, Spread) else [value])
    return made

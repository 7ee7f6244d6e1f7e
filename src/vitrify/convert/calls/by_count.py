"""`f(*values)` where only the program knows how many values there are: a path for each number that `f` may take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.errors import InternalError, UnsupportedError
from ...eager.layer import Layer
from ..containers.lists import GraphList
from ..control.raise_ import convert_raise, exception_maker
from ..values.base import builder
from ..values.sequences import as_sequence
from ..values.text import concatenated, shown

MAX_PATHS = 12
_GIVEN = re.compile(r"\b(\d+)(?= (?:positional |were given|was given)|$)")


def most_by_position(function: Any) -> int | None:
    """How many arguments a function takes by position; None where that is not known, or as many as there are."""
    called = function.forward if isinstance(function, Layer) else function
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def by_count(
    call: Callable[..., Any],
    values: GraphList,
    most: int,
    more: Callable[[Callable[[int], Any]], Any],
    function: Any,
) -> Any:
    """`call(*values)`, which has a path for each number of values up to `most`; `more(at)` gives what more of them do.

    at: gives the value at a place.
    """
    sequence: Any = as_sequence(values)
    least = 0 if values.items is None else values.items.least
    if most + 1 - least > MAX_PATHS:
        raise UnsupportedError(
            f"a call with *values, whose number is known only when the program runs: there are {most + 1 - least} "
            "numbers of them that the function may take",
            hint="pass the list itself, or let the function have a parameter such as `*values`",
        )

    name = getattr(function, "__name__", type(function).__name__)
    return _from_count(call, sequence, range(min(least, most + 1), most + 1), more, name)


def _from_count(
    call: Callable[..., Any],
    sequence: Any,
    counts: Sequence[int],
    more: Callable[[Callable[[int], Any]], Any],
    name: str,
) -> Any:
    """The call with as many values as there are, which is one of these counts or more than they all."""
    if not counts:
        return more(sequence.at)
    count, others = counts[0], counts[1:]

    def with_these() -> Any:
        return call(*[sequence.at(place) for place in range(count)])

    def with_more() -> Any:
        return _from_count(call, sequence, others, more, name)

    return builder().choose(sequence.length == count, with_these, with_more, name)


def too_many(
    call: Callable[..., Any], known: Sequence[Any], kwargs: Mapping[str, Any], most: int, length: Any
) -> BaseException:
    """What Python says of a call with `length` further values, more than the `most` that the function takes."""
    try:
        call(*known, *[None] * (most + 1), **kwargs)
    except TypeError as err:
        text = str(err)
    else:
        raise InternalError("a function takes more arguments by position than its signature says")
    given = list(_GIVEN.finditer(text))[-1:]
    message: Any = text
    for found in given:
        more = int(found.group()) - (most + 1)
        message = concatenated(text[: found.start()], shown(length + more), text[found.end() :])
    error: BaseException = convert_raise(exception_maker(TypeError)(message))
    return error

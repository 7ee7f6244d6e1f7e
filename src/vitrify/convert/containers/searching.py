"""What goes through the items of lists and deques: `index`, `count`, `remove`, comparisons, and `*`, which repeats all.

They are written as a user would write them and converted as that: a tensor may decide what the items are, how many
there are, and which one it is.
"""

from __future__ import annotations

from typing import Any

from ...core.converted_too import converted_too
from ...core.errors import InternalError
from ..values.base import is_graph
from ..values.flags import negated
from ..values.text import shown
from ..values.user_code import converted
from ..values.user_errors import note_user_error
from .dicts import must_hold


@converted_too
def _position(values: Any, value: Any, start: Any, stop: Any) -> Any:
    """The first place between two at which `value` is; -1 where it is nowhere."""
    n = len(values)
    if start < 0:
        start += n
        if start < 0:
            start = 0
    if stop is None:
        stop = n
    elif stop < 0:
        stop += n
    i = start
    while i < stop and i < n:
        if _is_it(values[i], value):
            return i
        i += 1
    return -1


@converted_too
def _count(values: Any, value: Any) -> Any:
    n = 0
    for item in values:
        if _is_it(item, value):
            n += 1
    return n


@converted_too
def _is_it(item: Any, value: Any) -> Any:
    return _is_one_object(item, value) or item == value


def _is_one_object(item: Any, value: Any) -> bool:
    return item is value


@converted_too
def _equal(left: Any, right: Any) -> Any:
    if len(left) != len(right):
        return False
    return all(_is_it(left[i], right[i]) for i in range(len(left)))


@converted_too
def _less(left: Any, right: Any) -> Any:
    for i in range(min(len(left), len(right))):
        if not _is_it(left[i], right[i]):
            return left[i] < right[i]
    return len(left) < len(right)


@converted_too
def _repeated(values: Any, times: Any) -> Any:
    found: Any = []
    for _ in range(times):
        found.extend(values)
    return found


def index_of(values: Any, kind: type, value: Any, start: Any = 0, stop: Any = None) -> Any:
    """`values.index(value, start, stop)`; `kind`: the class of `values` in eager code."""
    found = converted(_position)(values, value, start, stop)
    _must_be_found(found, kind, "index", value)
    return found


def count_of(values: Any, value: Any) -> Any:
    """`values.count(value)`."""
    return converted(_count)(values, value)


def remove_from(values: Any, kind: type, value: Any) -> None:
    """`values.remove(value)`."""
    found = converted(_position)(values, value, 0, None)
    _must_be_found(found, kind, "remove", value)
    del values[found]


def compared_by_item(symbol: str, left: Any, right: Any) -> Any:
    """`left symbol right` of two lists."""
    if left is right:
        return symbol in ("==", "<=", ">=")  # each item is the same object
    if symbol in ("==", "!="):
        found = converted(_equal)(left, right)
        return found if symbol == "==" else negated(found)
    is_less = converted(_less)(left, right) if symbol in ("<", ">=") else converted(_less)(right, left)
    return is_less if symbol in ("<", ">") else negated(is_less)


def repeated(values: Any, times: Any) -> Any:
    """`values * times`."""
    return converted(_repeated)(values, times)


def _must_be_found(position: Any, kind: type, method: str, value: Any) -> None:
    """Raise what the method of Python's own does, or let the program do so, where there is no such place."""
    if not is_graph(position) and position >= 0:
        return
    before, *behind = _message(kind, method).split(_NAME)
    text = before + shown(value, "repr") + behind[0] if behind else before
    if not is_graph(position):
        raise note_user_error(ValueError(text))
    must_hold(position >= 0, ValueError(text))


_NAME = "\0"


class _Value:
    """A value by whose name in a message Python's own is known from the rest."""

    def __repr__(self) -> str:
        return _NAME


def _message(kind: type, method: str) -> str:
    """What Python's own says of a value that is not there, which depends on the version of Python."""
    try:
        getattr(kind(), method)(_Value())
    except ValueError as err:
        return str(err)
    raise InternalError(f"{kind.__name__}.{method} finds a value in what is empty")

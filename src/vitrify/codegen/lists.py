"""Lists of arrays as values of a plan: what makes, reads and changes them, as steps (`list_steps`).

They are lists of Python's, as the interpreter's are, so either can go on with what the other made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.meta import Meta
from .emit import BOOL, INT64
from .errors import NoNativeForm
from .kept import LARGE_KEPT, array_words, no_array_words, object_words
from .list_steps import LENGTH
from .missing import one_kind
from .operands import CONSTANT, STATE, Frame, Listed, Maybe, Operand

if TYPE_CHECKING:
    from .assembler import Assembler

_NOT_COUNTED_DOWN = -1


def new_list(n: Assembler, items: tuple[Any, ...] = ()) -> Listed:
    """A new list of these."""
    found = Listed.of(_words(n))
    n.add("list_new", [STATE, found])
    for item in items:
        found = appended(n, found, item)
    return found


def _words(n: Assembler) -> Operand:
    if not n.makes_objects:
        raise NoNativeForm("lists have no native form")
    n.has_objects = True
    return n.new((3,), INT64)


def given_list(n: Assembler, given: Operand, example: Any) -> Listed:
    """A list that the program is given; example: one whose items are of the kind that its are."""
    first = next((x for x in example if isinstance(x, np.ndarray)), None)
    found = Listed.of(_words(n), None if first is None else (first.shape, first.dtype))
    n.add("list_given", [found, given])
    return found


def _listed(x: Any) -> Listed:
    if not isinstance(x, Listed):
        raise NoNativeForm("what should be a list is none")
    return x


def length_of(x: Any) -> Operand:
    """How many items a list has."""
    return Operand(_listed(x).buffer, x.offset + 8 * LENGTH, (), (), INT64)


def appended(n: Assembler, x: Any, item: Any, into: Listed | None = None) -> Listed:
    """A list with one more item; in the words of another, which may be the same."""
    x = _listed(x)
    words, kind = _item_words(n, item)
    found = Listed.of(_words(n) if into is None else into, one_kind([x.item, kind]))
    n.add("list_append", [STATE, x, found, *words])
    return found


def _item_words(n: Assembler, item: Any) -> tuple[list[Any], Any]:
    """The words of an item, and its kind."""
    if item is None:
        return no_array_words(), None
    if isinstance(item, (Frame, Listed)):
        raise NoNativeForm("a list of what are no arrays")
    kind = item.shape, item.dtype
    if item.buffer.kind == CONSTANT and isinstance(item.buffer.number, bytes) and not any(item.strides):
        number = np.frombuffer(item.buffer.number, item.dtype, 1, item.offset)
        return object_words(id(n.held(np.broadcast_to(number.reshape(()), item.shape)))), kind
    _need_small(item)
    flag = item.flag if isinstance(item, Maybe) else _NOT_COUNTED_DOWN
    return array_words(n.contiguous(Operand.of(item)), flag), kind


def _need_small(item: Operand) -> None:
    if item.size * item.dtype.itemsize > LARGE_KEPT:
        raise NoNativeForm("a list would hold copies of much that the interpreter shares")


def kind_of(x: Any, meta: Any) -> tuple[Any, Any]:
    """The shape and dtype of a list's items, of which this is known."""
    if isinstance(meta, Meta) and meta.is_static:
        return meta.shape, meta.dtype.np
    if not isinstance(x, Listed) or x.item is None:
        raise NoNativeForm("the sizes of a list's items are known only when the program runs")
    return x.item


def item_of(
    n: Assembler, x: Any, index: Any, kind: tuple[Any, Any], end: Operand | None = None, may_miss: bool = False
) -> Operand:
    """A copy of an item; index: a number, or an array of one; counted down from before `end` if that is given.

    may_miss: whether it may be None.
    """
    x = _listed(x)
    place = n.full((), index, INT64) if isinstance(index, int) else n.reshape(index, ())
    if place.dtype != INT64:
        raise NoNativeForm("a place in a list is no int64")
    out = n.new(*kind)
    _need_small(out)
    if may_miss:
        out = Maybe.of(out, n.new((), BOOL))
    words = array_words(out, out.flag if isinstance(out, Maybe) else _NOT_COUNTED_DOWN)
    n.add("list_take", [STATE, x, place, _NOT_COUNTED_DOWN if end is None else end, *words])
    n.has_objects = True
    return out


def shortened(n: Assembler, x: Any) -> Listed:
    """A list without its last item."""
    found = Listed.of(_words(n), _listed(x).item)
    n.add("list_shorten", [x, found])
    return found


def turned_around(n: Assembler, x: Listed) -> None:
    """Reverse a list that the run made, of which this is all, and which nobody else has."""
    n.add("list_reverse", [STATE, x])


__all__ = ["appended", "given_list", "item_of", "kind_of", "length_of", "new_list", "shortened", "turned_around"]

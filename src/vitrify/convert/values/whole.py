"""Numbers that are an int on one path and a float on another, where Python takes whole ones only.

One float Variable stands for both. Where it indexes, counts or shifts it is the whole number that it is, and the
program raises what Python says of a float where the path gives one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import VitrifyError
from ...core.pytree import OpenTable, OverList
from ...eager.host_ops import assert_op
from ...eager.tensor import wrap
from ...ir.graph_tensor import GraphTensor, as_number, is_number
from ...ir.varying import kind_of
from ...ops.creation import zeros
from ...ops.like import cast
from .base import is_tensor
from .deferred import Call, Deferred, record
from .facts import ask, is_of_one_class, of_its_class
from .handlers import refuse_unless_decided
from .odd_operands import stand_in
from .sequences import GraphSequence
from .text import GraphText
from .user_errors import note_user_error

_SEQUENCES = (Sequence, OverList, GraphSequence, GraphText, Deferred)


def is_whole_or_not(value: Any) -> bool:
    """Whether a number is whole, by its class, on one path and not on another."""
    kind = kind_of(value)
    kinds = frozenset() if kind is None else kind.kinds
    return float in kinds and not kinds.isdisjoint((int, bool)) and GraphTensor not in kinds and is_number(value)


def _is_float(value: Any) -> bool:
    """Whether it is a float of the program on every path."""
    return is_number(value) and value.dtype.is_floating and is_of_one_class(value)


def whole(value: Any, use: Callable[[Any], Any]) -> Any:
    """`value`, a whole number where it is one on some path; the program raises what `use` says of a float on others."""
    is_float = _is_float(value)
    if not is_float and not is_whole_or_not(value):
        return value
    error = _error_of(use)
    if is_float:
        if error is not None:
            raise note_user_error(error)
        return value
    if error is not None:
        is_whole = ask(value, lambda kind: issubclass(kind, int))
        if not refuse_unless_decided(error, is_whole):
            record(assert_op, is_whole, error=Call(type(error), error.args))
    return as_number(cast(value, "int64"))


def _error_of(use: Callable[[Any], Any]) -> Exception | None:
    try:
        use(0.5)
    except (TypeError, VitrifyError) as err:
        return err.with_traceback(None)
    return None


def whole_operands(use: Callable[[Any, Any], Any], left: Any, right: Any) -> tuple[Any, Any]:
    """The operands of an operator that takes whole numbers only, or a sequence and one."""
    if not (is_whole_or_not(left) or is_whole_or_not(right)):
        return left, right
    first, second = (1 if is_whole_or_not(value) else _like(value) for value in (left, right))
    return whole(left, lambda number: use(number, second)), whole(right, lambda number: use(first, number))


def _like(value: Any) -> Any:
    return of_its_class(value) if is_tensor(value) else stand_in(value)


def whole_key(owner: Any, key: Any, use: Callable[[Any, Any], Any]) -> Any:
    """`key`, an index or slice of `owner`, whose numbers are whole ones; `use(owner, key)` is what it is for."""
    parts = key if isinstance(key, tuple) else (key,)
    if not _has_places(owner) or not any(map(_holds_such, parts)):
        return key
    like = wrap(zeros([1] * owner.ndim, owner.dtype).numpy()) if is_tensor(owner) else stand_in(owner)
    found = tuple(_whole_part(part, lambda part: use(like, part)) for part in parts)
    return found if isinstance(key, tuple) else found[0]


def _has_places(owner: Any) -> bool:
    """Whether what is inside is found by whole numbers; of a table, or what a library made, a float may be a key."""
    return is_tensor(owner) or (isinstance(owner, _SEQUENCES) and not isinstance(owner, OpenTable))


def _holds_such(part: Any) -> bool:
    bounds = (part.start, part.stop, part.step) if isinstance(part, slice) else (part,)
    return any(_is_float(bound) or is_whole_or_not(bound) for bound in bounds)


def _whole_part(part: Any, use: Callable[[Any], Any]) -> Any:
    if not isinstance(part, slice):
        return whole(part, use)
    return slice(*[whole(bound, lambda number: use(slice(number))) for bound in (part.start, part.stop, part.step)])

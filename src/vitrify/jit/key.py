"""CacheKey: everything that a traced program was built for, compared field by field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, GeneratorType
from typing import Any
from weakref import ref

from ..convert.state.cells import stored_cells
from ..convert.values.user_code import is_own_file
from ..core.closures import content_or_cell
from ..core.dtype import DType
from ..core.exact import exact
from ..core.identity import ById
from ..core.modes import AmpState
from ..core.place import Place
from ..core.pytree import TreeDef
from ..ir.input_spec import InputSpec
from ..ops.promote import SCALARS

BY_VALUE = frozenset({bool, int, float, str, bytes, type(None)})
"""Classes whose objects hold nothing that `==` does not compare, but for the sign of 0.0."""


class ByContent:
    """A static argument that has no hash although its content could have one: compared by `content`."""

    __slots__ = ("content", "value")

    def __init__(self, value: Any, content: Any) -> None:
        self.value = value
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByContent) and other.content == self.content

    def __hash__(self) -> int:
        return hash(self.content)

    def __repr__(self) -> str:
        return repr(self.value)


_CONTENT: dict[type, Callable[[Any], Any]] = {
    slice: lambda s: exact((s.start, s.stop, s.step)),
    range: lambda r: exact((r.start, r.stop, r.step)),
    complex: exact,
    set: lambda s: frozenset([(item.__class__, content(item)) for item in s]),
    frozenset: lambda s: frozenset([(item.__class__, content(item)) for item in s]),
    bytearray: bytes,
}


def _function_content(fn: FunctionType) -> Any:
    """What a function made anew for each call (a lambda, a closure) is told by: its code and what it holds."""
    if stored_cells(fn.__code__):
        return ById(fn)
    held = (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).items(), *map(content_or_cell, fn.__closure__ or ()))
    return fn.__code__, id(fn.__globals__), tuple(map(_held, held))


def _held(value: Any) -> Any:
    """Numbers and strings by value, all else by identity."""
    if isinstance(value, tuple):
        return tuple(map(_held, value))
    return (value.__class__, value) if isinstance(value, (*SCALARS, str, bytes, type(None))) else ById(value)


_CONTENT[FunctionType] = _function_content
_CONTENT[partial] = lambda p: (content(p.func), tuple(map(_held, p.args)), tuple(map(_held, p.keywords.items())))


def content(value: Any) -> Any:
    """`value` as part of a key: its content where that is safe, itself if it has a hash, else its identity."""
    read = _CONTENT.get(value.__class__)
    if value.__class__ is GeneratorType:
        return ref(value)  # who keeps the key must not keep it from being closed
    try:
        if read is not None:
            return ByContent(value, read(value))
        if _is_told_by_less(value):
            return ById(value)
        hash(value)
    except TypeError:
        return ById(value)
    return value


def _is_told_by_less(value: Any) -> bool:
    """Whether `==` may hold for two objects in which a program reads different things: it is the user's, or knows
    nothing of attributes that were set on a string or number of the user's class.
    """
    compare = value.__class__.__eq__
    if isinstance(compare, FunctionType):
        if compare.__code__.co_filename == "<string>" and is_dataclass(value):  # not written, but made of the fields
            return not all(f.compare for f in fields(value))
        return is_own_file(compare.__code__.co_filename)
    return compare is not object.__eq__ and not isinstance(value, (type, Enum)) and bool(getattr(value, "__dict__", ()))


@dataclass(frozen=True)
class CacheKey:
    """What a program depends on.

    Fields:
        structure: nesting of the arguments.
        specs: shape (with -1), dtype and stop_gradient of each tensor argument.
        values: (type, value) of each other argument.
        modes: training flag of every Layer in reach.
        grad: whether gradients were recorded.
        amp: the auto_cast state.
        place: the device.
        default_dtype: the floating type of tensors made inside.
    """

    structure: TreeDef
    specs: tuple[InputSpec, ...]
    values: tuple[Any, ...]
    modes: tuple[bool, ...]
    grad: bool
    amp: AmpState | None
    place: Place
    default_dtype: DType

    def differing_fields(self, other: CacheKey) -> list[str]:
        """Names of the fields in which the keys differ."""
        return [f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)]


def nearest(key: CacheKey, others: Sequence[CacheKey]) -> tuple[CacheKey, list[str]] | None:
    """The key that differs from `key` in the fewest fields, with their names; None when there is none."""
    ranked = [(other, key.differing_fields(other)) for other in others]
    return min(ranked, key=lambda pair: len(pair[1])) if ranked else None

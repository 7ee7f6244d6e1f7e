"""Which options of two values of several kinds are of one kind, so that one value can stand for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ...core.pytree import OpenList, node_of
from ...ir.graph_tensor import as_number
from ...ir.program import Block
from ...ops.compare import equal
from ...ops.promote import SCALARS
from ...ops.select import where
from ..containers.structure import is_alike
from ..values.base import Undefined, is_constant, is_equal, is_tensor
from ..values.decided import are_apart
from ..values.emit import Deferred, common_dtype, is_numeric, is_python_number
from ..values.one_of import MAX_OPTIONS, GraphOneOf, options_of
from ..values.text_choice import is_text
from ..values.user_errors import told

_BUILTIN = (*SCALARS, str)


class Lacking(Undefined):
    """Stands for an option that a path does not have: nobody reads it there."""

    __slots__ = ()


LACKING = Lacking()


@dataclass(frozen=True)
class Paired:
    """The options of two values, in pairs, and what says on each of the two paths which option it is."""

    options: list[tuple[Any, Any]]
    codes: tuple[Any, Any]


def paired_options(a: Any, b: Any, then: Block, orelse: Block, fits: Callable[[Any, Any], bool]) -> Paired:
    """The options of `a` and `b`, known at the ends of two blocks; one value can stand for those that fit.

    Exceptions that tell the same are told apart only as long as there are few: `is` alone could notice.
    """
    given = options_of(a, then), options_of(b, orelse)
    paired = _paired(*given, fits)
    if len(paired[0]) > MAX_OPTIONS:
        paired = _paired(*given, lambda x, y: fits(x, y) or _tell_the_same(x, y))
    options, (first, second) = paired
    return Paired([(x, x) if _tell_the_same(x, y) else (x, y) for x, y in options], (_code(a, first), _code(b, second)))


Places = dict[Any, int]


def _paired(
    a: Mapping[Any, Any], b: Mapping[Any, Any], fits: Callable[[Any, Any], bool]
) -> tuple[list[tuple[Any, Any]], tuple[Places, Places]]:
    """The pairs, and which of them each of the options of either value is in."""
    options: list[tuple[Any, Any]] = []
    places: tuple[Places, Places] = ({}, {})
    for place, value in a.items():
        places[0][place] = len(options)
        options.append((value, LACKING))
    for place, value in b.items():
        found = next((i for i, (x, y) in enumerate(options) if y is LACKING and fits(x, value)), len(options))
        places[1][place] = found
        options[found : found + 1] = [(options[found][0] if found < len(options) else LACKING, value)]
    return options, places


def _tell_the_same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, BaseException) and told(a) is not None and told(a) == told(b)


def _code(value: Any, places: Mapping[Any, int]) -> Any:
    return Recoded(value.code, places) if isinstance(value, GraphOneOf) else places[None]


@dataclass(frozen=True)
class Recoded(Deferred):
    """A number of an option, among others than those it was counted in. `places`: the new number of each old one."""

    code: Any
    places: Mapping[int, int]

    def make(self) -> Any:
        """The number, in the block where it is needed."""
        found: Any = self.code
        for old, new in self.places.items():
            if old != new:
                found = where(equal(self.code, old), new, found)
        return as_number(found)


def fits(a: Any, b: Any) -> bool:
    """Whether one value can stand for both."""
    if a is b or are_lists(a, b):
        return True
    if is_derived_scalar(a) or is_derived_scalar(b):
        return a.__class__ is b.__class__ and is_equal(a, b) and not isinstance(a, Enum) and vars(a) == vars(b)
    if is_numeric(a) and is_numeric(b):
        return have_one_rank(a, b) and common_dtype(a, b) is not None and not are_apart(a, b)
    if is_text(a) and is_text(b):
        return a.__class__ is not str or b.__class__ is not str or a == b
    first, second = node_of(a), node_of(b)
    if first is not None and second is not None:
        return is_alike(first, second) or (first[0] is dict and second[0] is dict)
    return a.__class__ is b.__class__ and is_constant(a) and not is_numeric(a) and is_equal(a, b)


def are_lists(a: Any, b: Any) -> bool:
    """Whether a list may stand for both, of which a tensor decides how long it is; not for shapes and other classes."""
    return all(value.__class__ is list or isinstance(value, OpenList) for value in (a, b))


def is_derived_scalar(value: Any) -> bool:
    """Whether it is a number or string of a class built on Python's own (an `IntEnum`): no tensor stands for it."""
    return isinstance(value, _BUILTIN) and value.__class__ not in _BUILTIN and not isinstance(value, np.generic)


def have_one_rank(a: Any, b: Any) -> bool:
    """Whether two numbers or tensors have as many dimensions; a Python number takes those of a tensor."""
    if is_python_number(a) or is_python_number(b):
        return True
    return len(a.shape) == len(b.shape) if is_tensor(a) and is_tensor(b) else True

"""Python values that a tensor chose among a few, used where Python needs one: each of them is a case by itself.

`axis = 0 if t else None` is a number of the program that may be None. Operators that compute with it need no more; who
needs a Python value (the axis of a sum, the end of a slice) is called once for each value that it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.errors import ArgumentError, UnsupportedError
from ...core.pytree import is_open
from ...ir.builder import current_builder
from ...ir.numbers import is_number
from ...ir.program import Variable
from ...ops.compare import equal
from ...ops.promote import SCALARS
from .base import builder
from .optional import is_none, optional_kind

Function = Callable[..., Any]
MAX_CASES = 8
AMONG = "among"
"""The attribute of a number of the program that is one of a few Python numbers: a tuple of them."""
_NAME = "a call with a value that a tensor decides"
CHOSEN = "chosen_by"
"""The attribute of a number that a condition alone decides: a `Chosen`."""


@dataclass(frozen=True)
class Chosen:
    """The condition, and the number where it holds and where it does not."""

    pred: Variable
    then: Any
    orelse: Any


def among(value: Any) -> tuple[Any, ...] | None:
    """The Python numbers that a value may be; None where they are not known."""
    if value.__class__ in SCALARS:
        return (value,)
    return value.__dict__.get(AMONG) if isinstance(value, Variable) else None


def either_of(sides: Sequence[Any]) -> tuple[Any, ...] | None:
    """The Python numbers that one of the values may be; None where they are not known, or too many."""
    found: list[Any] = []
    for values in map(among, sides):
        if values is None:
            return None
        found += [value for value in values if not any(_is_same(value, known) for known in found)]
    is_one_class = len({value.__class__ for value in found}) == 1
    return tuple(found) if is_one_class and len(found) <= MAX_CASES else None


def note_among(number: Variable, values: tuple[Any, ...] | None) -> None:
    """Note of a number that it is one of these Python numbers, if they are known."""
    if values is not None:
        number.__dict__[AMONG] = values
        builder().has_cases = True


def note_chosen(number: Variable, pred: Variable, then: Any, orelse: Any) -> None:
    """Note of a number that it is `then` where the condition holds and `orelse` where it does not."""
    number.__dict__[CHOSEN] = Chosen(pred, then, orelse)


def _is_same(a: Any, b: Any) -> bool:
    return a.__class__ is b.__class__ and repr(a) == repr(b)  # 0.0 is not -0.0


def by_cases(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`function(*args, **kwargs)`; where it needs the Python value of arguments, once for each that they may have."""
    build = current_builder()
    if build is None or not (build.has_cases or build.has_optional):
        return function(*args, **kwargs)
    given = (list(args), dict(kwargs))
    found = next((part for part in held_parts(given) if _is_case(part, given)), None)
    if found is None:
        return function(*args, **kwargs)
    try:
        with build.trial() as trial:
            result = function(*args, **kwargs)
            trial.keep()
            return result
    except (ArgumentError, UnsupportedError, TypeError):
        pass
    return _each(lambda given: by_cases(function, *given), found, given)


def is_among(value: Any) -> bool:
    """Whether it is a number of the program that is one of a few Python numbers, on every path one."""
    return isinstance(value, Variable) and AMONG in value.__dict__ and optional_kind(value) is None


def for_each_number(use: Callable[[Any], Any], number: Variable) -> Any:
    """`use` of the Python number that `number` is, on a path for each that it may be."""
    return _each(use, number, number)


def _each(call: Callable[[Any], Any], found: Variable, given: Any) -> Any:
    """`call(given)` with each of the values that `found` may have in its place."""
    choose = builder().choose
    if optional_kind(found) is not None:
        return choose(is_none(found), lambda: call(put_known(given, {found: None})), lambda: call(given), _NAME)
    chosen: Chosen | None = found.__dict__.get(CHOSEN)
    if chosen is not None:
        others = [v for v in held_parts(given) if _is_chosen_by(v, chosen.pred)]  # all that this condition decides
        sides = [{v: getattr(v.__dict__[CHOSEN], side) for v in others} for side in ("then", "orelse")]
        then, orelse = (partial(call, put_known(given, side)) for side in sides)
        return choose(chosen.pred, then, orelse, _NAME)
    return _one_by_one(call, found, given, found.__dict__[AMONG])


def _one_by_one(call: Callable[[Any], Any], found: Variable, given: Any, values: Sequence[Any]) -> Any:
    first, *others = values
    use = partial(call, put_known(given, {found: first}))
    if not others:
        return use()
    return builder().choose(equal(found, first), use, lambda: _one_by_one(call, found, given, others), _NAME)


def _is_case(value: Any, given: tuple[Sequence[Any], Mapping[str, Any]]) -> bool:
    """Whether it is one of a few numbers, or may be None inside an argument."""
    if not isinstance(value, Variable):
        return False
    if optional_kind(value) is None:
        return AMONG in value.__dict__
    return not any(argument is value for argument in (*given[0], *given[1].values()))


def _is_chosen_by(value: Any, pred: Variable) -> bool:
    chosen = value.__dict__.get(CHOSEN) if isinstance(value, Variable) and is_number(value) else None
    return chosen is not None and chosen.pred is pred


def held_parts(value: Any) -> Iterator[Any]:
    """What a value is or, in lists, tuples, dicts and slices, holds."""
    if isinstance(value, slice):
        yield from (value.start, value.stop, value.step)
    elif isinstance(value, (list, tuple)) and not is_open(value):
        for item in value:
            yield from held_parts(item)
    elif value.__class__ is dict:
        for item in value.values():
            yield from held_parts(item)
    else:
        yield value


def put_known(value: Any, known: Mapping[Variable, Any]) -> Any:
    """`value` with what is known in place of the numbers that stand for it."""
    if isinstance(value, Variable):
        return known.get(value, value)
    if not any(isinstance(part, Variable) and part in known for part in held_parts(value)):
        return value
    if isinstance(value, slice):
        return slice(*[put_known(part, known) for part in (value.start, value.stop, value.step)])
    if value.__class__ is dict:
        return {key: put_known(item, known) for key, item in value.items()}
    items = [put_known(item, known) for item in value]
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)

"""Axes of library functions that only a run knows: a call for each axis that there is, on a path of its own.

Few ops can work along a dimension that they do not know. Which numbers name one is known all the same, from the rank:
the function is tried with each of them, and so is what it raises for any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

from ...core.bound import bound_to
from ...core.errors import ArgumentError, UnsupportedError, VitrifyError
from ...eager.host_ops import assert_op
from ...eager.layer import Layer
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number
from ...ir.program import Variable
from ...ops.compare import equal, logical_or
from ...ops.shape import reshape
from ..control.raise_ import convert_raise, exception_maker
from ..values.base import builder, is_tensor
from ..values.cases import held_parts, put_known
from ..values.deferred import Call, captured, record
from ..values.handlers import RaisedInCallError, refuse_unless_decided
from ..values.text import concatenated, shown
from ..values.user_errors import for_user, without_frames
from .late_calls import REFUSALS, has_open_number, late_call

Function = Callable[..., Any]
Given = tuple[Sequence[Any], Mapping[str, Any]]
_AXES = frozenset(
    ["axis", "axes", "axis1", "axis2", "dim", "dim1", "dim2", "dims", "perm", "start_axis", "stop_axis"]
    + ["source", "destination"]
)
_TAKES_THE_REST = frozenset({"perm", "dims"})  # whose items may be given one by one
MAX_PATHS = 64
_NO_AXIS = 1_000_003
"""What no tensor has as many dimensions as; its digits are found again in the text of an error."""


def for_axes(function: Function) -> Function:
    """`function`; in a program, what calls it for each axis where only a run knows the one that it is given."""
    return function if current_builder() is None else partial(over_axes_of, function)


@for_user
def over_axes_of(function: Function, *args: Any, **kwargs: Any) -> Any:
    """`over_axes(function, args, kwargs)`."""
    return over_axes(function, args, kwargs)


def over_axes(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`function(*args, **kwargs)`; where it needs the value of an axis, on a path for each that there is.

    Where it needs the value of another number, the call waits for the run.
    """
    given = (list(args), dict(kwargs))
    if not any(map(_may_be_axis, held_parts([given[0], given[1]]))) and not has_open_number(given):
        return function(*args, **kwargs)
    try:
        with builder().trial() as trial:
            try:
                result = function(*args, **kwargs)
            except RaisedInCallError:
                trial.keep()  # a `try` asks what decides it
                raise
            trial.keep()
            return result
    except RaisedInCallError:
        raise
    except REFUSALS as err:
        tried = _tried(function, given) if isinstance(err, (ArgumentError, UnsupportedError, TypeError)) else None
        found = late_call(function, given) if tried is None else tried.call
        if found is None:
            raise
    return found()


def _tried(function: Function, given: Given) -> _Tried | None:
    """What the function does with each axis; None where no axis is what it needs."""
    found = list(dict.fromkeys(_open_axes(function, given)))
    rank = _rank(function, given) if found else None
    if rank is None or (rank + 1) ** len(found) > MAX_PATHS:
        return None
    tried = _Tried(function, given, found, rank)
    return tried if tried.works else None


class _Tried:
    """What a function does with each value of the first of its open axes, whatever the others are."""

    def __init__(self, function: Function, given: Given, found: Sequence[Variable], rank: int) -> None:
        self.function = function
        self.given = given
        self.axis, self.others = found[0], found[1:]
        self.range = range(-rank - 1, rank + 1)
        self.errors = {axis: self._error(axis) for axis in (*self.range, _NO_AXIS)}
        self.count = rank + (self.errors[rank] is None)  # `stack` and `unsqueeze` know one axis more
        uses = [value for value in held_parts([given[0], dict(given[1])]) if value is self.axis]
        # What is a number elsewhere, too, must not be exchanged for another that names the same axis.
        self.names_axes = len(uses) == sum(value is self.axis for value in _open_axes(function, given))
        is_refused = any(isinstance(error, UnsupportedError) for error in self.errors.values())
        self.works = not is_refused and self.errors[_NO_AXIS] is not None and None in self.errors.values()

    def call(self) -> Any:
        """What it gives for the axis of the run."""
        number = reshape(self.axis, []) if self.axis.ndim else self.axis
        cases = [*self._cases()]
        is_axis = reduce(logical_or, [equal(number, axis) for case in cases for axis in case])
        error, node = self._no_axis(number)
        if not refuse_unless_decided(error, as_number(is_axis)):
            record(assert_op, is_axis, error=node)
        return self._first_of(number, cases)

    def _error(self, axis: int) -> Exception | None:
        return _error(self.function, put_known(self.given, {self.axis: axis}), self.others, self.range)

    def _cases(self) -> Iterator[tuple[int, ...]]:
        """The numbers that name one axis each, and those that are refused for a reason of their own."""
        for axis in range(self.count):
            same = axis - self.count
            if self.errors[axis] is None and self.errors[same] is None and self.names_axes:
                yield axis, same
                continue
            yield from ((number,) for number in (axis, same) if self._is_case(number))
        ends = [number for number in self.range if not -self.count <= number < self.count]
        yield from ((number,) for number in ends if self._is_case(number))

    def _is_case(self, number: int) -> bool:
        """Whether the function works for the number, or refuses it for another reason than one that is far off."""
        error = self.errors[number]
        return error is None or str(error) != str(self.errors[_NO_AXIS]).replace(str(_NO_AXIS), str(number))

    def _first_of(self, number: Any, cases: Sequence[tuple[int, ...]]) -> Any:
        """What the function does with a number that is in one of these cases."""
        (axis, *same), *others = cases
        if not others:
            return self._use(axis)
        is_it = reduce(logical_or, [equal(number, value) for value in (axis, *same)])
        return builder().choose(is_it, partial(self._use, axis), lambda: self._first_of(number, others), "an axis")

    def _use(self, axis: int) -> Any:
        error = self.errors[axis]
        if error is not None:
            raise convert_raise(error.with_traceback(None))
        args, kwargs = put_known(self.given, {self.axis: axis})
        return over_axes(self.function, args, kwargs)

    def _no_axis(self, number: Any) -> tuple[BaseException, Call]:
        """What the function raises for a number that is no axis, with that number in its text, and how to make it."""
        error: Any = self.errors[_NO_AXIS]
        if not isinstance(error, VitrifyError):
            return error, Call(type(error), tuple(map(captured, error.args)))
        before, *after = error.message.split(str(_NO_AXIS))
        text = concatenated(before, *[part for behind in after for part in (shown(number), behind)])
        made = exception_maker(type(error))(text, hint=error.hint)
        return made, Call(type(error), (captured(text),), {"hint": error.hint})


def _error(function: Function, given: Given, open_axes: Sequence[Variable], among: range) -> Exception | None:
    """What the function raises for this, for all axes of a range where some are open; None if it works for one."""
    if open_axes:
        axis, *others = open_axes
        errors = [_error(function, put_known(given, {axis: number}), others, among) for number in among]
        return None if None in errors else errors[-1]
    args, kwargs = given
    try:
        with builder().trial():
            function(*args, **kwargs)
    except (VitrifyError, TypeError, ValueError, IndexError) as err:
        return without_frames(err)
    return None


def _open_axes(function: Function, given: Given) -> Iterator[Variable]:
    """The axes among the arguments that only a run knows."""
    args, kwargs = given
    named = [value for name, value in kwargs.items() if name in _AXES]
    if any(map(_may_be_axis, held_parts(args))):
        named += _axes_by_position(function, args)
    return filter(_may_be_axis, held_parts(named))


def _may_be_axis(value: Any) -> bool:
    return isinstance(value, Variable) and value.dtype.is_integer and tuple(value.shape) in ((), (1,))


def _axes_by_position(function: Function, args: Sequence[Any]) -> list[Any]:
    called: Any = function.forward if isinstance(function, Layer) else function
    try:
        names = list(inspect.signature(called).parameters)
    except (TypeError, ValueError):
        return []
    rest = next((i for i, name in enumerate(names) if name in _TAKES_THE_REST), len(args))
    return [value for i, value in enumerate(args) if i >= rest or (i < len(names) and names[i] in _AXES)]


def _rank(function: Function, given: Given) -> int | None:
    """How many dimensions the first tensor among the arguments has that is no number."""
    tensors = [bound_to(function), *held_parts([given[0], dict(given[1])])]
    return next((value.ndim for value in tensors if is_tensor(value) and value.ndim and not _may_be_axis(value)), None)

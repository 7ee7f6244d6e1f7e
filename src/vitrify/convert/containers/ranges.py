"""`GraphRange`: what `range(start, stop, step)` is where only the program knows a bound or the step."""

from __future__ import annotations

import builtins
import operator
from typing import Any, NoReturn

from ...core.dtype import int64
from ...core.errors import ArgumentError, UnsettledError
from ...core.meta import Meta
from ...core.open_range import OpenRange
from ...core.single import assert_index
from ...eager.host_ops import assert_op, host_value_op
from ...ir.graph_tensor import as_number, is_number, number
from ...ops.select import maximum, minimum, where
from ..values.base import as_graph, is_graph
from ..values.deferred import Call, captured, record
from ..values.emit import is_python_number
from ..values.flags import both, either, negated
from ..values.handlers import refuse_if_caught
from ..values.sequences import GraphSequence, constant
from ..values.text import concatenated, shown
from ..values.user_errors import for_user
from ..values.whole import whole
from .dicts import must_hold
from .positions import must_have


class GraphRange(OpenRange, GraphSequence):
    """A range whose bounds and step are whole numbers, some of them of the program."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        OpenRange.__init__(self, start, stop, step)

    @classmethod
    def of(cls, values: range | GraphRange) -> GraphRange:
        """The range as one whose bounds are the program's."""
        return cls(values.start, values.stop, values.step) if isinstance(values, range) else values

    @property
    def length(self) -> Any:
        """How often a loop over it runs; not at all where this is negative, too."""
        start, stop, step = self.bounds()
        if isinstance(step, int):
            return (stop - start + (step - (1 if step > 0 else -1))) // step
        return -((start - stop) // step)

    def at(self, index: Any) -> Any:
        """Number `index`, of those that there are."""
        return self.start + index * self.step

    def size(self) -> Any:
        return as_number(maximum(self.length, 0))

    def truth(self) -> Any:
        """Whether there are numbers."""
        return self.length > 0

    @for_user
    def __getitem__(self, key: Any) -> Any:
        size = self.size()
        if isinstance(key, slice):
            return self._slice(key, size)
        key = _bound(key)
        must_have(size, key, "range object index out of range")
        return self.at(_either_of(key < 0, key + size, key))

    def _slice(self, key: slice, size: Any) -> GraphRange:
        step = 1 if key.step is None else _bound(key.step)
        must_hold(step != 0, ValueError("slice step cannot be zero"))
        is_rising = step > 0
        low, high = _either_of(is_rising, 0, -1), _either_of(is_rising, size, size - 1)
        first = _either_of(is_rising, low, high) if key.start is None else _clipped(key.start, size, low, high)
        last = _either_of(is_rising, high, low) if key.stop is None else _clipped(key.stop, size, low, high)
        return GraphRange(self.at(first), self.at(last), self.step * step)

    @for_user
    def index(self, value: Any) -> Any:
        """`range.index`."""
        if not is_python_number(value):
            return range(0).index(value)
        must_hold(self._holds(value), ValueError(_not_in_range(value)))
        return (value - self.start) // self.step

    @for_user
    def count(self, value: Any) -> Any:
        """`range.count`."""
        return _either_of(self._holds(value), 1, 0) if is_python_number(value) else 0

    def _holds(self, value: Any) -> Any:
        """Whether a number is one of these."""
        steps = (value - self.start) // self.step
        is_one = _flag(steps * self.step + self.start == value)
        return both(is_one, both(_flag(steps >= 0), _flag(steps < self.length)))

    def __eq__(self, other: object) -> Any:
        """Python's rule: two ranges are equal that have the same numbers."""
        if not isinstance(other, (range, OpenRange)):
            return NotImplemented
        size = self.size()
        other_size = other.size() if isinstance(other, OpenRange) else builtins.len(other)
        starts_alike = either(_flag(size == 0), _flag(self.start == other.start))
        goes_alike = either(_flag(size <= 1), _flag(self.step == other.step))
        return both(_flag(size == other_size), both(starts_alike, goes_alike))

    def __ne__(self, other: object) -> Any:
        found = self.__eq__(other)
        return found if found is NotImplemented else negated(found)

    def hash(self) -> Any:
        """`hash(values)`."""
        (out,) = record(host_value_op, attrs={"meta": Meta((), int64)}, call=Call("hash", (captured(self),)))
        return as_number(out)

    def __hash__(self) -> NoReturn:
        raise UnsettledError("a range with bounds that only a run knows is a key or an item of a set")


def graph_range(start: Any, stop: Any, step: Any) -> GraphRange:
    """`range(start, stop, step)` where at least one is a tensor."""
    if isinstance(step, int) and step == 0:
        raise ArgumentError("range() arg 3 must not be zero")
    if is_graph(step):
        _assert_not_zero(step)
    return GraphRange(*(_bound(v) for v in (start, stop, step)))


def _bound(value: Any) -> Any:
    """A bound, step or index of a range; raises TypeError where it is none."""
    value = whole(as_graph(value), range)
    if not is_graph(value):
        return operator.index(value)
    if is_number(value) and value.dtype.is_floating:
        raise TypeError("'float' object cannot be interpreted as an integer")
    assert_index(value.dtype)
    return number(value, "an index", "int64")


def _assert_not_zero(step: Any) -> None:
    message = "range() arg 3 must not be zero"
    refuse_if_caught(ValueError(message))
    record(assert_op, step != 0, error=Call(ValueError, (message,)))


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else as_number(value)


def _either_of(flag: Any, yes: Any, no: Any) -> Any:
    """One of two numbers."""
    if isinstance(flag, bool):
        return yes if flag else no
    yes, no = (value if is_graph(value) else constant(value) for value in (yes, no))
    return as_number(where(flag, yes, no))


def _clipped(end: Any, size: Any, low: Any, high: Any) -> Any:
    """Where a slice begins or ends, counted from the start."""
    end = _bound(end)
    return as_number(minimum(maximum(_either_of(end < 0, end + size, end), low), high))


def _not_in_range(value: Any) -> Any:
    try:
        range(0).index(0)
    except ValueError as err:  # "0 is not in range", in the words of this version of Python
        return concatenated(shown(value, "repr"), str(err).removeprefix("0"))

"""NumPy's arrays of a program that a call changes in place: `a += 1`, `a[0] = v`, `np.add(a, 1, out=a)`, `a.sort()`.

A call is known to write when the samples of its arrays cannot be written to and it says so. Each run then makes the
array once more, changes that, and keeps it as a tensor of the program: what uses the array later begins there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from ...core.pytree import as_plain
from ...core.size import Size
from ...ir.builder import Builder
from ..guards.array_sites import ArraySiteError
from ..state.journal import innermost_journal
from ..values.base import builder
from ..values.deferred import Call, captured, holds_deferred


class ChangedArrayError(ArraySiteError):
    """An array is changed where no program can do it; a tensor in its place would be another object."""


_CONTAINERS = (list, tuple, Size)
_live: WeakKeyDictionary[Builder, list[Any]] = WeakKeyDictionary()
"""Weak references to the host values of each program that is built."""


def note_made(value: Any) -> None:
    """Take notice of a host value, whose memory others may share, and where it was made."""
    object.__setattr__(value, "journal", innermost_journal())
    _live.setdefault(builder(), []).append(ref(value))


def guarded(sample: Any) -> Any:
    """What a call is given of a sample: an array is one that cannot be written to, in the same memory."""
    if not isinstance(sample, np.ndarray) or not sample.flags.writeable:
        return sample
    view = sample.view()
    view.flags.writeable = False
    return view


def released(result: Any) -> Any:
    """What a call gave for guarded arrays: it may be written to where arrays that were no views of them may, too."""
    if isinstance(result, np.ndarray) and not result.flags.writeable:
        with suppress(ValueError):  # of memory that is not NumPy's
            result.flags.writeable = True
    return result


def says_it_writes(err: Exception) -> bool:
    """Whether a call failed since it writes to an array that it was given."""
    return isinstance(err, ValueError) and "read-only" in str(err)


def always_writes(function: Any) -> bool:
    """Whether NumPy lets a function write to arrays that cannot be written to: `np.add.at` and its like."""
    return isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "at"


@dataclass(frozen=True)
class Slot:
    """Where in the arguments of an `Applied` the value of that number stands."""

    number: int


@dataclass(frozen=True, eq=False)
class Applied:
    """A call to be made with copies of the arrays given; it gives the `target`, changed, or what the function gave."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    target: int | None

    def __call__(self, *values: Any) -> Any:
        """The array after the call, or the call's result."""
        made = [_copy(value) for value in values]
        result = self.function(*_filled(self.args, made), **_filled(self.kwargs, made))
        return result if self.target is None else made[self.target]


def _copy(value: Any) -> Any:
    return np.array(value, order="K", copy=True, subok=True) if isinstance(value, np.ndarray) else value


def _filled(template: Any, values: Sequence[Any]) -> Any:
    if isinstance(template, Slot):
        return values[template.number]
    if type(template) in _CONTAINERS:
        return type(template)([_filled(item, values) for item in template])
    if type(template) is dict:
        return {key: _filled(item, values) for key, item in template.items()}
    return template


def template_of(given: Any, found: list[Any]) -> Any:
    """`given` with slots for the arrays and for what only the run knows, which are put into `found`, once each."""
    given = as_plain(given)
    if type(given) in _CONTAINERS:
        return type(given)([template_of(item, found) for item in given])
    if type(given) is dict:
        return {key: template_of(item, found) for key, item in given.items()}
    if not isinstance(given, np.ndarray) and not holds_deferred(given):
        return given
    number = next((i for i, known in enumerate(found) if known is given), len(found))
    if number == len(found):
        found.append(given)
    return Slot(number)


@dataclass(frozen=True, eq=False)
class Writing:
    """A call that writes to arrays; its templates' slots stand for `values`."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    values: list[Any]

    @staticmethod
    def of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Writing:
        """The call with these arguments."""
        values: list[Any] = []
        return Writing(function, template_of(args, values), template_of(kwargs, values), values)

    def node(self, target: int | None) -> Call:
        """The expression for what the value of that number holds after the call, or for what the call gives."""
        return Call(Applied(self.function, self.args, self.kwargs, target), tuple(map(captured, self.values)))

    def run(self, made: Sequence[Any]) -> Any:
        """What the call gives for such samples of its values, which it changes."""
        return self.function(*_filled(self.args, made), **_filled(self.kwargs, made))

    def targets(self, samples: Sequence[Any]) -> set[int]:
        """The numbers of the values that the call writes to, for such samples of them, which stay as they are."""
        arrays = [number for number, sample in enumerate(samples) if isinstance(sample, np.ndarray)]
        return {number for number in arrays if self._writes_to(number, samples)}

    def _writes_to(self, number: int, samples: Sequence[Any]) -> bool:
        made = copies(samples)
        before = made[number].tobytes()
        try:
            self.run([guarded(sample) if i == number else sample for i, sample in enumerate(made)])
        except ValueError as err:
            if not says_it_writes(err):
                raise
            if "buffer source" not in str(err):
                return True
            self.run(made)  # compiled code asks for memory that it might write to
        return bool(made[number].tobytes() != before)


def copies(samples: Sequence[Any]) -> list[Any]:
    """Samples of a call's values that it may write to."""
    return [_copy(sample) for sample in samples]


def sharing(value: Any) -> Iterator[Any]:
    """The other host values that may be in the memory of this one, or of which it is a view."""
    for held in _live.get(builder(), ()):
        other = held()
        if other is not None and other is not value and share_memory(value.samples, other.samples):
            yield other


def share_memory(samples: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether an array of the samples may lie in the memory of one of the others, in pairs."""
    pairs = [(a, b) for a, b in zip(samples, others) if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)]
    return any(np.may_share_memory(a, b) for a, b in pairs)

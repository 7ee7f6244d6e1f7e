"""Patterns of `match`, tried in Python's order; comparisons with tensors become conditions of the program.

Converted code describes a pattern with the functions below. Whatever is no `Pattern` stands for a value the subject
must equal. Trying a pattern gives a Python bool, or a tensor when everything that Python could decide holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from ...core.pytree import OpenSet, is_open, is_partial, list_in
from ...ops.compare import logical_and, logical_or
from ..containers.dicts import unknown_keys
from ..containers.displays import new_list
from ..containers.making import new_dict
from ..control.branches import convert_ifexp
from ..host.value import HostValue
from ..operators.compare import COMPARISONS
from ..operators.objects import convert_shape
from ..operators.operate import operate
from ..values.base import Undefined, builder, is_graph, scalar_condition
from ..values.one_of import GraphOneOf, each_place, is_option, left_of, settled
from .table import convert_isinstance

Captures = dict[str, Any]
_MATCHES_ITSELF = 1 << 22  # CPython's flag of classes whose one positional sub-pattern is the subject: int, str, ...
_MISSING = object()


class Found(NamedTuple):
    """Whether a pattern matched (a bool or a tensor), and what it captured, by the order of the names."""

    matched: Any
    captures: tuple[Any, ...]


class Pattern(ABC):
    """A piece of a `case`."""

    @abstractmethod
    def test(self, subject: Any, captures: Captures) -> Any:
        """Whether `subject` matches; what the pattern captures is put into `captures`."""


def match(subject: Any, pattern: Any) -> Found:
    """What comes of trying one case's pattern."""
    captures: Captures = {}
    matched = _test(pattern, subject, captures)
    return Found(matched, tuple(captures[name] for name in sorted(captures)))


def _test(pattern: Any, subject: Any, captures: Captures) -> Any:
    subject = settled(subject)
    if isinstance(subject, GraphOneOf):
        return _test_options(pattern, subject, captures)
    if isinstance(pattern, Pattern):
        return pattern.test(subject, captures)
    equal = operate("==", subject, pattern)
    return scalar_condition(equal, "match") if is_graph(equal) else bool(equal)


def _test_options(pattern: Any, subject: GraphOneOf, captures: Captures) -> Any:
    """Whether the option that the subject is matches; what is captured is that of this option."""
    found: dict[int, Any] = {}
    held: dict[int, Captures] = {}
    for index in left_of(subject):
        held[index] = {}
        found[index] = _test(pattern, subject.options[index], held[index])
    may = [index for index in found if found[index] is not False]
    for name in dict.fromkeys(name for index in may for name in held[index]):
        captures[name] = each_place(subject, partial(_captured, held, name))
    others = [index for index in found if index not in may]
    sure = all(found[index] is True for index in may)
    if sure and may and others:
        return is_option(subject.code, may, others)
    return bool(may) if sure else each_place(subject, found.__getitem__)


def _captured(held: dict[int, Captures], name: str, index: int) -> Any:
    return held[index].get(name, Undefined())


def _all(tests: Iterable[Any]) -> Any:
    """All of some results, each asked for only while no Python value said no."""
    held: Any = True
    for found in tests:
        if found is False:
            return False
        if found is not True:
            held = found if held is True else logical_and(held, found)
    return held


class capture(Pattern):
    """`name`, `pattern as name`; without a name `_`."""

    def __init__(self, name: str | None = None, pattern: Any = None) -> None:
        self.name = name
        self.pattern = pattern

    def test(self, subject: Any, captures: Captures) -> Any:
        """The inner pattern's result; True without one."""
        held = True if self.pattern is None else _test(self.pattern, subject, captures)
        if self.name is not None and held is not False:
            captures[self.name] = subject
        return held


class star(capture):
    """`*name` in a sequence, `**name` in a mapping."""


@dataclass(frozen=True)
class same(Pattern):
    """`None`, `True`, `False`."""

    value: Any

    def test(self, subject: Any, captures: Captures) -> Any:
        """Whether the subject is that object."""
        return COMPARISONS["is"](subject, self.value)


class either(Pattern):
    """`a | b`."""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = patterns

    def test(self, subject: Any, captures: Captures) -> Any:
        """The first alternative that matches; where a tensor decides, what they capture is chosen as it does."""
        held, captured = self._first(self.patterns, subject)
        captures.update(captured)
        return held

    def _first(self, patterns: Sequence[Any], subject: Any) -> tuple[Any, Captures]:
        for position, pattern in enumerate(patterns):
            captured: Captures = {}
            held = _test(pattern, subject, captured)
            if held is True:
                return True, captured
            if held is False:
                continue
            others, rest = self._first(patterns[position + 1 :], subject)
            if others is False:
                return held, captured
            chosen = convert_ifexp(held, lambda captured=captured: captured, lambda rest=rest: rest)
            return others if others is True else logical_or(held, others), chosen
        return False, {}


class sequence(Pattern):
    """`[a, b, *rest]`."""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = patterns
        stars = [position for position, pattern in enumerate(patterns) if isinstance(pattern, star)]
        self.star = stars[0] if stars else None

    def test(self, subject: Any, captures: Captures) -> Any:
        """Whether it is a sequence of a fitting length whose items match."""
        if isinstance(subject, HostValue):
            raise subject.refused("`case [...]`")
        subject = list_in(subject)
        if is_open(subject):
            return self._test_open(subject, captures)
        if not _is_sequence(subject):
            return False
        size, wanted = len(subject), len(self.patterns) - (self.star is not None)
        if size != wanted if self.star is None else size < wanted:
            return False
        pairs = self._pairs(subject, size)
        return _all(_test(pattern, item, captures) for pattern, item in pairs)

    def _test_open(self, subject: Any, captures: Captures) -> Any:
        """Likewise for a list whose length only the program knows."""
        wanted = len(self.patterns) - (self.star is not None)
        size = subject.length()
        found: Captures = {}

        def items() -> Any:
            held = _all(_test(pattern, item, found) for pattern, item in self._pairs_of_open(subject))
            return held, tuple(found.values())

        def none() -> Any:
            return False, tuple(Undefined() for _ in found)

        held, values = builder().choose(size == wanted if self.star is None else size >= wanted, items, none, "match")
        captures.update(zip(found, values))
        return held

    def _pairs_of_open(self, subject: Any) -> Iterator[tuple[Any, Any]]:
        at = len(self.patterns) if self.star is None else self.star
        after = self.patterns[at + 1 :]
        yield from ((pattern, subject[place]) for place, pattern in enumerate(self.patterns[:at]))
        if self.star is not None:
            yield self.patterns[at], subject[at : -len(after) or None]
        yield from ((pattern, subject[place - len(after)]) for place, pattern in enumerate(after))

    def _pairs(self, subject: Any, size: int) -> Iterator[tuple[Any, Any]]:
        """Each pattern with its item; as in Python, items are fetched one by one if the rest is not wanted."""
        if self.star is None:
            return zip(self.patterns, list(subject) if not all(map(_is_wildcard, self.patterns)) else self.patterns)
        before, after = self.patterns[: self.star], self.patterns[self.star + 1 :]
        if _is_wildcard(self.patterns[self.star]):
            places = [*enumerate(before), *enumerate(after, size - len(after))]
            return ((pattern, subject[place]) for place, pattern in places if not _is_wildcard(pattern))
        items = list(subject)
        middle = new_list(items[len(before) : len(items) - len(after)])
        return zip(self.patterns, [*items[: len(before)], middle, *items[len(items) - len(after) :]])


class mapping(Pattern):
    """`{"key": pattern, **rest}`: pairs, and a star for the rest."""

    def __init__(self, *entries: Any) -> None:
        self.rest = next((entry for entry in entries if isinstance(entry, star)), None)
        self.pairs = [entry for entry in entries if not isinstance(entry, star)]

    def test(self, subject: Any, captures: Captures) -> Any:
        """Whether it is a mapping with these keys whose values match."""
        if not _is_mapping(subject):
            return False
        if is_partial(subject):
            return self._test_partial(subject, captures)
        if len(subject) < len(self.pairs):
            return False
        keys = [key for key, _ in self.pairs]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        values = [subject.get(key, _MISSING) for key in keys] if keys else []
        if any(value is _MISSING for value in values):
            return False
        held = _all(_test(pattern, value, captures) for (_, pattern), value in zip(self.pairs, values))
        if self.rest is not None and held is not False:
            rest = {key: value for key, value in dict(subject).items() if key not in keys}
            self.rest.test(new_dict(rest), captures)
        return held

    def _test_partial(self, subject: Any, captures: Captures) -> Any:
        """Likewise for a dict some of whose keys only the program knows to be there."""
        if self.rest is not None:
            raise unknown_keys("`**rest` in a pattern for")
        tests: list[Any] = []
        for key, pattern in self.pairs:
            there = subject.has(key)
            tests += [there] if there is False else [there, _test(pattern, subject.held(key), captures)]
        return _all(tests)


class instance(Pattern):
    """`Class(a, b, name=c)`."""

    def __init__(self, cls: Any, /, *patterns: Any, **attributes: Any) -> None:
        self.cls = cls
        self.patterns = patterns
        self.attributes = attributes

    def test(self, subject: Any, captures: Captures) -> Any:
        """Whether it is an instance whose attributes match."""
        if not isinstance(self.cls, type) and not hasattr(self.cls, "__origin__"):
            raise TypeError("called match pattern must be a class")
        fits = convert_isinstance(subject, self.cls)
        if fits is False:
            return False
        itself = self._matches_itself()
        positional = [] if itself else self._positional()
        names = [*positional, *self.attributes]
        for position, attribute in enumerate(names):
            if attribute in names[:position]:
                raise TypeError(f"{self.cls.__name__}() got multiple sub-patterns for attribute {attribute!r}")
        values = [_attribute(subject, attribute) for attribute in names]
        if any(value is _MISSING for value in values):
            return False
        patterns = [*self.patterns, *self.attributes.values()]
        values = [subject, *values] if itself else values
        tests = (_test(pattern, value, captures) for pattern, value in zip(patterns, values))
        return _all(chain((fits,), tests))

    def _matches_itself(self) -> bool:
        builtin = bool(self.cls.__flags__ & _MATCHES_ITSELF) and not hasattr(self.cls, "__match_args__")
        return builtin and len(self.patterns) == 1

    def _positional(self) -> tuple[str, ...]:
        names = getattr(self.cls, "__match_args__", ()) if self.patterns else ()
        if not isinstance(names, tuple):
            raise TypeError(f"{self.cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
        allowed, given = len(names), len(self.patterns)
        if given > allowed:
            if not allowed and self.cls.__flags__ & _MATCHES_ITSELF and not hasattr(self.cls, "__match_args__"):
                allowed = 1
            plural = "" if allowed == 1 else "s"
            message = f"{self.cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({given} given)"
            raise TypeError(message)
        return names[:given]


def _attribute(subject: Any, attribute: str) -> Any:
    try:
        return convert_shape(subject) if attribute == "shape" else getattr(subject, attribute)
    except AttributeError:
        return _MISSING


def _is_wildcard(pattern: Any) -> bool:
    return isinstance(pattern, capture) and pattern.name is None and pattern.pattern is None


def _is_sequence(subject: Any) -> bool:
    match subject:
        case [*_]:
            return True
    return False


def _is_mapping(subject: Any) -> bool:
    match subject:
        case {}:
            return not isinstance(subject, OpenSet)
    return False

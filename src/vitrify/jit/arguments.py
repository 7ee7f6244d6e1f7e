"""Containers and objects that a call is given or that the user's state holds: met in a trace, found in each call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..convert.guards.kinds import Expected, Guard, Items, SomeContainer, Source
from ..core.pytree import OverList, is_plain_dataclass, list_in

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
NO_ARGUMENTS: Arguments = ((), {})
Path = tuple[Any, ...]


@dataclass(frozen=True)
class Argument:
    """A container or object among the arguments of each call, found by its place in their structure."""

    path: Path

    is_given = True

    def find(self, arguments: Arguments) -> Any:
        """What this call has there."""
        first, *rest = self.path
        found = arguments[0][first] if isinstance(first, int) else arguments[1][first]
        return _follow(found, rest)


@dataclass(frozen=True)
class Held:
    """A container that the user's objects or variables hold: another one may have taken its place since the trace."""

    source: Source
    path: Path

    is_given = False

    def find(self, arguments: Arguments) -> Any:
        """What stands there now."""
        return _follow(self.source.read(), self.path)


Holder = Argument | Held


def _follow(found: Any, path: Iterable[Any]) -> Any:
    for kind, step in path:
        found = getattr(found, step) if kind == "attribute" else found[step]
    return found


def containers(arguments: Arguments) -> dict[int, Argument]:
    """The containers and dataclass objects in the arguments of a trace, by id."""
    found: dict[int, Argument] = {}
    args, kwargs = arguments
    for key, value in [*enumerate(args), *kwargs.items()]:
        _collect(value, (key,), found)
    return found


def _collect(value: Any, path: Path, found: dict[int, Argument]) -> None:
    steps = list(_steps(value))
    if steps or isinstance(value, (list, dict, set, deque, OverList)):
        found[id(value)] = found[id(list_in(value))] = Argument(path)
    for kind, step, item in steps:
        _collect(item, (*path, (kind, step)), found)


def _steps(value: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, dict):
        yield from (("item", k, v) for k, v in value.items())
    elif isinstance(list_in(value), (list, tuple, deque)):
        yield from (("item", i, v) for i, v in enumerate(list_in(value)))
    elif is_plain_dataclass(type(value)):
        yield from (("attribute", n, v) for n, v in vars(value).items())


def held(guards: Iterable[Guard]) -> dict[int, Held]:
    """The containers that the guards look at, by id. One that stands in two places must be the same in both again."""
    found: dict[int, tuple[SomeContainer, Held]] = {}
    for guard in guards:
        for expected, path in _looked_into(guard.expected, ()):
            first, _ = found.setdefault(id(expected.value), (expected, Held(guard.source, path)))
            if first is not expected and not isinstance(expected.value, (tuple, frozenset)):
                first.itself = expected.itself = True
    return {key: holder for key, (_, holder) in found.items()}


def _looked_into(expected: Expected, path: Path) -> Iterator[tuple[SomeContainer, Path]]:
    if isinstance(expected, SomeContainer):
        yield expected, path
    if isinstance(expected, Items):
        for key, item in zip(expected.keys, expected.items):
            yield from _looked_into(item, (*path, ("item", key)))

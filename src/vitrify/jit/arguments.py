"""Containers and objects that a call is given or that the user's state holds: met in a trace, found in each call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.pytree import OpenTable, OverList, is_plain_dataclass, list_in

if TYPE_CHECKING:
    from ..convert.guards.kinds import Source

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
    """The containers, dataclass objects and NumPy arrays in the arguments of a trace, by id."""
    found: dict[int, Argument] = {}
    args, kwargs = arguments
    for key, value in [*enumerate(args), *kwargs.items()]:
        _collect(value, (key,), found)
    return found


def _collect(value: Any, path: Path, found: dict[int, Argument]) -> None:
    steps = list(_steps(value))
    if steps or isinstance(value, (list, dict, set, deque, OverList)) or hasattr(type(value), "__vitrify_host_value__"):
        found[id(value)] = Argument(path)
        if not isinstance(value, OpenTable):
            found[id(list_in(value))] = found[id(value)]
    for kind, step, item in steps:
        _collect(item, (*path, (kind, step)), found)


def _steps(value: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, OpenTable):
        columns = value.columns if issubclass(value.kind, dict) else ([], [])
        yield from (("item", k, v) for k, v in zip(*map(list.__iter__, columns)))
    elif isinstance(value, dict):
        yield from (("item", k, v) for k, v in value.items())
    elif isinstance(list_in(value), (list, tuple, deque)):
        yield from (("item", i, v) for i, v in enumerate(list_in(value)))
    elif is_plain_dataclass(type(value)):
        yield from (("attribute", n, v) for n, v in vars(value).items())

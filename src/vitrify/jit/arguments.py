"""Containers and objects among the arguments of a call: found in a trace, found again in each call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.pytree import is_plain_dataclass

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
NO_ARGUMENTS: Arguments = ((), {})
Path = tuple[Any, ...]


@dataclass(frozen=True)
class Argument:
    """A container or object among the arguments of each call, found by its place in their structure."""

    path: Path

    def find(self, arguments: Arguments) -> Any:
        """What this call has there."""
        first, *rest = self.path
        found = arguments[0][first] if isinstance(first, int) else arguments[1][first]
        for kind, step in rest:
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
    if steps or isinstance(value, (list, dict, set, deque)):
        found[id(value)] = Argument(path)
    for kind, step, item in steps:
        _collect(item, (*path, (kind, step)), found)


def _steps(value: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, dict):
        yield from (("item", k, v) for k, v in value.items())
    elif isinstance(value, (list, tuple, deque)):
        yield from (("item", i, v) for i, v in enumerate(value))
    elif is_plain_dataclass(type(value)):
        yield from (("attribute", n, v) for n, v in vars(value).items())

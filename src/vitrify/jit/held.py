"""Which containers the user's state holds, and where: found by the guards of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..convert.guards.kinds import Expected, Guard, Items, SomeContainer
from .arguments import Held, Path


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

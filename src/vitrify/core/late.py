"""Packages above that define what ones below look up: imported when something of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class LatePackages:
    """What imports such packages, in the order in which they are asked."""

    def __init__(self) -> None:
        self._imports: list[Callable[[], object]] = []

    def add(self, load: Callable[[], object]) -> None:
        """Let `load`, which imports a package, be called before a name counts as unknown."""
        self._imports.append(load)

    def load(self) -> Iterator[object]:
        """Import one after the other, as far as the caller goes on asking."""
        for load in self._imports:
            yield load()


OP_PACKAGES = LatePackages()


class LateModule:
    """A module above, whose functions are attributes: imported when the first one is asked for."""

    def __init__(self) -> None:
        self._import: Callable[[], object] | None = None

    def set(self, load: Callable[[], object]) -> None:
        """Let `load` import it."""
        self._import = load

    def __getattr__(self, name: str) -> Any:
        load = self.__dict__.get("_import")
        if load is None or name.startswith("__"):
            raise AttributeError(name)
        return getattr(load(), name)

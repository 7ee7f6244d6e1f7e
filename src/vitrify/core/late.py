"""Packages above that define what ones below look up by name: imported when a name is not known yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator


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

"""The register of corpus functions: each runs converted and unconverted on its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    fn: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]


class Corpus(list):
    def case(self, *calls: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function with argument tuples; a call that is no tuple is one argument."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            self.append(Case(fn, tuple(call if isinstance(call, tuple) else (call,) for call in calls)))
            return fn

        return register

"""Every differential case of this folder, found by looking: a module with `CASES` is a table.

A table is a list of `(function, calls)` or `(function, calls, options)`: `calls` are tuples of arguments (see
`differential.given`), `options` those of `differential.compare`. The table may name its `AREA` (default: its module).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NOT_TABLES = {"differential", "tables"}


@dataclass(frozen=True)
class Case:
    """One function with the calls on which eager and static must agree."""

    name: str
    function: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]
    table: str
    area: str
    options: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"{self.table}-{self.name}"


def table_names() -> list[str]:
    """Return the names of the modules of this folder that may hold a table."""
    stems = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [s for s in stems if not s.startswith(("test_", "_")) and s not in NOT_TABLES]


def cases_of(name: str) -> list[Case]:
    """Return the cases of one table, named by their functions; where several share a name, by number too."""
    module = import_module(f"{__package__}.{name}")
    area = getattr(module, "AREA", name)
    found: list[Case] = []
    met: Counter[str] = Counter()
    for function, calls, *options in getattr(module, "CASES", ()):
        label = getattr(function, "__name__", type(function).__name__)
        met[label] += 1
        numbered = label if met[label] == 1 else f"{label}-{met[label]}"
        found.append(Case(numbered, function, tuple(calls), name, area, options[0] if options else {}))
    return found


def all_cases() -> list[Case]:
    """Return the cases of all tables, table by table."""
    return [case for name in table_names() for case in cases_of(name)]

"""The tables: `NAMES` lists the modules, each of which defines `ROWS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tests.conformance.spec import Case, Row, cases_of

NAMES = ("elementwise", "reductions", "manipulation", "creation", "operators", "linalg", "functional", "layers",
         "subgraphs")  # fmt: skip


def rows_in(table: str) -> list[Row]:
    """Return a table's rows."""
    rows: list[Row] = import_module(f"tests.conformance.tables.{table}").ROWS
    return rows


@cache
def cases_in(table: str) -> list[Case]:
    """Return a table's cases, always in the same order."""
    return [case for row in rows_in(table) for case in cases_of(row)]

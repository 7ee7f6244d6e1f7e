"""How ops are tested: tables of `Case`, one `check_case`. Imported by tests only."""

from .case import Case, away, bools, complexes, floats, ints
from .check import check_case, check_dtypes, check_error
from .paths import ops_of

__all__ = [
    "Case",
    "away",
    "bools",
    "check_case",
    "check_dtypes",
    "check_error",
    "complexes",
    "floats",
    "ints",
    "ops_of",
]

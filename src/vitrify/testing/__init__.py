"""How ops are tested: tables of `Case`, one `check_case`. Imported by tests only."""

from .case import Case, bools, floats, ints
from .check import check_case, check_error

__all__ = ["Case", "bools", "check_case", "check_error", "floats", "ints"]

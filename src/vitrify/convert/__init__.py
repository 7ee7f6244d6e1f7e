"""What converted code calls, and conversion itself: Python by value, a program where a tensor decides."""

from .api import Converted, attempt, convert, convert_call, observe_function, source_of
from .control.raise_ import ends_program
from .control.recursion import entered
from .values.base import Undefined
from .values.user_code import ignore_module, is_user_code, not_to_static

__all__ = [
    "Converted",
    "Undefined",
    "attempt",
    "convert",
    "convert_call",
    "ends_program",
    "entered",
    "ignore_module",
    "is_user_code",
    "not_to_static",
    "observe_function",
    "source_of",
]

"""What Python says of a local variable that is not set, wherever a part of the user's function reads it."""

from __future__ import annotations

import re
import sys
from typing import TypeVar

from .source import is_users_local

E = TypeVar("E", bound=BaseException)
UNSET = (
    "cannot access local variable '{}' where it is not associated with a value"
    if sys.version_info >= (3, 11)
    else "local variable '{}' referenced before assignment"
)
UNSET_FREE = (
    "cannot access free variable '{}' where it is not associated with a value in enclosing scope"
    if sys.version_info >= (3, 11)
    else "free variable '{}' referenced before assignment in enclosing scope"
)
_FREE = re.compile(r"free variable '(\w+)'")


def of_one_function(err: E) -> E | UnboundLocalError:
    """The error, or what Python raises in the user's function where the part of it that read a variable has it free."""
    found = _FREE.search(str(err)) if err.__class__ is NameError else None
    if found is None or not is_users_local(found[1], err.__traceback__):
        return err
    local = UnboundLocalError(UNSET.format(found[1])).with_traceback(err.__traceback__)
    local.__suppress_context__ = True
    return local


__all__ = ["UNSET", "UNSET_FREE", "of_one_function"]

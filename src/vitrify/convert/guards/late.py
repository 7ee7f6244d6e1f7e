"""What is read of an object whose methods are called when the program has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import UnsupportedError
from ..values.base import builder


def read_late(late: Mapping[int, str], owner: Any, name: str, value: Any) -> Any:
    """What the program reads as `owner.name`, which holds `value` now; `late`: what waits, by the ids of owners.

    Raises UnsupportedError where it cannot tell.
    """
    if hasattr(type(owner), "read_in_trace"):
        return owner.read_in_trace(builder().training, name, value)
    if id(owner) in late and not callable(value):
        raise UnsupportedError(
            f"{name} is read after {late[id(owner)]}, which is called when the program has run",
            hint="read it before, or outside of the function",
        )
    return value

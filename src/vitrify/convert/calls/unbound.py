"""Methods of Python's numbers and strings called by their class (`int.bit_length(n)`), given values of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.graph_tensor import is_number
from ..state.attributes import read_attribute
from ..values.text import GraphText
from ..values.user_errors import for_user

_CLASSES = (bool, int, float, complex, str)


def unbound(function: Any) -> Callable[..., Any] | None:
    """What is called in place of such a method: that of the value itself, if the program makes it; None for others."""
    if getattr(function, "__objclass__", None) not in _CLASSES:
        return None

    @for_user
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and (is_number(args[0]) or isinstance(args[0], GraphText)):
            return read_attribute(args[0], function.__name__)(*args[1:], **kwargs)
        return function(*args, **kwargs)

    return call

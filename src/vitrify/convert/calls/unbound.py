"""Methods called by their class, given values of the program: `int.bit_length(n)`, `str.upper(s)`, `Tensor.item(x)`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...eager.tensor import Tensor
from ...ir.graph_tensor import is_number
from ..state.attributes import read_attribute
from ..values.base import is_graph
from ..values.text import GraphText
from ..values.user_errors import for_user

_CLASSES = (bool, int, float, complex, str)


def unbound(function: Any) -> Callable[..., Any] | None:
    """What is called in place of such a method: that of the value itself, if the program makes it; None for others."""
    of_tensors = _is_of_tensors(function)
    if not of_tensors and getattr(function, "__objclass__", None) not in _CLASSES:
        return None

    @for_user
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and (is_graph(args[0]) if of_tensors else is_number(args[0]) or isinstance(args[0], GraphText)):
            return read_attribute(args[0], function.__name__)(*args[1:], **kwargs)
        return function(*args, **kwargs)

    return call


def _is_of_tensors(function: Any) -> bool:
    """Whether it is written in a class of eager tensors; other methods of theirs are functions that take any tensor."""
    if not isinstance(function, FunctionType) or function.__qualname__ == function.__name__:
        return False
    return getattr(Tensor, function.__name__, None) is function

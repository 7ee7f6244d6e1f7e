"""What Python refuses to do with numbers known only when the program runs: it is asked about a number of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.pytree import OpenDict, OpenList
from ...ir.graph_tensor import is_number, sample
from .user_errors import note_user_error

_NO_NUMBERS = (str, bytes, list, tuple, dict, set, frozenset)


def is_odd(symbol: str, left: Any, right: Any) -> bool:
    """Whether an operator has such a number on one side, and no number on the other; `text % n` is formatting."""
    if isinstance(right, _NO_NUMBERS):
        return is_number(left)
    return isinstance(left, _NO_NUMBERS) and is_number(right) and not (symbol == "%" and isinstance(left, (str, bytes)))


def ask(function: Callable[..., Any], *operands: Any) -> Any:
    """What `function` gives for stand-ins of the operands; its error is the one that eager code raises here."""
    try:
        return function(*map(stand_in, operands))
    except (TypeError, AttributeError) as err:
        raise note_user_error(err) from None


def stand_in(value: Any) -> Any:
    """What Python says the same of as of `value`: numbers and containers of its class."""
    if is_number(value):
        return sample(value)
    if isinstance(value, OpenList):
        return []
    return {} if isinstance(value, OpenDict) else value

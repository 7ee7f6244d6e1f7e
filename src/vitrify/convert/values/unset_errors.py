"""What Python raises where a variable, an item or an attribute is read that the path taken did not set."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from typing import Any

from ...core.unset_local import UNSET, UNSET_FREE
from ...eager.host_ops import UNSET_ERRORS

_MADE_BY: dict[str, Callable[..., Exception]] = {"AttributeError": AttributeError, "KeyError": KeyError, **UNSET_ERRORS}


def unset_error(name: str, line: int, is_free: bool = False) -> Exception:
    """The exception. name: of a variable, or a place such as `d['key']` and `Owner.attribute`.

    line: where another path sets the variable; 0 where that is not known. is_free: an inner function reads it.
    """
    function, args = unset_call(name, line, is_free)
    return _MADE_BY[function](*args)


def unset_call(name: str, line: int, is_free: bool = False) -> tuple[str, tuple[Any, ...]]:
    """What makes the exception when the program runs: the function of an expression, and its arguments."""
    if name.endswith("]"):
        return "KeyError", (_key_in(name),)
    if "." in name:
        kind, _, attribute = name.rpartition(".")
        return "AttributeError", (f"{kind!r} object has no attribute {attribute!r}",)
    notes = (f"{name!r} is set near line {line}, on a path that was not taken",) if line else ()
    message = (UNSET_FREE if is_free else UNSET).format(name)
    return "unset_free" if is_free else "unset_local", (message, *notes)


def is_place(name: str) -> bool:
    """Whether the name of an unset value is that of an item or attribute."""
    return name.endswith("]") or "." in name


def _key_in(name: str) -> Any:
    """The key in the name of an item; its text where that is all that is known of it."""
    text = name.partition("[")[2][:-1]
    try:
        return literal_eval(text)
    except (SyntaxError, ValueError):
        return text

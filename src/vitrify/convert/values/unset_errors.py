"""What Python raises where a variable, an item or an attribute is read that the path taken did not set."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from typing import Any

from ...core.unset_local import UNSET
from ...eager.host_ops import noted_unset

_MADE_BY: dict[str, Callable[..., Exception]] = {
    "AttributeError": AttributeError, "KeyError": KeyError, "noted_unset": noted_unset,
}  # fmt: skip


def unset_error(name: str, line: int) -> Exception:
    """The exception. name: of a variable, or a place such as `d['key']` and `Owner.attribute`.

    line: where another path sets the variable; 0 where that is not known.
    """
    function, args = unset_call(name, line)
    return _MADE_BY[function](*args)


def unset_call(name: str, line: int) -> tuple[str, tuple[Any, ...]]:
    """What makes the exception when the program runs: the function of an expression, and its arguments."""
    if name.endswith("]"):
        return "KeyError", (_key_in(name),)
    if "." in name:
        kind, _, attribute = name.rpartition(".")
        return "AttributeError", (f"{kind!r} object has no attribute {attribute!r}",)
    notes = (f"{name!r} is set near line {line}, on a path that was not taken",) if line else ()
    return "noted_unset", (UNSET.format(name), *notes)


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

"""One value, or several in a list or tuple: what Paddle's functions take and give in many places."""

from __future__ import annotations

from typing import Any


def as_list(value: Any) -> list[Any]:
    """The items of a list or tuple as a new list; any other value alone in one.

    >>> as_list((1, 2)), as_list(3)
    ([1, 2], [3])
    """
    return list(value) if isinstance(value, (list, tuple)) else [value]


def as_list_if_given(value: Any) -> list[Any]:
    """`as_list(value)`; nothing for None, which stands for an argument that was left out.

    >>> as_list_if_given(3), as_list_if_given(None)
    ([3], [])
    """
    return [] if value is None else as_list(value)


__all__ = ["as_list", "as_list_if_given"]

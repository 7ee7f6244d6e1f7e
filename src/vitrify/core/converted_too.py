"""Functions of this package that are converted as users' functions are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MARK = "__vitrify_converted_too__"


def converted_too(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, a function of ours that is converted as users' are: its Python control flow depends on tensors."""
    setattr(func, _MARK, True)
    return func


def is_converted_too(func: Callable[..., Any]) -> bool:
    """Whether a function of ours is converted."""
    return getattr(func, _MARK, False) is True

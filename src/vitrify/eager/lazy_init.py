"""Parameters that get their memory and first values when they are asked to, not when their Layer is made."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from ..core.errors import UserCodeError

_postponed: ContextVar[bool] = ContextVar("postponed", default=False)


class InitializedError(UserCodeError, AssertionError):
    """`initialize` of a parameter that has its values already."""


class LazyGuard:
    """A block in which Layers are made without memory for their parameters: `p.initialize()` gives each its values.

    Until then a parameter's elements, NaN for floating dtypes, share one place in memory. So the Layers of a large
    model can be made, loaded with `set_state_dict` or initialized one by one. Source: paddle.LazyGuard.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     layer = paddle.nn.Linear(2, 3)
        >>> layer.bias._is_initialized(), [p.initialize() for p in layer.parameters()], layer.bias.tolist()
        (False, [None, None], [0.0, 0.0, 0.0])
    """

    def __init__(self) -> None:
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> None:
        self._tokens.append(_postponed.set(True))

    def __exit__(self, *error: object) -> None:
        _postponed.reset(self._tokens.pop())


def is_postponed() -> bool:
    """Whether this is within a LazyGuard."""
    return _postponed.get()


def fill_later(param: Any, sizes: list[int], fill: Callable[[Any], Any]) -> None:
    """Let `fill` give the new parameter of no elements its size and values when it is initialized."""
    dtype = param._data.dtype
    nothing = np.zeros((), dtype) if dtype.kind in "biu" else np.full((), np.nan, dtype)
    param._data = np.broadcast_to(nothing, sizes)
    param.__dict__["_later"] = fill, param._data


def initialize(param: Any) -> None:
    """Give a parameter made in a LazyGuard its values; raises InitializedError for others."""
    fill, _ = param.__dict__.pop("_later", (None, None))
    if fill is None:
        raise InitializedError(
            f"initialize: parameter {param.name!r} has its values", hint="make its Layer within paddle.LazyGuard()"
        )
    fill(param)


def is_initialized(param: Any) -> bool:
    """Whether a parameter has values: those of `initialize`, or some that were set."""
    _, nothing = param.__dict__.get("_later", (None, None))
    return param._data is not nothing


__all__ = ["LazyGuard"]

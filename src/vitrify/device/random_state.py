"""The random numbers of the current device, which are those of all: one seed gives the same numbers on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import rng
from ..core.philox import Key


def get_rng_state(device: Any = None) -> list[Key]:
    """The state of the default generator; see `paddle.get_rng_state`. Source: paddle.device.get_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> state = paddle.device.get_rng_state()
        >>> first = paddle.rand([2]).tolist()
        >>> paddle.set_rng_state(state)
        >>> paddle.rand([2]).tolist() == first
        True
    """
    return rng.get_rng_state(device)


def set_rng_state(new_state: Sequence[Key], device: Any = None) -> None:
    """Continue from what `get_rng_state` gave. Source: paddle.device.set_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> state = paddle.device.get_rng_state()
        >>> first = paddle.rand([2]).tolist()
        >>> paddle.device.set_rng_state(state)
        >>> paddle.rand([2]).tolist() == first
        True
    """
    rng.set_rng_state(new_state, device)


def manual_seed(seed: int) -> None:
    """Let the default generator start from `seed`; see `paddle.seed`. Source: paddle.device.manual_seed.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.manual_seed(7)
        >>> first = paddle.rand([2]).tolist()
        >>> paddle.device.manual_seed(7)
        >>> paddle.rand([2]).tolist() == first
        True
    """
    rng.seed(seed)


__all__ = ["get_rng_state", "manual_seed", "set_rng_state"]

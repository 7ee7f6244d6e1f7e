"""`paddle.Generator`, and the states of generators by device."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import rng
from ..core.philox import Key
from ..core.place import PlaceLike, is_compiled_with_cuda


class Generator(rng.Generator):
    """A stream of random numbers of its own: a seed, taken from the operating system, and a position.

    device: as in Paddle; the same seed gives the same numbers on every device. Source: paddle.Generator.

    Example:
        >>> import vitrify as paddle
        >>> generator = paddle.Generator().manual_seed(3)
        >>> generator.initial_seed()
        3
    """

    __slots__ = ()

    def __init__(self, device: PlaceLike | None = None) -> None:
        super().__init__()


def get_cuda_rng_state() -> list[Key]:
    """The states of the GPUs' generators: that of the one generator, or none without GPUs.

    Source: paddle.get_cuda_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    return rng.get_rng_state() if is_compiled_with_cuda() else []


def set_cuda_rng_state(state_list: Sequence[Key]) -> None:
    """Continue from what `get_cuda_rng_state` gave. Source: paddle.set_cuda_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    if state_list:
        rng.set_rng_state(state_list)


__all__ = ["Generator", "get_cuda_rng_state", "set_cuda_rng_state"]

"""`paddle.framework.random`: seeds and the states of generators."""

from ..core.rng import get_rng_state, seed, set_rng_state
from .generator import Generator, get_cuda_rng_state, set_cuda_rng_state

_manual_program_seed = seed

__all__ = [
    "Generator", "_manual_program_seed", "get_cuda_rng_state", "get_rng_state", "seed", "set_cuda_rng_state",
    "set_rng_state",
]  # fmt: skip

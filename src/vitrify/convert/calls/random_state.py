"""`paddle.seed` in traced code: the program seeds the generator where eager code does, each time that it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import rng
from ...eager.host_ops import seed_op
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number


def convert_seed(seed: Any) -> rng.Generator:
    """`paddle.seed(seed)`."""
    if current_builder() is None:
        return rng.seed(seed)
    seed_op(seed=seed if is_number(seed) else int(seed))
    return rng.default_generator()


RANDOM_STATE: dict[Any, Callable[..., Any]] = {rng.seed: convert_seed}

"""How messages call a value that a path gives."""

from __future__ import annotations

from typing import Any

from ...core.pytree import eager_class
from ...eager.tensor import Tensor
from ...ir.program import Variable
from ...ops.promote import SCALARS
from .deferred import Deferred
from .one_of import GraphOneOf


def in_words(value: Any) -> str:
    """What it is, in a few words."""
    if isinstance(value, GraphOneOf):
        return " or ".join(map(in_words, value.options))
    if isinstance(value, Variable):
        return f"a tensor ({value.meta})"
    if isinstance(value, Tensor):
        return f"a tensor ({value.dtype.name}{list(value.shape)})"
    if isinstance(value, Deferred):
        return value.named
    if isinstance(value, (*SCALARS, str, bytes)):
        return f"{type(value).__name__} {value!r}"[:60]
    return "None" if value is None else f"a {eager_class(value).__name__}"

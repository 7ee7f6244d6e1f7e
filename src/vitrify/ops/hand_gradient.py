"""Values whose gradient somebody wrote by hand, in Python that records operators."""

from __future__ import annotations

from typing import Any

from ..core.errors import UnsupportedError
from ..core.meta import Meta
from .registry import Instead, OpDef, define_op


def _vjp(cts: Any, *, values: Any, backward: Any, count: int) -> dict[str, Any]:
    """Cotangents of the inputs by the function; the forward values, which stand before them, have none."""
    if backward is None:
        raise UnsupportedError(
            "a gradient written by hand is Python, which programs that were saved or cloned for testing lack",
            hint="take gradients in the program that it was written in",
        )
    return {"values": [*[None] * count, *backward(list(cts), list(values))]}


def _meta(*values: Meta, backward: Any, count: int) -> list[Meta]:
    return list(values[:count])


with_gradient_op: OpDef = define_op(
    "with_gradient",
    amp="keep",
    kernel=lambda xp, *values, backward, count: list(values[:count]),
    meta=_meta,
    vjp=_vjp,
    outputs=("*outs",),
    evaluation=lambda *, backward, count: Instead(with_gradient_op, ("*values",), {"backward": None, "count": count}),
)
"""The first `count` of its inputs. `backward(cotangents, values)` gives one cotangent, or None, for each of the others.

None in saved programs.
"""

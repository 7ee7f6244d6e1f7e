"""How losses are brought to one number: "mean", "sum" or "none"."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from .arguments import is_unknown, rank_of
from .reduce import mean, sum
from .registry import NoGradient, define_op

# `detach` in a program, for what is only read there: so it needs no memory of its own, nor to share any.
given_op = define_op(
    "given",
    kernel=lambda xp, x: x,
    meta=lambda x: x,
    vjp=NoGradient("what is to be predicted is given"),
    native=lambda n, x: x,
    view=True,
)
REDUCTIONS = ("none", "mean", "sum")


def check_reduction(op: str, reduction: str, allowed: tuple[str, ...] = REDUCTIONS) -> None:
    """Raise ArgumentError unless `reduction` is one of those allowed."""
    if reduction not in allowed:
        raise ArgumentError(f"{op}: reduction must be one of {', '.join(map(repr, allowed))}, got {reduction!r}")


def reduced(loss: Any, reduction: str) -> Any:
    """The loss as it is, or its mean or sum as a 0-D tensor."""
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else sum(loss)


def given(label: Any) -> Any:
    """`label` without its gradient, as in Paddle: what to predict is given, even if another model computed it."""
    rank_of("given", label, "label")
    if label.stop_gradient:
        return label
    return given_op(label) if is_unknown(label) else label.detach()

"""Where attention is not paid: scores under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from .registry import OpDef, define_op
from .select import where_op


def causal_form(n: Any, x: Any, *, fill: float) -> Any:
    """The native form of `causal_mask`."""
    lower = n.constant(np.tri(*x.shape[-2:], dtype=np.bool_))
    return n.apply(where_op, lower, x, n.full((), fill, x.dtype))


causal_mask_op: OpDef = define_op(
    "causal_mask",
    kernel=lambda xp, x, *, fill: xp.where(xp.tri(*x.shape[-2:], dtype=bool), x, x.dtype.type(fill)),
    meta=lambda x, *, fill: x,
    vjp={"x": lambda ct: causal_mask_op(ct, fill=0.0)},
    native=causal_form,
)


def masked(scores: Any, attn_mask: Any, is_causal: bool) -> Any:
    """The scores, -inf where no attention is paid. As in Paddle a causal mask takes the place of any other."""
    if is_causal:
        return causal_mask_op(scores, fill=float("-inf"))
    if attn_mask is None:
        return scores
    return where_op(attn_mask, scores, float("-inf")) if attn_mask.dtype.is_bool else scores + attn_mask


__all__ = ["causal_form", "causal_mask_op", "masked"]

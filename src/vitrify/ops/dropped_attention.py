"""Long attention with dropout on its probabilities, block by block.

What is dropped is a function of the generator's seed and place and of where a probability stands, so each block draws
its own part, backward draws it again, and the mask of all is never there. The numbers are those that dropout draws for
all probabilities at once. After Dao et al., "FlashAttention" (2022), section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.dtype import float32, float64, int64
from ..core.meta import Meta
from ..core.philox import Key
from ..core.rng import Generator
from .long_attention import attention_meta, long_attention_op, second_order, second_order_of_mask
from .long_attention_kernel import Dropped, grad_kernel, kernel, mask_grad_kernel
from .registry import Instead, NoGradient, OpDef, define_op


def _kernel(
    xp: Any, q: Any, k: Any, v: Any, mask: Any = None, *, key: Generator, is_causal: bool, p: float
) -> tuple[Any, Any, Any]:
    start = key.advance(prod(q.shape[:3]) * k.shape[2])
    place = xp.asarray(np.array([start.seed, start.offset], np.uint64).view(np.int64))
    return *kernel(xp, q, k, v, mask, is_causal=is_causal, dropped=Dropped(start, p)), place


def _dropped(place: Any, p: float) -> Dropped:
    seed, offset = (int(n) for n in place.view(np.uint64))
    return Dropped(Key(seed, offset), p)


def _grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, place: Any, *, is_causal: bool,
    p: float,
) -> Any:  # fmt: skip
    return grad_kernel(xp, ct, q, k, v, mask, out, log_sum, is_causal=is_causal, dropped=_dropped(place, p))


def _mask_grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, place: Any, *, is_causal: bool,
    p: float,
) -> Any:  # fmt: skip
    return mask_grad_kernel(xp, ct, q, k, v, mask, out, log_sum, is_causal=is_causal, dropped=_dropped(place, p))


def _meta(q: Meta, k: Meta, v: Meta, mask: Meta | None = None, *, is_causal: bool, p: float) -> tuple[Meta, ...]:
    return *attention_meta("dropped_attention", q, k, v, mask), Meta((2,), int64)


def _factors_kernel(xp: Any, place: Any, q: Any, k: Any, *, p: float) -> Any:
    wide = np.dtype(np.float64 if q.dtype == np.float64 else np.float32)
    return _dropped(place, p).factors(xp, (*q.shape[:3], k.shape[2]), slice(0, q.shape[2]), wide)


dropped_factors_op: OpDef = define_op(
    "dropped_factors",
    kernel=_factors_kernel,
    meta=lambda place, q, k, *, p: Meta((*q.shape[:3], k.shape[2]), float64 if q.dtype is float64 else float32),
    vjp=NoGradient("what is dropped does not depend on the values of any input"),
    shape_only=["q", "k"],
)


def _cotangents(
    cts: Sequence[Any], *, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, place: Any, is_causal: Any,
    p: Any, needs: Any,
) -> dict[str, Any]:  # fmt: skip
    kept = (cts[0], q, k, v, mask, out, log_sum, place)
    found = {}
    if not needs.isdisjoint("qkv"):
        found = dict(zip("qkv", dropped_attention_grad_op(*kept, is_causal=is_causal, p=p)))
    if "mask" in needs:
        found["mask"] = dropped_attention_mask_grad_op(*kept, is_causal=is_causal, p=p)
    return found


def _second_order(
    cts: Sequence[Any], *, ct: Any, q: Any, k: Any, v: Any, mask: Any, place: Any, is_causal: Any, p: Any, needs: Any
) -> dict[str, Any]:
    factors = dropped_factors_op(place, q, k, p=p)
    return second_order(cts, ct=ct, q=q, k=k, v=v, mask=mask, is_causal=is_causal, needs=needs, factors=factors)


def _second_order_of_mask(
    to_mask: Any, *, ct: Any, q: Any, k: Any, v: Any, mask: Any, place: Any, is_causal: Any, p: Any, needs: Any
) -> dict[str, Any]:
    factors = dropped_factors_op(place, q, k, p=p)
    return second_order_of_mask(
        to_mask, ct=ct, q=q, k=k, v=v, mask=mask, is_causal=is_causal, needs=needs, factors=factors
    )


dropped_attention_op: OpDef = define_op(
    "dropped_attention",
    kernel=_kernel,
    meta=_meta,
    vjp=_cotangents,
    outputs=("out", "log_sum", "place"),
    promote=["q", "k", "v"],
    random=True,
    amp="allow",
    work=lambda q, k, v, *others, is_causal, p: long_attention_op.work(q, k, v, is_causal=is_causal),  # type: ignore[misc]
    evaluation=lambda *, is_causal, p: Instead(long_attention_op, ("q", "k", "v", "mask"), {"is_causal": is_causal}),
)
dropped_attention_grad_op: OpDef = define_op(
    "dropped_attention_grad",
    kernel=_grad_kernel,
    meta=lambda ct, q, k, v, *others, is_causal, p: (q, k, v),
    vjp=_second_order,
    outputs=("dq", "dk", "dv"),
)
dropped_attention_mask_grad_op: OpDef = define_op(
    "dropped_attention_mask_grad",
    kernel=_mask_grad_kernel,
    meta=lambda ct, q, k, v, mask, *others, is_causal, p: mask,
    vjp=_second_order_of_mask,
)

__all__ = [
    "dropped_attention_grad_op",
    "dropped_attention_mask_grad_op",
    "dropped_attention_op",
    "dropped_factors_op",
]

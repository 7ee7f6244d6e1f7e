"""Attention over long sequences: the scores of a block of queries at a time, so that they are never there all at once.

Backward computes them again from the logarithms of their sums. After Rabe and Staats, "Self-attention Does Not Need
O(n^2) Memory" (2021), and Dao et al., "FlashAttention" (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import float32, float64
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .elementwise import add_op, divide_op, subtract_op
from .like import cast, sum_to_like
from .long_attention_kernel import ROWS, grad_kernel, kernel, mask_grad_kernel
from .masks import causal_form, masked
from .matmul import matmul
from .reduce import max_op, sum_op
from .reduce import sum as sum_of
from .registry import OpDef, define_op, get_op
from .select import where_op
from .softmax import softmax

LONG = 1024
"""Queries and keys from which on blocks pay: the scores of each head are four megabytes."""


def is_long(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether blocks pay for queries [b, h, s, d], keys and values [b, h, t, d] and a mask that fit, of known sizes."""
    given = [x.shape for x in (query, key, value, mask) if x is not None]
    if any(UNKNOWN in shape for shape in given) or not _fit(*given):
        return False
    rows, columns = query.shape[2], key.shape[2]
    return bool(rows >= ROWS and rows * columns >= LONG * LONG)


def _fit(q: Sequence[int], k: Sequence[int], v: Sequence[int], mask: Sequence[int] = ()) -> bool:
    if not (len(q) == len(k) == len(v) == 4 and [*q[:2]] == [*k[:2]] == [*v[:2]] and q[3] == k[3] and k[2] == v[2]):
        return False
    full = (*q[:3], k[2])
    return len(mask) <= 4 and all(own in (1, size) for own, size in zip(reversed(mask), reversed(full)))


# -- metas -------------------------------------------------------------------------------------------------------------


def _meta(q: Meta, k: Meta, v: Meta, mask: Meta | None = None, *, is_causal: bool) -> tuple[Meta, Meta]:
    return attention_meta("long_attention", q, k, v, mask)


def attention_meta(op: str, q: Meta, k: Meta, v: Meta, mask: Meta | None) -> tuple[Meta, Meta]:
    """The results of attention by blocks: what it gives, and the logarithms of the sums."""
    if not q.dtype.is_floating:
        raise DTypeError(f"{op}: q is {q}, expected real floating point")
    if mask is not None and not (mask.dtype.is_bool or mask.dtype.is_floating):
        raise DTypeError(f"{op}: the mask is {mask}, expected bool or floating point")
    given = [x.shape for x in (q, k, v, mask) if x is not None]
    if not any(UNKNOWN in shape for shape in given) and not _fit(*given):
        raise ShapeError(
            f"{op}: q is {q}, k {k}, v {v}, the mask {mask}; expected [b, h, s, d], [b, h, t, d], "
            "[b, h, t, e] and what broadcasts to [b, h, s, t]"
        )
    return Meta((*q.shape[:3], v.shape[3]), v.dtype), Meta(q.shape[:3], float64 if q.dtype is float64 else float32)


def _grad_meta(
    ct: Meta, q: Meta, k: Meta, v: Meta, mask: Meta | None, out: Meta, log_sum: Meta, *, is_causal: bool
) -> tuple[Meta, Meta, Meta]:
    return q, k, v


def _mask_grad_meta(
    ct: Meta, q: Meta, k: Meta, v: Meta, mask: Meta, out: Meta, log_sum: Meta, *, is_causal: bool
) -> Meta:
    return mask


def _work(q: Meta, k: Meta, v: Meta, *others: Any, is_causal: bool) -> float:
    b, h, s, d = q.shape
    return 2.0 * b * h * s * k.shape[2] * (d + v.shape[3]) * (0.5 if is_causal else 1)


# -- derivatives -------------------------------------------------------------------------------------------------------


def _cotangents(
    cts: Sequence[Any], *, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, is_causal: Any, needs: Any
) -> dict[str, Any]:
    """Those of attention's inputs. The logarithms of sums are for backward alone: nobody else is given them."""
    kept = (cts[0], q, k, v, mask, out, log_sum)
    found = {}
    if not needs.isdisjoint("qkv"):
        found = dict(zip("qkv", long_attention_grad_op(*kept, is_causal=is_causal)))
    if "mask" in needs:
        found["mask"] = long_attention_mask_grad_op(*kept, is_causal=is_causal)
    return found


class _Slopes:
    """What the cotangents of attention are made of, with all scores at once, in differentiable ops.

    With the probabilities P, and F = ct v^T, the cotangents of the scores are the slopes S = P (F - sum(P F)); those of
    q, k and v are S k, S^T q and P^T ct. Dropout multiplies F, and the P of the last, by its factors.
    """

    def __init__(self, ct: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: bool, factors: Any) -> None:
        self.ct, self.q, self.k, self.v, self.mask, self._factors = ct, q, k, v, mask, factors
        self.probs = softmax(masked(matmul(q, k, transpose_y=True), mask, is_causal))
        self.flow = self.dropped(matmul(ct, v, transpose_y=True))
        self.centred = self.flow - _along(self.probs * self.flow)

    def dropped(self, x: Any) -> Any:
        """x times what dropout multiplies probabilities by."""
        return x if self._factors is None else x * cast(self._factors, x.dtype)

    def cotangents(self, to_slopes: Any, to_probs: Any, needs: Any) -> dict[str, Any]:
        """Of ct, q, k, v and the mask, from those of the slopes and those of the probabilities beside the slopes."""
        weighed = self.probs * to_slopes
        total = _along(weighed)
        to_flow = self.dropped(weighed - total * self.probs)
        to_probs = to_probs + to_slopes * self.centred - total * self.flow
        to_scores = self.probs * (to_probs - _along(self.probs * to_probs))
        found = {
            "ct": matmul(to_flow, self.v), "v": matmul(to_flow, self.ct, transpose_x=True),
            "q": matmul(to_scores, self.k), "k": matmul(to_scores, self.q, transpose_x=True),
        }  # fmt: skip
        return {**found, "mask": sum_to_like(to_scores, self.mask)} if "mask" in needs else found


def _along(x: Any) -> Any:
    return sum_of(x, -1, keepdim=True)


def second_order(
    cts: Sequence[Any], *, ct: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: Any, needs: Any, factors: Any = None
) -> dict[str, Any]:
    """Cotangents of the inputs of `long_attention_grad`; result and logarithms are functions of the others.

    factors: what dropout multiplies probabilities by, if there is some.
    """
    at = _Slopes(ct, q, k, v, mask, is_causal, factors)
    to_q, to_k, to_v = cts
    to_slopes = matmul(to_q, k, transpose_y=True) + matmul(q, to_k, transpose_y=True)
    found = at.cotangents(to_slopes, at.dropped(matmul(ct, to_v, transpose_y=True)), needs)
    slopes = at.probs * at.centred
    found["ct"] = found["ct"] + matmul(at.dropped(at.probs), to_v)
    found["q"] = found["q"] + matmul(slopes, to_k)
    found["k"] = found["k"] + matmul(slopes, to_q, transpose_x=True)
    return found


def second_order_of_mask(
    to_mask: Any, *, ct: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: Any, needs: Any, factors: Any = None
) -> dict[str, Any]:
    """Those of `long_attention_mask_grad`: a mask that a causal one stands in for has the slope 0."""
    at = _Slopes(ct, q, k, v, mask, is_causal, factors)
    return at.cotangents(to_mask * 0.0 if is_causal else to_mask, 0.0, needs)


def _second_order(
    cts: Sequence[Any], *, ct: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: Any, needs: Any
) -> dict[str, Any]:
    return second_order(cts, ct=ct, q=q, k=k, v=v, mask=mask, is_causal=is_causal, needs=needs)


def _second_order_of_mask(
    to_mask: Any, *, ct: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: Any, needs: Any
) -> dict[str, Any]:
    return second_order_of_mask(to_mask, ct=ct, q=q, k=k, v=v, mask=mask, is_causal=is_causal, needs=needs)


# -- ops ---------------------------------------------------------------------------------------------------------------


def _kernel(xp: Any, q: Any, k: Any, v: Any, mask: Any = None, *, is_causal: bool) -> tuple[Any, Any]:
    return kernel(xp, q, k, v, mask, is_causal=is_causal)


def _grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, *, is_causal: bool
) -> tuple[Any, Any, Any]:
    return grad_kernel(xp, ct, q, k, v, mask, out, log_sum, is_causal=is_causal)


def _mask_grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, *, is_causal: bool
) -> Any:
    return mask_grad_kernel(xp, ct, q, k, v, mask, out, log_sum, is_causal=is_causal)


def _ahead(n: Any, q: Any, k: Any, v: Any, mask: Any = None, *, is_causal: bool) -> tuple[Any, Any]:
    """With all scores at once."""
    scores = n.matmul(q, n.swapped(k))
    if is_causal:
        scores = causal_form(n, scores, fill=float("-inf"))
    elif mask is not None and mask.dtype == bool:
        scores = n.apply(where_op, mask, scores, n.full((), float("-inf"), scores.dtype))
    elif mask is not None:
        scores = n.apply(add_op, scores, mask)
    largest, added, along = max_op.native, sum_op.native, {"axis": (3,), "keepdim": True}
    assert largest is not None and added is not None
    top = largest(n, scores, **along)
    powers = n.apply(get_op("exp"), n.apply(subtract_op, scores, top))
    total = added(n, powers, **along)
    log_sum = n.apply(add_op, top, n.apply(get_op("log"), total))
    return n.matmul(n.apply(divide_op, powers, total), v), n.reshape(log_sum, q.shape[:3])


long_attention_op: OpDef = define_op(
    "long_attention",
    kernel=_kernel,
    meta=_meta,
    vjp=_cotangents,
    outputs=("out", "log_sum"),
    promote=["q", "k", "v"],
    amp="allow",
    work=_work,
    ahead=_ahead,
)
long_attention_grad_op: OpDef = define_op(
    "long_attention_grad",
    kernel=_grad_kernel,
    meta=_grad_meta,
    vjp=_second_order,
    outputs=("dq", "dk", "dv"),
)
long_attention_mask_grad_op: OpDef = define_op(
    "long_attention_mask_grad", kernel=_mask_grad_kernel, meta=_mask_grad_meta, vjp=_second_order_of_mask
)

__all__ = [
    "attention_meta",
    "is_long",
    "long_attention_grad_op",
    "long_attention_mask_grad_op",
    "long_attention_op",
    "second_order",
    "second_order_of_mask",
]

"""Attention over long sequences, block by block: forward and backward in NumPy's words.

A block is some queries with all keys that they may see, so rows are whole and nothing is rescaled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..core import philox

ROWS, LEAST_ROWS = 128, 16
"""Queries of a block, and how few where there are many heads."""
SCORES = 1 << 20
"""Scores of a block that stay in the cache."""


class Dropped(NamedTuple):
    """Which probabilities dropout keeps, and by what they are multiplied: `philox.bernoulli` of all, in their order."""

    start: philox.Key
    p: float

    def factors(self, xp: Any, shape: Sequence[int], rows: slice, dtype: Any) -> Any:
        """0 or 1 / (1 - p) for the probabilities of some queries, all of [b, h, s, t]: [b, h, rows, t]."""
        b, h, s, t = shape
        count = rows.stop - rows.start
        kept = xp.empty((b * h, count, t), bool)
        for head in range(b * h):
            first = self.start.offset + (head * s + rows.start) * t
            kept[head] = philox.bernoulli(xp, philox.Key(self.start.seed, first), 1.0 - self.p, (count, t))
        return kept.reshape(b, h, count, t) * dtype.type(1.0 / (1.0 - self.p))


class _Blocks:
    """The scores of attention, block by block, in a dtype that keeps the digits of sums."""

    def __init__(self, xp: Any, q: Any, k: Any, mask: Any, is_causal: bool, dropped: Dropped | None = None) -> None:
        self.xp, self.q, self.is_causal, self.dropped = xp, q, is_causal, dropped
        self.k = self.wide(k)
        self.mask: Any = None if mask is None or is_causal else mask.reshape((1,) * (4 - mask.ndim) + mask.shape)

    def wide(self, x: Any) -> Any:
        """x in float32 at least."""
        return x.astype(self.xp.float32) if x.dtype.itemsize == 2 else x

    def __iter__(self) -> Iterator[tuple[slice, slice]]:
        """The queries of each block, and the keys that they may see."""
        b, h, s, _ = self.q.shape
        t = self.k.shape[2]
        rows = max(LEAST_ROWS, min(ROWS, SCORES // max(1, b * h * t)))
        for start in range(0, s, rows):
            stop = min(start + rows, s)
            yield slice(start, stop), slice(0, min(stop, t) if self.is_causal else t)

    def masked(self, rows: slice, columns: slice) -> Any:
        """The mask of a block as it broadcasts to its scores."""
        along = rows if self.mask.shape[2] > 1 else slice(None)
        return self.mask[:, :, along, columns if self.mask.shape[3] > 1 else slice(None)]

    def scores(self, rows: slice, columns: slice) -> Any:
        """The products of queries and keys, -inf where no attention is paid."""
        xp = self.xp
        found = xp.matmul(self.wide(self.q[:, :, rows]), self.k[:, :, columns].swapaxes(-1, -2))
        if self.is_causal and columns.stop > rows.start:
            corner = found[..., rows.start :]
            corner[..., ~xp.tri(*corner.shape[-2:], dtype=bool)] = -xp.inf
        elif self.mask is not None and self.mask.dtype == bool:
            found = xp.where(self.masked(rows, columns), found, found.dtype.type(-xp.inf))
        elif self.mask is not None:
            found += self.masked(rows, columns).astype(found.dtype, copy=False)
        return found

    def drop(self, probs: Any, rows: slice, columns: slice) -> Any:
        """The factors by which dropout multiplies probabilities, which are multiplied; None without dropout."""
        if self.dropped is None:
            return None
        factors = self.dropped.factors(self.xp, (*self.q.shape[:3], self.k.shape[2]), rows, probs.dtype)[..., columns]
        probs *= factors
        return factors

    def slopes(self, rows: slice, columns: slice, v: Any, flow: Any, along: Any, log_sum: Any) -> tuple[Any, Any]:
        """The probabilities, dropout behind them, and the cotangents of the scores."""
        probs = self.scores(rows, columns)
        probs -= log_sum[:, :, rows, None]
        self.xp.exp(probs, out=probs)
        slopes = self.xp.matmul(flow, v[:, :, columns].swapaxes(-1, -2))
        factors = self.drop(slopes, rows, columns)
        slopes -= along
        slopes *= probs
        if factors is not None:
            probs *= factors
        return probs, slopes


def kernel(
    xp: Any, q: Any, k: Any, v: Any, mask: Any = None, *, is_causal: bool, dropped: Dropped | None = None
) -> tuple[Any, Any]:
    blocks = _Blocks(xp, q, k, mask, is_causal, dropped)
    wide = blocks.wide(v)
    out = xp.empty((*q.shape[:3], v.shape[3]), v.dtype)
    log_sum = xp.empty(q.shape[:3], wide.dtype)
    for rows, columns in blocks:
        scores = blocks.scores(rows, columns)
        top = scores.max(-1, keepdims=True, initial=-xp.inf)
        scores -= top
        xp.exp(scores, out=scores)
        total = scores.sum(-1, keepdims=True)
        blocks.drop(scores, rows, columns)
        out[:, :, rows] = xp.matmul(scores, wide[:, :, columns]) / total
        log_sum[:, :, rows] = (top + xp.log(total))[..., 0]
    return out, log_sum


def grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, *, is_causal: bool,
    dropped: Dropped | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    blocks = _Blocks(xp, q, k, mask, is_causal, dropped)
    keys, values = blocks.k, blocks.wide(v)
    dq, dk, dv = xp.empty_like(q), xp.zeros(k.shape, keys.dtype), xp.zeros(v.shape, values.dtype)
    for rows, columns in blocks:
        flow, queries = blocks.wide(ct[:, :, rows]), blocks.wide(q[:, :, rows])
        along = (flow * blocks.wide(out[:, :, rows])).sum(-1, keepdims=True)
        probs, slopes = blocks.slopes(rows, columns, values, flow, along, log_sum)
        dv[:, :, columns] += xp.matmul(probs.swapaxes(-1, -2), flow)
        dk[:, :, columns] += xp.matmul(slopes.swapaxes(-1, -2), queries)
        dq[:, :, rows] = xp.matmul(slopes, keys[:, :, columns])
    return dq, dk.astype(k.dtype, copy=False), dv.astype(v.dtype, copy=False)


def mask_grad_kernel(
    xp: Any, ct: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, log_sum: Any, *, is_causal: bool,
    dropped: Dropped | None = None,
) -> Any:  # fmt: skip
    blocks = _Blocks(xp, q, k, mask, is_causal, dropped)
    if is_causal:  # which takes the mask's place
        return xp.zeros_like(mask)
    found = xp.zeros(blocks.mask.shape, log_sum.dtype)
    shared = tuple(axis for axis in (0, 1, 3) if found.shape[axis] == 1)
    for rows, columns in blocks:
        flow = blocks.wide(ct[:, :, rows])
        along = (flow * blocks.wide(out[:, :, rows])).sum(-1, keepdims=True)
        _, slopes = blocks.slopes(rows, columns, blocks.wide(v), flow, along, log_sum)
        part = slopes.sum(shared, keepdims=True)
        if found.shape[2] == 1:
            found += part.sum(2, keepdims=True)
        else:
            found[:, :, rows] += part
    return found.reshape(mask.shape).astype(mask.dtype, copy=False)


__all__ = ["ROWS", "Dropped", "grad_kernel", "kernel", "mask_grad_kernel"]

"""Reductions, statistics, running sums."""

from __future__ import annotations

from tests.conformance.spec import EVERY, each, row, t, unset

X = each(t(2, 3, 4), t(), t(0, 3), t(5))
AXES = each(unset, None, 0, -1, [0, -1], (1,), 5, [])
KEPT = each(unset, True)

ROWS = [
    *(row(f"paddle.{name}", X, axis=AXES, keepdim=KEPT).limited_to(64).over(*EVERY)
      for name in "sum mean max min amax amin prod logsumexp any all nansum nanmean std var median nanmedian count_nonzero".split()),
    *(row(f"paddle.{name}", X, axis=each(unset, None, 0, -1, 5), keepdim=KEPT).limited_to(64).over(*EVERY)
      for name in "argmax argmin".split()),
]  # fmt: skip

"""Metrics that a program computes as it runs."""

from __future__ import annotations

from typing import Any

from ..core import names
from ..core.dtype import int64
from ..core.errors import ArgumentError
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..ir.guard import create_persistable
from ..ir.program import Variable
from ..ops.arrange import flip
from ..ops.creation import assign, full
from ..ops.cumulative import cumsum
from ..ops.join import concat
from ..ops.like import cast
from ..ops.scatter import scatter_nd_add
from ..ops.select import maximum
from ..ops.shape import flatten, unsqueeze


def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[Variable, Variable, list[Variable]]:
    """(area over all runs, area over the last slide_steps runs, the counts that the scope keeps).

    The area lies under the ROC curve, 0 while a class has not been seen. input: probabilities [n, 2] of no and yes;
    label: [n, 1] of 0 and 1. Counts: yes and no in each of num_thresholds + 1 bins, first for the last runs, then for
    all. Raises ArgumentError for another curve and negative slide_steps. Source: paddle.static.auc.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     p, y = paddle.static.data("p", [None, 2]), paddle.static.data("y", [None, 1], "int64")
        ...     area, of_batch, _ = paddle.static.auc(p, y)
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     exe = paddle.static.Executor()
        ...     _ = exe.run(startup)
        ...     feed = {"p": [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], "y": [[0], [1], [1]]}
        ...     exe.run(main, feed=feed, fetch_list=[area])[0].item()
        1.0
    """
    if curve != "ROC":
        raise ArgumentError(f"auc: curve must be 'ROC', got {curve!r}", hint="paddle.metric.Auc has 'PR' as well")
    if slide_steps < 0:
        raise ArgumentError(f"auc: slide_steps must not be negative, got {slide_steps}")
    bins = num_thresholds + 1
    with scoped(grad_enabled, False):
        counts = counts_of(input, label, bins)
        total = [_kept([1, bins]) for _ in counts]
        recent = [_kept([max(slide_steps, 1), bins]) for _ in counts]
        for kept, latest, count in zip(total, recent, counts):
            row = unsqueeze(count, 0)
            assign(kept + row, kept)
            if slide_steps == 0:
                assign(latest + row, latest)
            else:
                assign(concat([latest[1:], row], 0) if slide_steps > 1 else row, latest)
        return area_under(*total), area_under(*recent), [*recent, *total]


def _kept(shape: list[int]) -> Variable:
    name = names.generate("auc_count")
    return create_persistable(Meta(tuple(shape), int64), name, lambda: full(shape, 0, "int64"))


def counts_of(input: Any, label: Any, bins: int) -> list[Any]:
    """How many yes and how many no there are in each bin of probability."""
    at = cast(input[:, -1] * (bins - 1), "int64").clip(0, bins - 1)
    yes = cast(flatten(label), "bool")
    empty = full([bins], 0, "int64")
    return [scatter_nd_add(empty, unsqueeze(at, -1), cast(chosen, "int64")) for chosen in (yes, ~yes)]


def area_under(yes: Any, no: Any) -> Any:
    """The area under the ROC curve, from the highest threshold down."""
    up, right = (cumsum(flip(cast(count.sum(0), "float64"), [0])) for count in (yes, no))
    zero = full([1], 0, "float64")
    heights = concat([zero, up])[:-1] + up
    widths = right - concat([zero, right])[:-1]
    return (widths * heights).sum() / 2 / maximum(up[-1] * right[-1], full([], 1, "float64"))


__all__ = ["area_under", "auc", "counts_of"]

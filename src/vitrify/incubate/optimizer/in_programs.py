"""Optimizers around others in programs written by hand: what they append, and the programs that they run beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ...core import names
from ...core.dtype import int64
from ...core.meta import Meta
from ...core.modes import grad_enabled, scoped
from ...ir.guard import default_main_program
from ...ir.program import Operator, Program, Variable
from ...ir.surgery import insert_op
from ...ops.compare import equal, greater_equal
from ...ops.creation import assign
from ...ops.like import cast, zeros_like
from ...ops.select import clip, where
from ...optimizer.optimizer import Optimizer, PairList
from ...static.exchanged_parameters import ExchangedParameters, kept, same_variable

_COUNT = Meta((), int64)


def append_following(parameters: Sequence[Variable], alpha: float, k: int) -> None:
    """Append what brings slow weights and parameters together in every k-th run; slow ones begin as after the first."""
    main, prefix = default_main_program(), names.generate("lookahead")
    with scoped(grad_enabled, False), main.adding("optimize"):
        steps = kept(_COUNT, f"{prefix}.steps")
        now = steps + 1
        assign(now, steps)
        is_first, meet = equal(now, 1), equal(now % k, 0)
        for param in parameters:
            slow = kept(param.meta, f"{param.name}_slow_0")
            before = where(is_first, param, slow)
            after = where(meet, before + alpha * (param - before), before)
            assign(after, slow)
            assign(where(meet, after, param), param)


def append_merged(inner: Optimizer, pairs: PairList, k: int, average: bool) -> list[Operator]:
    """Append what adds up gradients, and updates by them in every k-th run; gives the operators that update.

    The updates run each time, on what is put back where it is not their turn: so whatever the optimizer keeps stays.
    """
    main, prefix = default_main_program(), names.generate("gradient_merge")
    block = main.global_block()
    with scoped(grad_enabled, False), main.adding("optimize"):
        steps = kept(_COUNT, f"{prefix}.steps")
        now = steps + 1
        assign(now, steps)
        is_due = equal(now % k, 0)
        merged = []
        for param, grad in pairs:
            total = kept(grad.meta, f"{param.name}_gradient_merge_0")
            new = total + grad
            assign(where(is_due, zeros_like(new), new), total)
            merged.append((param, new / float(k) if average else new))
        mark = len(block.ops)
        updates = inner.apply_gradients(merged)
        written = dict.fromkeys(v for op in block.ops[mark:] for v in op.outputs if v.persistable)
        for var in written:
            before = insert_op(block, mark, "assign", [var])
            before.role = "optimize"
            assign(where(is_due, var, before.outputs[0]), var)
    return updates


class AverageInProgram:
    """The means of parameters over the last runs of the default main program, to which it appends their sums."""

    def __init__(self, parameters: Sequence[Variable], window: tuple[float, int, int]) -> None:
        self._parameters = parameters
        prefix = names.generate("model_average")
        self._counts = [kept(_COUNT, f"{prefix}.{name}") for name in ("updates", "accumulates", "old_accumulates")]
        self._sums = [[kept(p.meta, f"{p.name}.{prefix}.{name}") for name in ("sum", "old_sum")] for p in parameters]
        self._exchanged = ExchangedParameters(parameters, prefix)
        with scoped(grad_enabled, False), default_main_program().adding("optimize"):
            self._append(window)

    def _append(self, window: tuple[float, int, int]) -> None:
        rate, least, largest = window
        updates, count, old_count = self._counts
        now = count + 1
        assign(updates + 1, updates)  # `updates` is the new number from here on
        is_full = greater_equal(now, clip(cast(cast(updates, "float32") * rate, "int64"), least, largest))
        assign(where(is_full, now, old_count), old_count)
        assign(where(is_full, zeros_like(now), now), count)
        for param, (total, old) in zip(self._parameters, self._sums):
            new = total + param
            assign(where(is_full, new, old), old)
            assign(where(is_full, zeros_like(new), new), total)

    def apply(self, executor: Any, need_restore: bool) -> AbstractContextManager[None]:
        """A block in which the parameters hold their means; need_restore=False leaves them so."""
        return self._exchanged.apply(executor, need_restore, self._means)

    def restore(self, executor: Any) -> None:
        """Give the parameters back what they held."""
        self._exchanged.restore(executor)

    def _means(self, program: Program) -> Iterator[Variable]:
        _, count, old_count = (same_variable(program, var) for var in self._counts)
        for param, sums in zip(self._parameters, self._sums):
            total, old = (same_variable(program, var) for var in sums)
            yield (total + old) / cast(count + old_count, param.dtype)


__all__ = ["AverageInProgram", "append_following", "append_merged"]

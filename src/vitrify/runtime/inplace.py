"""What operators may do to inputs that nobody needs any more: write into their buffers, empty their lists."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..core.meta import Meta, numel
from ..ir.program import Operator, Variable
from ..ops.fused import fused_op
from .access import Access, memory_of
from .options import ExecutionOptions
from .plan import STREAMS, Choice

LEAST_BYTES = 1 << 14
"""Below this a new array costs less than asking whether the old one is free."""


def find_inplace(
    operators: Sequence[Operator],
    accesses: Sequence[Access],
    choice: Choice,
    kept: Collection[int],
    inputs: Collection[int],
    options: ExecutionOptions,
) -> dict[int, int]:
    """Instruction -> slot whose buffer it overwrites. Those in `kept` are others' to see: outputs and constants.

    So is what they are views of. A slot qualifies when it has the size and dtype of the result, is no view, and
    everything else that uses it is done before the instruction in every schedule: then no edge is added. `inputs` are
    the last choice, for only a run knows whether someone else holds them; on streams, where nothing is asked while the
    program runs, they are none, and sizes must be known.
    """
    on_streams = choice.mode == STREAMS
    fitting: dict[int, list[int]] = {}
    for index, operator in enumerate(operators):
        if _can_write_into(operator, options) and (_is_static(operator) or not on_streams):
            candidates = _candidates(operator, accesses[index])
            if candidates:
                fitting[index] = sorted(candidates, key=inputs.__contains__)
    if not fitting:  # as in most small programs
        return {}
    memory = memory_of(accesses)
    kept = {*kept, *inputs} if on_streams else kept
    seen = frozenset().union(*(memory[slot] for slot in kept if slot < len(memory)), kept)
    users: dict[int, list[int]] = {}
    for index, access in enumerate(accesses):
        for slot in {part for s in (*access.reads, *access.writes) for part in memory[s]}:
            users.setdefault(slot, []).append(index)
    found: dict[int, int] = {}
    for index, slots in fitting.items():
        for slot in slots:
            others = [user for user in users[slot] if user != index]
            alone = memory[slot] == {slot} and slot not in seen
            if alone and all(choice.precedes(user, index) for user in others):
                found[index] = slot
                break
    return found


def _can_write_into(operator: Operator, options: ExecutionOptions) -> bool:
    """Whether the kernel is one NumPy function that takes `out`; adding gradients up is a switch of its own."""
    adds = operator.role == "backward" and operator.op.on_numpy is np.add
    wanted = options.addto or options.inplace if adds else options.inplace
    return wanted and isinstance(operator.op.on_numpy, np.ufunc) and not operator.attrs


def _candidates(operator: Operator, access: Access) -> list[int]:
    meta = operator.outputs[0].meta
    if not isinstance(meta, Meta) or (meta.is_static and numel(meta.shape) * meta.dtype.np.itemsize < LEAST_BYTES):
        return []
    same = [isinstance(v, Variable) and v.meta == meta for v in operator.inputs]
    return [slot for slot, fits in zip(access.reads, same) if fits]


def _is_static(operator: Operator) -> bool:
    meta = operator.outputs[0].meta
    return isinstance(meta, Meta) and meta.is_static


def partners(operator: Operator, access: Access) -> tuple[int, ...]:
    """The slots whose arrays must have the shape of the overwritten one, which only a run can tell."""
    if not access.overwrites or _is_static(operator):
        return ()
    tensors = [slot for slot, v in zip(access.reads, operator.inputs) if isinstance(v, Variable)]
    return tuple(slot for slot in tensors if slot != access.overwrites[0])


def find_handed(
    operators: Sequence[Operator], accesses: Sequence[Access], choice: Choice, kept: Collection[int]
) -> list[tuple[int, ...]]:
    """For each instruction the slots of lists that it may empty: nothing uses them after it, in any schedule.

    Whether another slot or the caller has the same list, only the run can tell.
    """
    found = []
    users = _users(accesses)
    for index, (operator, access) in enumerate(zip(operators, accesses)):
        empties = operator.op.empties
        lists = [access.reads[position] for position in empties(**operator.attrs)] if empties is not None else []
        found.append(tuple(slot for slot in lists if slot not in kept and _is_last(slot, index, users, choice)))
    return found


def find_taken(
    operators: Sequence[Operator], accesses: Sequence[Access], choice: Choice, kept: Collection[int]
) -> list[tuple[int, ...]]:
    """For each group of operators the slots that the frame may forget before it runs, in any schedule.

    Then the group alone has what they held, and may use the buffers for its results.
    """
    if not any(operator.op is fused_op for operator in operators):
        return [()] * len(operators)
    users = _users(accesses)
    return [
        tuple(s for s in access.reads if s not in kept and _is_last(s, index, users, choice))
        if operator.op is fused_op else ()
        for index, (operator, access) in enumerate(zip(operators, accesses))
    ]  # fmt: skip


def _users(accesses: Sequence[Access]) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for index, access in enumerate(accesses):
        for slot in (*access.reads, *access.writes):
            users.setdefault(slot, []).append(index)
    return users


def _is_last(slot: int, index: int, users: dict[int, list[int]], choice: Choice) -> bool:
    """Whether the instruction reads the slot once and everything else that uses it is done before."""
    once = users[slot].count(index) == 1
    return once and all(choice.precedes(user, index) for user in users[slot] if user != index)

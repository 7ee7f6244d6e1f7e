"""Which operators may write their result into the buffer of an input: the in-place and add-to pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ..core.meta import Meta, numel
from ..ir.program import Operator, Variable
from .access import Access, memory_of
from .options import ExecutionOptions

LEAST_BYTES = 1 << 14
"""Below this a new array costs less than asking whether the old one is free."""


def find_inplace(
    operators: Sequence[Operator],
    accesses: Sequence[Access],
    precedes: Callable[[int, int], bool],
    kept: Collection[int],
    options: ExecutionOptions,
) -> dict[int, int]:
    """Instruction -> slot whose buffer it overwrites. Those in `kept` are others' to see: inputs, outputs, constants.

    So is what they are views of. A slot qualifies when it has the size and dtype of the result, is no view, and
    everything else that uses it is done before the instruction (`precedes`) in every schedule: then no edge is added.
    """
    memory = memory_of(accesses)
    seen = frozenset().union(*(memory[slot] for slot in kept if slot < len(memory)), kept)
    users: dict[int, list[int]] = {}
    for index, access in enumerate(accesses):
        for slot in {part for s in (*access.reads, *access.writes) for part in memory[s]}:
            users.setdefault(slot, []).append(index)
    found: dict[int, int] = {}
    for index, operator in enumerate(operators):
        if not _can_write_into(operator, options):
            continue
        for slot in _candidates(operator, accesses[index]):
            others = [user for user in users[slot] if user != index]
            alone = memory[slot] == {slot} and slot not in seen
            if alone and all(precedes(user, index) for user in others):
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
    if not isinstance(meta, Meta) or not meta.is_static or numel(meta.shape) * meta.dtype.np.itemsize < LEAST_BYTES:
        return []
    same = [isinstance(v, Variable) and v.meta == meta for v in operator.inputs]
    return [slot for slot, fits in zip(access.reads, same) if fits]

"""Runs that look at every result: what `FLAGS_check_nan_inf` asks for."""

from __future__ import annotations

from ..core.config import CHECK_NAN_INF
from ..ops.finite import check_finite
from .instruction import Frame, Instruction

NAN_CHECK = CHECK_NAN_INF.setting


def run_checked(instruction: Instruction, frame: Frame) -> None:
    """Run one instruction on a frame; raises NotFiniteError if a result has a NaN or an infinity."""
    made = instruction.compute(*[frame[s] for s in instruction.reads])
    results = made if instruction.operator.op.multiple else (made,)
    for slot, value in zip(instruction.writes, results):
        frame[slot] = value
    check_finite(instruction.operator.op.name, results)
    for slot in instruction.dead:
        frame[slot] = None

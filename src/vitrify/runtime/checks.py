"""What is asked of meta rules at run time: whether sizes fit that were unknown, and why a kernel failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir.program import Operator
from ..ops.failure import metas_of
from .failure import explain_failure
from .instruction import Frame, Instruction, fill_refs
from .observer import Observer


def check_shapes(instruction: Instruction, frame: Frame, observer: Observer | None) -> None:
    """Run the meta rule on what the instruction reads; it raises as it would have while recording."""
    if observer is not None:
        observer.checking(_run_meta, instruction, frame)
    else:
        _run_meta(instruction, frame)


def explain_instruction(instruction: Instruction, err: Exception, frame: Frame) -> Exception:
    """The exception to raise for what an instruction raised on a frame."""
    arrays, attrs = _given(instruction, frame)
    return explain_failure(instruction.operator, arrays, attrs, err)


def _run_meta(instruction: Instruction, frame: Frame) -> None:
    arrays, attrs = _given(instruction, frame)
    instruction.operator.op.meta(*metas_of(arrays), **attrs)


def _given(instruction: Instruction, frame: Frame) -> tuple[list[Any], Mapping[str, Any]]:
    """The op's own inputs, and its attributes with the numbers that tensors give them."""
    arrays = [frame[s] for s in instruction.reads]
    attrs = {k: fill_refs(v, arrays) for k, v in instruction.attrs.items()}
    return arrays[: _arity(instruction.operator)], attrs


def _arity(operator: Operator) -> int:
    """How many leading inputs are the op's own (the rest feed attribute Refs)."""
    op = operator.op
    if op.variadic and not op.dynamic:
        return len(operator.inputs)
    return len(operator.inputs) - operator.ref_count

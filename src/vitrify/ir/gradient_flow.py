"""Which outputs of an operator being recorded no gradient flows through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.modes import grad_enabled
from ..ops.registry import NoGradient, OpDef, StructuralGradient, Vjp
from .program import Block


def stops_of(op: OpDef, values: Sequence[Any], attrs: Mapping[str, Any], count: int) -> list[bool]:
    """For each output, whether no gradient flows through it."""
    blocks = [b for b in attrs.values() if isinstance(b, Block)] if isinstance(op.vjp, StructuralGradient) else []
    is_stopped = all(_stops(v) or not may_pass(op, i) for i, v in enumerate(values))
    if is_stopped and not any(map(_makes_leaf, blocks)):
        return [True] * count
    if blocks and (is_stopped or not grad_enabled.get()):
        n_carried = attrs.get("n_carried")
        if n_carried is not None:
            return _stops_of_loop(values[:n_carried], attrs["body"].outputs, count)
        return _stops_of_blocks(blocks, count)
    return [not grad_enabled.get() or isinstance(op.vjp, NoGradient)] * count


def may_pass(op: OpDef, index: int) -> bool:
    """Whether a gradient may flow to positional input `index`: not to indices, attributes and what gives a shape."""
    if index >= len(op.inputs) and not op.variadic:
        return False
    able = op.vjp.differentiable if isinstance(op.vjp, Vjp) else None
    return not op.asks_shape(index) and (able is None or op.input_name(index) in able)


def _makes_leaf(block: Block) -> bool:
    """Whether something in a block wants a gradient that is made of nothing that does."""
    makers = (op for op in block.ops if not all(_stops(out) for out in op.outputs))
    return any(all(_stops(v) for v in op.variables) or any(map(_makes_leaf, op.blocks.values())) for op in makers)


def _stops_of_blocks(blocks: Sequence[Block], count: int) -> list[bool]:
    """Under no_grad a value merely passed on keeps its gradient, as the same object does in eager code."""
    ends = [b.outputs for b in blocks if len(b.outputs) == count]
    return [all(_stops(outs[i]) for outs in ends) for i in range(count)] if ends else [True] * count


def _stops_of_loop(starts: Sequence[Any], ends: Sequence[Any], count: int) -> list[bool]:
    """Likewise for a loop: what it carries may come out as it went in."""
    carried = [_stops(start) and _stops(end) for start, end in zip(starts, ends)]
    return carried + [True] * (count - len(carried))


def _stops(value: Any) -> bool:
    return value is None or bool(value.stop_gradient)

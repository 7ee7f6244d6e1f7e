"""The vjp of `call`: the gradient of a function is a function, recorded once and recursive where that one is.

A run of a function hands out one more value, its *frame*: what the gradient reads of it, the frames of the calls made
inside included. The gradient takes cotangents and the frame. How much there is to keep is known only at run time, so a
frame is one opaque value, packed and unpacked by operators whose cotangents are frames again: higher derivatives need
no further rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.meta import FrameMeta
from ..ir.dead_code import prune
from ..ir.functions import calls_of, record_call
from ..ir.program import Block, Operator, Variable
from ..ops.calls import pack_frame_op, unpack_frame_op
from ..ops.missing import MAY_BE_MISSING, MAY_HAVE_GAPS, absent
from .context import Pullback, seed
from .gaps import put_marks

# A gradient is recorded once for all calls: each may have other cotangents.
NOT_SURE = frozenset({MAY_BE_MISSING, MAY_HAVE_GAPS})


@dataclass(frozen=True)
class FunctionGradient:
    """A function from cotangents of the outputs `seeds`, and the output `frame`, to cotangents of the inputs `wrt`."""

    block: Block
    seeds: tuple[int, ...]
    wrt: tuple[int, ...]
    frame: int


def call_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """A cotangent for each input of a `call` operator."""
    function: Block = operator.attrs["function"]
    gradient = _gradient_of(rule, function, operator, cts)
    flow: list[Variable | None] = [None] * len(operator.inputs)
    if not gradient.wrt:
        return flow
    see = rule.builder.value
    given = [absent(operator.outputs[i].meta) if cts[i] is None else cts[i] for i in gradient.seeds]
    metas = [function.inputs[i].meta for i in gradient.wrt]
    values = [see(v) for v in (*given, operator.outputs[gradient.frame])]
    for i, ct in zip(gradient.wrt, record_call(rule.builder, gradient.block, values, metas)):
        flow[i] = put_marks(ct, NOT_SURE)
    return flow


def _gradient_of(
    rule: Pullback, function: Block, operator: Operator, cts: Sequence[Variable | None]
) -> FunctionGradient:
    """The function's gradient for what has cotangents here; made at the first call that asks, found by those inside."""
    frames = frozenset(
        i for i, ct in enumerate(cts) if ct is not None and isinstance(operator.outputs[i].meta, FrameMeta)
    )
    known = rule.builder.gradients
    key = (function, frames)
    if key not in known:
        seeds = tuple(i for i, v in enumerate(function.outputs) if _is_seed(v, i in frames))
        wrt = tuple(i for i, v in enumerate(function.inputs) if not v.stop_gradient)
        frame = _add_frame_output(function)
        with rule.builder.sub_block(parent=function) as block:
            known[key] = FunctionGradient(block, seeds, wrt, frame)
            block.name = block.program.function_name(f"{function.name}_grad")
            _record(rule, function, known[key])
    found: FunctionGradient = known[key]
    return found


def _is_seed(output: Variable | None, has_cotangent: bool) -> bool:
    """Frames count only where a cotangent of one is there: they are read by gradients alone."""
    if output is None or output.stop_gradient:
        return False
    return has_cotangent or not isinstance(output.meta, FrameMeta)


def _add_frame_output(function: Block) -> int:
    """The number of a new output for what each run keeps; every call gets it too."""
    for block, operator in calls_of(function.program, function):
        operator.outputs = (*operator.outputs, block.create_var(FrameMeta(), prefix="frame", stop_gradient=False))
    function.outputs.append(function.create_var(FrameMeta(), prefix="frame", stop_gradient=False))
    return len(function.outputs) - 1


def _record(rule: Pullback, function: Block, gradient: FunctionGradient) -> None:
    """Fill the gradient's block, and pack what it reads of the function as the function's frame."""
    block, targets = gradient.block, [function.inputs[i] for i in gradient.wrt]
    outputs = [function.outputs[i] for i in gradient.seeds]
    formals = [
        put_marks(block.add_input(v.meta, "ct", stop_gradient=False), NOT_SURE) for v in outputs if v is not None
    ]
    found = rule.pull_back(rule.builder, function, seed(outputs, formals), targets)
    block.outputs = [rule.builder.value(found[t]) if t in found else absent(t.meta) for t in targets]
    prune(block)
    kept, seen = tuple(block.captures), tuple(block.captures.values())
    metas = tuple(v.meta for v in kept)
    frame = function.outputs[gradient.frame]
    assert frame is not None
    function.append(pack_frame_op, kept, [frame], {"metas": metas})
    block.captures, block.parent = {}, None
    block.inputs = [*formals, block.add_input(FrameMeta(), "frame", stop_gradient=False)]
    block.append(unpack_frame_op, [block.inputs[-1]], seen, {"metas": metas})
    block.ops.insert(0, block.ops.pop())


def pack_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """The cotangents of what was packed, unpacked from that of the frame."""
    outs: list[Variable] = unpack_frame_op(cts[0], metas=operator.attrs["metas"])
    return [None if v is None else put_marks(ct, NOT_SURE) for v, ct in zip(operator.inputs, outs)]


def unpack_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """The cotangent of a frame: those of its values."""
    return [pack_frame_op(*cts, metas=operator.attrs["metas"])]

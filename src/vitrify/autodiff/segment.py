"""A forward block together with the block of its backward: what run_program runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..core.modes import grad_enabled, scoped
from ..ir.builder import Builder, building
from ..ir.dead_code import drop_unused_blocks, prune
from ..ir.program import Block, Program, Variable
from ..ir.regions import copy_ops
from .activity import active_variables
from .context import seed
from .gaps import mark_gaps
from .reverse import pull_back
from .shapes import leave_shapes


@dataclass(frozen=True)
class BackwardProgram:
    """The backward of a forward block, as a program of its own.

    Its global block takes the values of `residuals` (forward variables), then the cotangents of the forward outputs
    with indices `seeds`; it gives the cotangents of the forward inputs with indices `wrt`.
    """

    program: Program
    residuals: tuple[Variable, ...]
    seeds: tuple[int, ...]
    wrt: tuple[int, ...]


def build_backward(
    forward: Block, outputs: Sequence[Variable], wrt: Sequence[int], given: Collection[int] | None = None
) -> BackwardProgram | None:
    """The backward of `outputs` with respect to the block inputs `wrt`; None when no cotangent can flow.

    given: the numbers of the outputs that have cotangents, by default all that can. `forward` may gain operator outputs
    (values its control flow must leave behind), so lower it afterwards.
    """
    inputs = [forward.inputs[i] for i in wrt]
    seeds = _seeds(outputs, active_variables(forward.ops, inputs), given)
    if not seeds:
        return None
    program = Program()
    block = program.global_block()
    builder = Builder(program)
    cts = [_cotangent(block, outputs[i]) for i in seeds]
    block.parent = forward  # so that forward values are captured; taken away again below
    with building(builder), scoped(grad_enabled, False), program.adding("backward"):
        found = pull_back(builder, forward, seed([outputs[i] for i in seeds], cts), inputs)
    flowing = [i for i, v in zip(wrt, inputs) if v in found]
    block.outputs = [block.resolve(found[v]) for v in inputs if v in found]
    prune(block)
    leave_shapes(forward, block, inputs=True)
    residuals = tuple(block.captures)
    block.inputs = [*block.captures.values(), *cts]
    block.captures = {}
    block.parent = None
    drop_unused_blocks(program)
    return BackwardProgram(program, residuals, seeds, tuple(flowing))


def _seeds(outputs: Sequence[Variable], active: Collection[Variable], given: Collection[int] | None) -> tuple[int, ...]:
    numbers = range(len(outputs)) if given is None else given
    return tuple(i for i in numbers if outputs[i] in active)


def _cotangent(block: Block, output: Variable) -> Variable:
    """A variable for the cotangent of an output; of a list, only some items may have one."""
    ct = block.create_var(output.meta, f"{output.name}_ct", stop_gradient=False)
    mark_gaps(ct)
    return ct


def differentiable_backward(
    forward: Block, outputs: Sequence[Variable], wrt: Sequence[int], given: Collection[int] | None = None
) -> BackwardProgram | None:
    """Like `build_backward`, but self-contained: the program takes the forward inputs and recomputes what it needs.

    Its result depends on inputs and cotangents only, so that it can be differentiated again (create_graph).
    """
    program = Program()
    block = program.global_block()
    mapping = {v: block.add_input(v.meta, v.name, stop_gradient=v.stop_gradient) for v in forward.inputs}
    copy_ops(forward, block, mapping, effects=False)
    inner = [mapping[v] for v in outputs]
    targets = [block.inputs[i] for i in wrt]
    seeds = _seeds(inner, active_variables(block.ops, targets), given)
    if not seeds:
        return None
    builder = Builder(program)
    cts = [_cotangent(block, inner[i]) for i in seeds]
    block.inputs += cts
    with building(builder), scoped(grad_enabled, True):
        found = pull_back(builder, block, seed([inner[i] for i in seeds], cts), targets)
    block.outputs = [found[v] for v in targets if v in found]
    flowing = tuple(i for i, v in zip(wrt, targets) if v in found)
    drop_unused_blocks(program)
    return BackwardProgram(program, tuple(forward.inputs), seeds, flowing)

"""A forward block together with the block of its backward: what run_program runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.modes import grad_enabled, scoped
from ..ir.builder import Builder, building
from ..ir.dead_code import prune
from ..ir.program import Block, Program, Variable
from ..ir.regions import copy_ops
from ..ops.control_flow import add_cotangents
from .activity import active_variables, carries_gradient
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


def build_backward(forward: Block, outputs: Sequence[Variable], wrt: Sequence[int]) -> BackwardProgram | None:
    """The backward of `outputs` with respect to the block inputs `wrt`; None when no cotangent can flow.

    `forward` may gain operator outputs (values its control flow must leave behind), so lower it afterwards.
    """
    inputs = [forward.inputs[i] for i in wrt]
    active = active_variables(forward, inputs)
    seeds = tuple(i for i, v in enumerate(outputs) if v in active and carries_gradient(v))
    if not seeds:
        return None
    program = Program()
    block = program.global_block()
    builder = Builder(program)
    cts = [block.create_var(outputs[i].meta, f"{outputs[i].name}_ct", stop_gradient=False) for i in seeds]
    block.parent = forward  # so that forward values are captured; taken away again below
    with building(builder), scoped(grad_enabled, True), program.adding("backward"):
        seeded: dict[Variable, Variable] = {}
        for i, ct in zip(seeds, cts):
            seeded[outputs[i]] = add_cotangents(seeded[outputs[i]], ct, ct) if outputs[i] in seeded else ct
        found = pull_back(builder, forward, seeded, inputs)
    flowing = [i for i, v in zip(wrt, inputs) if v in found]
    block.outputs = [block.resolve(found[v]) for v in inputs if v in found]
    prune(block)
    leave_shapes(forward, block, inputs=True)
    residuals = tuple(block.captures)
    block.inputs = [*block.captures.values(), *cts]
    block.captures = {}
    block.parent = None
    return BackwardProgram(program, residuals, seeds, tuple(flowing))


def differentiable_backward(forward: Block, outputs: Sequence[Variable], wrt: Sequence[int]) -> BackwardProgram | None:
    """Like `build_backward`, but self-contained: the program takes the forward inputs and recomputes what it needs.

    Its result depends on inputs and cotangents only, so that it can be differentiated again (create_graph).
    """
    program = Program()
    block = program.global_block()
    mapping = {v: block.add_input(v.meta, v.name, stop_gradient=v.stop_gradient) for v in forward.inputs}
    copy_ops(forward, block, mapping, effects=False)
    inner = [mapping[v] for v in outputs]
    targets = [block.inputs[i] for i in wrt]
    active = active_variables(block, targets)
    seeds = tuple(i for i, v in enumerate(inner) if v in active and carries_gradient(v))
    if not seeds:
        return None
    builder = Builder(program)
    cts = [block.add_input(inner[i].meta, f"{inner[i].name}_ct", stop_gradient=False) for i in seeds]
    with building(builder), scoped(grad_enabled, True):
        seeded = {inner[i]: ct for i, ct in zip(seeds, cts)}
        found = pull_back(builder, block, seeded, targets)
    block.outputs = [found[v] for v in targets if v in found]
    flowing = tuple(i for i, v in zip(wrt, targets) if v in found)
    return BackwardProgram(program, tuple(forward.inputs), seeds, flowing)

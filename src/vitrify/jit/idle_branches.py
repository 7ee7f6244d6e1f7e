"""Branches of a model that are never taken: files of others, and machine code, are written without them.

Apart from what traces a model, for one that was loaded is written anew without tracing it.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir.model_file import ModelFile, SavedFunction
from ..ir.ssa_blocks import block_of, graph_of
from ..passes.decide import decided


def without_idle_branches(model: ModelFile) -> ModelFile:
    """The model without branches that are never taken: what they hold need have no form elsewhere."""
    return replace(model, functions={name: _decided(function) for name, function in model.functions.items()})


def _decided(function: SavedFunction) -> SavedFunction:
    block = function.program.global_block()
    if not any(operator.blocks for operator in block.ops):
        return function
    graph = graph_of(block)
    found = decided(graph)
    return function if found is graph else replace(function, program=block_of(found).program)


__all__ = ["without_idle_branches"]

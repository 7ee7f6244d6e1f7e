"""Cones: which operators and inputs of a block a gradient passes on its way back from one output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ..ir.program import Block, Variable
from .kept import inputs_shown


@dataclass(frozen=True)
class Cone:
    """operators: by position. inputs: places of inputs that get a cotangent. reads: of those whose memory is read."""

    operators: frozenset[int] = frozenset()
    inputs: frozenset[int] = frozenset()
    reads: frozenset[int] = frozenset()

    def __or__(self, other: Cone) -> Cone:
        return Cone(self.operators | other.operators, self.inputs | other.inputs, self.reads | other.reads)


def cone_of(block: Block, output: Variable) -> Cone:
    """The cone of one output."""
    wanted = {output}
    operators = set()
    reads: set[Variable] = set()
    for index in range(len(block.ops) - 1, -1, -1):
        operator = block.ops[index]
        if wanted.isdisjoint(operator.outputs):
            continue
        operators.add(index)
        given = [v for v in operator.inputs if isinstance(v, Variable)]
        reads.update(given)
        wanted.update(v for v in given if not v.stop_gradient)
    places = {v: i for i, v in enumerate(block.inputs)}
    return Cone(frozenset(operators), _places(places, wanted), frozenset().union(*inputs_shown(block, [*reads])))


def _places(places: dict[Variable, int], variables: set[Variable]) -> frozenset[int]:
    return frozenset(places[v] for v in variables if v in places)


def union(cones: Sequence[Cone]) -> Cone:
    """All cones in one."""
    return reduce(Cone.__or__, cones, Cone())

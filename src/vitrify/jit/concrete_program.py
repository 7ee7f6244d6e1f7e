"""ConcreteProgram: what one trace of a converted function for given input specs made, or a file holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.errors import StaleBackwardError
from ..eager.layer import Layer
from ..eager.tensor import Tensor
from ..ir.program import Block, Program, Variable
from .template import Template

if TYPE_CHECKING:
    from ..convert.guards.kinds import Guards
    from .effects import Effect


@dataclass
class ConcreteProgram:
    """A traced program and what it takes to call it.

    The global block's inputs are the tensor arguments in leaf order, then `captured` tensors (parameters, buffers and
    other eager tensors that the function reads). `writes` pairs an input index with the variable that holds the
    value it must take afterwards (in-place changes of arguments and buffers). `effects` are its changes of Python
    objects, `guards` what it read of them, None where a file holds it. `tensor_leaves` says which leaves of the call
    are tensors, `layers` which Layers it called; `leaves_undone`, whether it may raise without having changed what
    eager code changes before.
    `spent`: the numbers of outputs that no backward may come by, and why; `pinned`: those of captured tensors that no
    others may stand in for, as their gradients or state are the program's. `without_ones`: whether it is right only
    where no unknown size is 1, `takes_sizes`: whether it may raise TakenSizeError. `wanting`: the numbers of outputs
    that want a gradient on every path; `ending`: of those that are no leaves, where the program makes leaves. `flags`
    pairs an input index with the `stop_gradient` that the function gives it. `left_alone`: for inputs that are written
    to on some path, the number, from the end, of the output that says whether they are on no tape afterwards.
    `apart`: pairs of inputs that it takes for two objects.
    `hands_on`: whether what some list gives back is known by its array (`jit/handed.py`).
    `fields` pairs an input index with the name of an attribute that it takes the input not to have. `leaves` pairs the
    index of an argument that it takes for a leaf with whether it takes it to have no gradient yet.
    """

    program: Program
    n_arguments: int
    captured: list[Tensor]
    outputs: list[Variable]
    output: Template
    writes: list[tuple[int, Variable]] = field(default_factory=list)
    tensor_leaves: list[bool] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    guards: Guards | None = None
    leaves_undone: bool = False
    spent: Mapping[int, StaleBackwardError] = field(default_factory=dict)
    partly_spent: Mapping[int, tuple[StaleBackwardError, Sequence[int]]] = field(default_factory=dict)
    """Outputs from which no backward may come to some inputs, with why, and the numbers of these."""
    pinned: frozenset[int] = frozenset()
    wanting: frozenset[int] = frozenset()
    ending: frozenset[int] = frozenset()
    without_ones: bool = False
    takes_sizes: bool = False
    left_alone: Mapping[int, int] = field(default_factory=dict)
    flags: tuple[tuple[int, bool], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    fields: tuple[tuple[int, str], ...] = ()
    leaves: tuple[tuple[int, bool], ...] = ()
    hands_on: bool = False

    @property
    def block(self) -> Block:
        """The program's global block."""
        return self.program.global_block()

    @property
    def work(self) -> int:
        """How many operators it has, those of branches and loops included."""
        return sum(len(block.ops) for block in self.program.blocks)

    @property
    def main_program(self) -> Program:
        """The forward program."""
        return self.program

    @property
    def inputs(self) -> list[Variable]:
        """The variables of the tensor arguments."""
        return self.block.inputs[: self.n_arguments]

    @property
    def parameters(self) -> list[Tensor]:
        """The captured tensors."""
        return list(self.captured)

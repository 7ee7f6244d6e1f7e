"""What the rule of an operator with blocks works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ..ir.builder import Builder
from ..ir.program import AnyMeta, Block, Operator, Variable
from ..ops.missing import add_cotangents

PullBack = Callable[[Builder, Block, Mapping[Variable, Variable], Iterable[Variable]], dict[Variable, Variable]]


@dataclass(frozen=True)
class Pullback:
    """One run of reverse mode over `forward`; `pull_back` is the recursion into sub-blocks."""

    builder: Builder
    forward: Block
    active: set[Variable]
    pull_back: PullBack

    @contextmanager
    def located(self, operator: Operator) -> Iterator[None]:
        """Give the operators recorded inside the user's location of `operator`."""
        with self.builder.at(operator.locs):
            yield

    def new_output(self, operator: Operator, meta: AnyMeta, like: Variable) -> Variable:
        """One more output of a forward operator, through which a residual leaves its block."""
        var = self.forward.create_var(meta, prefix=like.name, stop_gradient=like.stop_gradient)
        operator.outputs = (*operator.outputs, var)
        return var


def seed(outputs: Iterable[Variable | None], cts: Iterable[Variable | None]) -> dict[Variable, Variable]:
    """Cotangents by forward variable; an output listed twice gets the sum."""
    held: dict[Variable, Variable] = {}
    for var, ct in zip(outputs, cts):
        if var is not None and ct is not None:
            held[var] = add_cotangents(held[var], ct, var) if var in held else ct
    return held

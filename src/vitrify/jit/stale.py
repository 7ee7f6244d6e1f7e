"""What backward would read of tensors changed in place since, where no tape saw the change: eager code refuses that."""

from __future__ import annotations

from collections.abc import Iterable

from ..autodiff.activity import active_variables
from ..core.errors import StaleBackwardError
from ..ir.aliases import Aliases
from ..ir.operator import Operator
from ..ir.program import Block, Variable, position
from ..ir.tape_place import UNSEEN
from ..ops.registry import StructuralGradient, Vjp

Reasons = dict[Variable, StaleBackwardError]


class Staleness:
    """What was changed in place where no tape saw it, of a program that does not change meanwhile."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._plain: dict[Block, set[Variable]] = {}  # what operators without blocks made

    def error(self, operator: Operator) -> StaleBackwardError | None:
        """That of a backward that passes the operator; None where what it reads was not changed, as far as is known.

        A change on a path that a tensor decides about may not have happened.
        """
        var = next((v for v in read_by_backward(operator) if self._is_changed(v)), None)
        return None if var is None else modified(operator, var)

    def _is_changed(self, var: Variable) -> bool:
        """Whether the memory of a variable was changed in place where no tape sees it."""
        aliases = self._aliases
        base = var
        while base not in aliases.replaced:
            if base not in aliases.views:
                return False  # nor was anything that it may show, and asking whether it does takes longer
            base = aliases.views[base].base
        while var in aliases.views and aliases.shares(var):
            var = aliases.views[var].base
        while var in aliases.replaced:
            var = aliases.replaced[var]
            if (var.stop_gradient or UNSEEN in var.__dict__) and not self._is_of_paths(var):
                return True
        return False

    def _is_of_paths(self, var: Variable) -> bool:
        """Whether no operator of its block made it, or one with blocks did."""
        made = self._plain.get(var.block)
        if made is None:
            simple = [op.outputs for op in var.block.ops if not isinstance(op.op.vjp, StructuralGradient)]
            made = self._plain[var.block] = {out for outputs in simple for out in outputs}
        return var not in made


def modified(operator: Operator, var: Variable) -> StaleBackwardError:
    """The error of a backward that needs what `var` held."""
    return StaleBackwardError(
        f"{operator.op.name}: backward needs {var.name}, which was modified in place since",
        hint="call backward before changing it (for parameters: before optimizer.step()), or change a copy (x.clone())",
    )


def stale_results(operators: Iterable[Operator], aliases: Aliases) -> Reasons:
    """The variables from which no gradient flows back, with the error that says why."""
    found: Reasons = {}
    stale = Staleness(aliases)
    for operator in operators:
        error = stale.error(operator)
        if error is not None and operator.locs:
            error.loc = operator.locs[0]
        if error is not None:
            found.update((out, error) for out in operator.outputs if not out.stop_gradient)
            continue
        through = [v for v in operator.variables if v in found]
        if through:
            active = active_variables([operator], through)
            found.update((out, found[through[0]]) for out in operator.outputs if out in active)
    return found


def read_by_backward(operator: Operator) -> list[Variable]:
    """What the vjp of an operator without blocks keeps, of its inputs and outputs."""
    op, rules = operator.op, operator.op.vjp
    is_change = any(UNSEEN in out.__dict__ for out in operator.outputs)  # which hands the gradient on as it is
    if is_change or not isinstance(rules, Vjp) or all(out.stop_gradient for out in operator.outputs):
        return []
    named = [(op.input_name(i), v) for i, v in enumerate(operator.inputs)]
    wanted = frozenset(name for name, v in named if isinstance(v, Variable) and not v.stop_gradient)
    names = rules.residual_names(wanted)
    return [v for name, v in (*named, *zip(op.outputs, operator.outputs)) if name in names and isinstance(v, Variable)]


def reads(operator: Operator, var: Variable) -> bool:
    """Whether an operator, or one in its blocks, reads what a variable holds, and not merely its shape."""
    if operator.blocks:
        given = [block.captures[var] for block in operator.blocks.values() if var in block.captures]
        return any(reads(op, v) for v in given for op in v.block.ops if position(op.variables, v) >= 0)
    names = [operator.op.input_name(i) for i, v in enumerate(operator.inputs) if v is var]
    return any(name not in operator.op.shape_only for name in names)

"""What backward would read of tensors changed in place since: eager code refuses that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..autodiff.activity import active_variables, wanted_inputs
from ..core.errors import StaleBackwardError
from ..ir.aliases import Aliases
from ..ir.operator import Operator
from ..ir.program import Block, Variable, position
from ..ir.tape_place import IN_PLACE, UNSEEN, are_alike
from ..ops.control_flow import if_op
from ..ops.hand_gradient import with_gradient_op
from ..ops.registry import StructuralGradient, Vjp
from ..ops.same_sizes import sized_like_op
from ..ops.softmax import straight_through_op
from .ended_blocks import differentiated

Reasons = dict[Variable, StaleBackwardError]


class Staleness:
    """What was changed in place, of a program that does not change meanwhile."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._makers: dict[Block, dict[Variable, Operator]] = {}  # the operators without blocks, by what they made
        self._overwritten: dict[Variable, Variable] | None = None  # what held what an operator gave in its place

    def error(self, operator: Operator, is_seen: bool = False) -> StaleBackwardError | None:
        """That of a backward that passes the operator; None where what it reads was not changed, as far as is known.

        A change on a path that a tensor decides about may not have happened. is_seen: whether to tell of changes that
        the tape saw, else of others.
        """
        if not self._aliases.replaced:
            return None
        var = next((v for v in read_by_backward(operator) if self._is_changed(v, operator, is_seen)), None)
        return None if var is None else modified(operator, var)

    def _is_changed(self, var: Variable, operator: Operator, is_seen: bool) -> bool:
        """Whether the memory of a variable was changed in place, after the operator kept it for backward."""
        aliases = self._aliases
        kept = base = var
        while base not in aliases.replaced:
            if base not in aliases.views:
                return False  # nor was anything that it may show, and asking whether it does takes longer
            base = aliases.views[base].base
        while var in aliases.views and aliases.shares(var):
            var = aliases.views[var].base
        if is_seen and operator.op is with_gradient_op:  # which keeps what its own rule reads, as in eager code
            return False
        while var in aliases.replaced:
            old, var = var, aliases.replaced[var]
            is_sure = self._is_surely_changed(old, var) if is_seen else not self._is_of_paths(var)
            if _is_unseen(var) is not is_seen and is_sure:
                return not self._has_copy(operator, kept)
        return False

    def _is_surely_changed(self, old: Variable, new: Variable) -> bool:
        """Whether the memory of `old` holds `new` whatever path is taken, and is no other memory."""
        # What shares memory on a path holds, after a change of the other there, what a flag chooses.
        is_sure = IN_PLACE in new.__dict__ or not self._aliases.forks
        from_paths = self._is_of_paths(new) or self._is_of_paths(self._given(new))
        return is_sure and not from_paths and are_alike(old.meta, new.meta)

    def _has_copy(self, operator: Operator, var: Variable) -> bool:
        """Whether what the operator keeps of `var` is a copy, as the operator itself changed that tensor in place.

        Eager code copies what it overwrites, and the result that it keeps is in memory that nothing else has.
        """
        if self._overwritten is None:
            replaced = self._aliases.replaced
            self._overwritten = {self._given(new): old for old, new in replaced.items() if IN_PLACE in new.__dict__}
        changed = [out for out in operator.outputs if out in self._overwritten]
        shown = self._aliases.shown
        return position(changed, var) >= 0 or any(shown(self._overwritten[out]) is shown(var) for out in changed)

    def _given(self, new: Variable) -> Variable:
        """What an operator gave as new content of a tensor, before `new` was checked and took its place on the tape."""
        while (made := self._maker(new)) is not None and made.op in (straight_through_op, sized_like_op):
            given = made.inputs[0]
            assert isinstance(given, Variable)
            new = given
        return new

    def _is_of_paths(self, var: Variable) -> bool:
        """Whether no operator of its block made it, or one with blocks did."""
        return self._maker(var) is None

    def _maker(self, var: Variable) -> Operator | None:
        """The operator of its block that made a variable, unless that has blocks."""
        makers = self._makers.get(var.block)
        if makers is None:
            simple = [op for op in var.block.ops if not isinstance(op.op.vjp, StructuralGradient)]
            makers = self._makers[var.block] = {out: op for op in simple for out in op.outputs}
        return makers.get(var)


def _is_unseen(new: Variable) -> bool:
    """Whether no tape saw the change that gave some tensor this content."""
    return new.stop_gradient or UNSEEN in new.__dict__


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


@dataclass(frozen=True)
class StaleResult:
    """Why no backward may come from a result to the variables that lie behind an operator, though it may to others."""

    error: StaleBackwardError
    behind: frozenset[Variable]


def refused_results(block: Block, aliases: Aliases, results: Iterable[Variable]) -> dict[Variable, StaleResult]:
    """Those of `results` from which no gradient flows to others, as what it reads was changed while the tape saw that.

    They are those of which this is so whatever path is taken.
    """
    if all(_is_unseen(new) for new in aliases.replaced.values()):
        return {}
    stale, operators = Staleness(aliases), differentiated(block)
    made = {out for operator in operators for out in operator.outputs}
    leaves = [v for operator in operators for v in operator.variables if v not in made]
    wanted = Sure(leaves, may_start=True).of(operators)
    errors: dict[Operator, StaleBackwardError] = {}
    for operator in operators:
        error = stale.error(operator, is_seen=True) if not wanted.isdisjoint(operator.outputs) else None
        if error is not None:
            error.loc = next(iter(operator.locs), None)
            errors[operator] = error
    if not errors:
        return {}
    refusing = Sure([out for operator in errors for out in operator.outputs if out in wanted]).of(operators)
    return {var: _refused(var, operators, errors) for var in results if var in refusing}


def _refused(
    var: Variable, operators: Sequence[Operator], errors: Mapping[Operator, StaleBackwardError]
) -> StaleResult:
    """What is known of a result that surely comes from one of the operators that raise these errors."""
    passed, behind, found = {var}, set[Variable](), []
    for operator in reversed(operators):
        is_passed = not passed.isdisjoint(operator.outputs)
        if not is_passed and behind.isdisjoint(operator.outputs):
            continue
        reached = [v for v in operator.variables if not v.stop_gradient]
        passed.update(reached)
        if is_passed and operator in errors:
            found.append(errors[operator])
        if found and (operator in errors or not behind.isdisjoint(operator.outputs)):
            behind.update(reached)
    return StaleResult(found[0], frozenset(behind))


class Sure:
    """What a gradient comes from, to `wrt` or (may_start) to any leaf, whatever path is taken.

    What loops give is not known to.
    """

    def __init__(self, wrt: Iterable[Variable], may_start: bool = False) -> None:
        self._wrt = {v for v in wrt if not v.stop_gradient}
        self._may_start = may_start

    def of(self, operators: Iterable[Operator]) -> set[Variable]:
        """The variables, `wrt` included, of a block with these operators."""
        found = {*self._wrt}
        for operator in operators:
            found.update(v for v in self._reached(operator, found) if not v.stop_gradient)
        return found

    def _reached(self, operator: Operator, found: set[Variable]) -> Iterable[Variable]:
        if operator.op is if_op:
            sides = [operator.attrs["then"], operator.attrs["orelse"]]
            inside = [self._inside(side, operator, found) for side in sides]
            ends = zip(operator.outputs, *[side.outputs for side in sides])
            return [v for v, *here in ends if all(end in ends_of for end, ends_of in zip(here, inside))]
        if isinstance(operator.op.vjp, StructuralGradient):
            return ()
        is_start = self._may_start and all(v.stop_gradient for v in operator.variables)
        return operator.outputs if is_start or wanted_inputs(operator, found) else ()

    def _inside(self, side: Block, operator: Operator, found: set[Variable]) -> set[Variable]:
        given = [inner for inner, v in zip(side.inputs, operator.inputs[1:]) if v in found]
        return Sure(given, self._may_start).of(differentiated(side))


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

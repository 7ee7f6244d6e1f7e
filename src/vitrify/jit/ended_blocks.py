"""What branches and loops that have ended left for a backward behind them: leaves made inside, freed operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..autodiff.activity import active_variables, reached_variables
from ..ir.operator import Operator
from ..ir.program import Block, Program, Variable, position
from ..ops.calls import call_op
from ..ops.control_flow import if_op, while_op
from ..ops.registry import NoGradient


def differentiated(block: Block) -> list[Operator]:
    """The operators of a block that a gradient can pass."""
    return [op for op in block.ops if op.role != "optimize" and not isinstance(op.op.vjp, NoGradient)]


def seen_outside(leaf: Variable, levels: Collection[Block]) -> Sequence[Variable]:
    """The variables of one of `levels` that depend on a leaf of a block inside of them; none for a block given up."""
    reached: Sequence[Variable] = [leaf]
    block: Block | None = leaf.block
    while reached and block is not None and block not in levels:
        active = active_variables(differentiated(block), reached)
        reached = _outputs_of(block, [i for i, v in enumerate(block.outputs) if v in active])
        block = block.parent
    return reached if block is not None else ()


def leaf_outside(leaf: Variable, outer: Block) -> Variable | None:
    """What a leaf of a block inside of `outer` is there; None where it does not come out, or the block was given up."""
    var, block = leaf, leaf.block
    while block is not outer:
        owner, place = _owner(block), position(block.outputs, var)
        if owner is None or not 0 <= place < len(owner.outputs) or block.parent is None:
            return None
        var, block = owner.outputs[place], block.parent
    return var


def reached_by(operator: Operator, variables: Collection[Variable]) -> Sequence[Variable]:
    """The outputs of an operator that depend on some of these: of a branch, those that one of its blocks makes of them.

    Leaves made there, such as a detached weight, depend on nothing.
    """
    if operator.op is not if_op:
        return operator.outputs
    places: set[int] = set()
    for block in operator.blocks.values():
        given = [inner for inner, v in zip(block.inputs, operator.inputs[1:]) if v in variables]
        active = active_variables(differentiated(block), given).union(given)
        places.update(i for i, v in enumerate(block.outputs) if v in active)
    return [operator.outputs[i] for i in sorted(places)]


def reached_if_run(operator: Operator, block: Block, wanted: Collection[Variable]) -> Sequence[Variable]:
    """The inputs of a branch or loop that its outputs among `wanted` come from where a run comes by `block` of it."""
    places = [i for i, v in enumerate(operator.outputs) if v in wanted]
    if operator.op is if_op:
        inner = _flown(block, [block.outputs[i] for i in places])
        return [v for formal, v in zip(block.inputs, operator.inputs[1:]) if formal in inner]
    if operator.op is not while_op or block is not operator.attrs["body"] or operator.attrs["cond"] is None:
        return operator.variables
    n_carried, reached = operator.attrs["n_carried"], set[Variable]()
    if any(i >= n_carried for i in places):
        return operator.variables
    ends = [block.outputs[i] for i in places]
    while True:  # as often as the loop may go round
        more = _flown(block, ends).intersection(block.inputs) - reached
        if not more:
            return [v for formal, v in zip(block.inputs, operator.inputs) if formal in reached]
        reached |= more
        ends = [end for head, end in zip(block.inputs[:n_carried], block.outputs) if head in more]


def flows_on(
    operator: Operator, wanted: Collection[Variable], active: set[Variable], ran: Block | None = None
) -> Iterable[Variable]:
    """The active inputs of an operator that its outputs among `wanted` come from.

    ran: a block of it that a run is known to come by.
    """
    if operator.op not in (if_op, while_op):
        return reached_variables(operator, active)
    if ran is not None:
        found = [*reached_if_run(operator, ran, wanted)]
    elif operator.op is if_op:
        found = [v for block in operator.blocks.values() for v in reached_if_run(operator, block, wanted)]
    else:  # a loop, which may end at once
        start = operator.inputs[operator.attrs["cond"] is None :]
        found = [*reached_if_run(operator, operator.attrs["body"], wanted)]
        found += [v for v, end in zip(start[: operator.attrs["n_carried"]], operator.outputs) if end in wanted]
    return [v for v in found if isinstance(v, Variable) and v in active]


def _flown(block: Block, ends: Sequence[Variable | None]) -> set[Variable]:
    """What of a block these come from, by operators that a gradient can pass."""
    operators = differentiated(block)
    active = active_variables(operators, [v for v in block.inputs if not v.stop_gradient])
    found = {v for v in ends if v in active}
    for operator in reversed(operators):
        if not found.isdisjoint(operator.outputs):
            found.update(flows_on(operator, found, active))
    return found


def part_at(block: Block, level: Block) -> Block | None:
    """The block around `block`, or itself, that an operator of `level` runs; None where there is none."""
    found: Block | None = block
    while found is not None and found.parent is not level:
        found = found.parent
    return found


def has_run(block: Block, levels: Collection[Block]) -> bool:
    """Whether a block inside of `levels` belongs to an operator that is recorded there: it may have run by now."""
    while block not in levels:
        if block.parent is None or _owner(block) is None:
            return False
        block = block.parent
    return True


class Wanting:
    """Which variables of a traced program want a gradient, where `sources` do: inputs of it, and leaves made inside.

    What a loop carries does if its start does, or what an iteration leaves of it; what a function of the program is
    given, if any of its calls gives it what does.
    """

    def __init__(self, program: Program, sources: Collection[Variable]) -> None:
        self._sources = sources
        self._given: dict[Block, set[Variable]] = {}  # inputs of functions
        calls = [(block, op) for block in program.blocks for op in block.ops if op.op is call_op]
        while any(self._has_more(block, op) for block, op in calls):
            pass

    def of(self, block: Block) -> set[Variable]:
        """Those of a block; none of one that was given up."""
        own = {v for v in self._sources if v.block is block} | self._given.get(block, set())
        owner = _owner(block)
        if block.parent is not None and owner is None:
            return set()
        if block.parent is None or owner is None:
            return active_variables(differentiated(block), own)
        outside = self.of(block.parent)
        is_loop = owner.op is while_op
        given = owner.inputs[0 if is_loop and owner.attrs["cond"] is not None else 1 :]
        reached = {inner for inner, v in zip(block.inputs, given) if v in outside}
        carried = list(zip(block.inputs, block.outputs))[: owner.attrs["n_carried"] if is_loop else 0]
        while True:
            active = active_variables(differentiated(block), own | reached)
            more = {head for head, end in carried if end in active} - reached
            if not more:
                return active
            reached |= more

    def _has_more(self, block: Block, call: Operator) -> bool:
        """Whether a call gives its function more that wants a gradient than was known; it is known from now on."""
        function, wanted = call.attrs["function"], self.of(block)
        known = self._given.setdefault(function, set())
        more = {inner for inner, v in zip(function.inputs, call.inputs) if v in wanted} - known
        known |= more
        return bool(more)


def _outputs_of(block: Block, places: Sequence[int]) -> Sequence[Variable]:
    """What the outputs of a block at these places become in the block around it."""
    owner = _owner(block) if places else None
    if owner is None:
        return ()
    found = [owner.outputs[i] for i in places] if owner.op is if_op else owner.outputs
    return [v for v in found if not v.stop_gradient]


def _owner(block: Block) -> Operator | None:
    """The operator that runs a block; None for one that was given up, or that is not done yet."""
    if block.parent is None:
        return None
    return next((op for op in block.parent.ops if block in op.blocks.values()), None)

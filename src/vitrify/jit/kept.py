"""What a segment keeps for backward may lie in the memory of its inputs, which may be changed before backward runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.program import Block, Operator, Variable
from ..ir.tape_place import IN_PLACE
from ..ops.registry import Vjp
from ..ops.same_sizes import sized_like_op
from ..runtime.sharing import may_share
from .nested import items_of


class Kept:
    """The residuals of a segment. `overwritten` are the inputs that take new values after each run, and those values.

    `watched` are the inputs whose memory others may change before backward reads it.
    """

    def __init__(self, block: Block, residuals: Sequence[Variable], overwritten: Mapping[int, Variable]) -> None:
        self._places = [sorted(places) for places in inputs_shown(block, residuals)]
        self.watched = tuple(sorted({i for places in self._places for i in places} | {*overwritten}))
        exposed = [(k, [i for i in places if i in overwritten]) for k, places in enumerate(self._places)]
        self._exposed = [(k, p) for k, p in exposed if p and _is_own(block, residuals[k], [*overwritten.values()])]

    @property
    def may_copy(self) -> bool:
        """Whether some of what is kept may have to be copied, as the program overwrites it."""
        return bool(self._exposed)

    def saved(self, residuals: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        """`residuals`, with copies of what lies in memory that the program is about to overwrite.

        That is for operators that did so, or read it afterwards. What others read before is stale, as in eager code.
        """
        if not self._exposed:
            return residuals
        found = [*residuals]
        for k, places in self._exposed:
            if any(_overlap(found[k], inputs[i]) for i in places):
                found[k] = _copied(found[k])
        return found

    def lies_in(self, index: int, residuals: Sequence[Any], tensor: Any) -> bool:
        """Whether any of `residuals` is in the memory of `tensor`, the input of that number."""
        pairs = zip(residuals, self._places)
        return any(index in places and _overlap(residual, tensor) for residual, places in pairs)


def inputs_shown(block: Block, variables: Sequence[Variable]) -> list[frozenset[int]]:
    """For each variable the positions of the block's inputs whose memory it may lie in."""
    found = {v: frozenset({i}) for i, v in enumerate(block.inputs)}
    for operator in block.ops:
        sources = [operator.inputs[i] for i in may_share(operator)]
        shown = frozenset[int]().union(*(found.get(v, ()) for v in sources if isinstance(v, Variable)))
        if shown:
            found.update(dict.fromkeys(operator.outputs, shown))
    return [found.get(v, frozenset()) for v in variables]


def _is_own(block: Block, residual: Variable, written: Sequence[Variable]) -> bool:
    """Whether it shows what is `written`, or only operators that change a tensor in place keep it for backward."""
    makers = {v: operator for operator in block.ops if operator.op.view for v in operator.outputs}
    shown: Any = residual
    while shown in makers and not any(shown is v for v in written):
        shown = makers[shown].inputs[0]
    if any(shown is v for v in written):
        return True
    changed = _changed_in_place(block)
    keeping = [operator for operator in block.ops if any(v is residual for v in _kept_by(operator))]
    return all(operator.outputs[0] in changed for operator in keeping)


def _changed_in_place(block: Block) -> set[Variable]:
    """What operators give that change a tensor in place, also where the program then checks its sizes."""
    changed = {v for operator in block.ops for v in operator.outputs if v.__dict__.get(IN_PLACE, False)}
    checks = [operator for operator in block.ops if operator.op is sized_like_op]
    return changed | {c.inputs[0] for c in checks if c.outputs[0] in changed and isinstance(c.inputs[0], Variable)}


def _kept_by(operator: Operator) -> list[Any]:
    """The inputs of an operator without blocks whose values its backward reads."""
    op, rules = operator.op, operator.op.vjp
    if not isinstance(rules, Vjp):
        return []
    wanted = frozenset(op.input_name(i) for i, v in enumerate(operator.inputs) if not getattr(v, "stop_gradient", True))
    names = rules.residual_names(wanted)
    return [v for i, v in enumerate(operator.inputs) if op.input_name(i) in names]


def read_by(block: Block) -> frozenset[int]:
    """The positions of the block's inputs that its outputs depend on."""
    wanted = {v for v in block.outputs if v is not None}
    for operator in reversed(block.ops):
        if not wanted.isdisjoint(operator.outputs):
            wanted.update(operator.variables)
    return frozenset(i for i, v in enumerate(block.inputs) if v in wanted)


def _overlap(array: Any, tensor: Any) -> bool:
    arrays = [a for a in items_of(array) if a is not None]
    tensors = [t for t in items_of(tensor) if t is not None]
    return any(np.may_share_memory(a, t._data) for a in arrays for t in tensors)


def _copied(array: Any) -> Any:
    return [_copied(a) for a in array] if isinstance(array, list) else None if array is None else array.copy()

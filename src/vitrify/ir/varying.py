"""What eager code would say of a tensor of the program, where that depends on the path: its class, dtype, rank.

One Variable stands for what is the int 1 on one path and a tensor on the other. Its `kind` is then carried beside it.
Facts that no value is carried for make Python code that reads them refused (`convert/values/facts.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from types import NoneType
from typing import Any

from ..core.modes import recorder
from ..ops.elementwise import (
    add_op,
    divide_op,
    floor_divide_op,
    mod_op,
    multiply_op,
    neg_op,
    subtract_op,
)
from ..ops.like import cast_op
from ..ops.methods import TensorMethods
from ..ops.number import NUMBER_OPS
from ..ops.power import pow_op
from ..ops.promote import SCALARS
from ..ops.registry import get_op
from ..ops.select import maximum, where_op
from .graph_tensor import GraphTensor, is_number, sample
from .program import Block, Variable

KIND = "kind_flag"
"""The attribute of a variable of several kinds: a `Kind`."""
VARYING = "varying_facts"
"""The attribute of a variable with facts that depend on the path: a `Varying`."""
KINDS: tuple[type, ...] = (bool, int, float, complex, GraphTensor, NoneType)
"""Classes that one tensor may stand for; `GraphTensor` for tensors."""
CLASS, DTYPE, NDIM, STOP_GRADIENT = "class", "dtype", "ndim", "stop_gradient"
MIXED = "mixed"
"""Its class depends on the item that it was read from, of a list that holds numbers and tensors."""


LEAST: dict[Any, type] = {
    **dict.fromkeys((add_op, subtract_op, multiply_op, floor_divide_op, mod_op, neg_op), int),
    **dict.fromkeys(map(get_op, ("square", "abs")), int),
    divide_op: float,
}
LEAST |= {NUMBER_OPS[op]: least for op, least in LEAST.items() if op in NUMBER_OPS}
"""Ops that give a number of the widest class among their inputs' where these are numbers, and the least class of it."""
_OTHERS = "abs bitwise_and bitwise_not bitwise_or bitwise_xor"
_COMPARISONS = "equal greater_equal greater_than less_equal less_than not_equal"
_OPERATORS = {*LEAST, *map(get_op, f"{_OTHERS} {_COMPARISONS}".split()), pow_op, NUMBER_OPS[pow_op], where_op}
"""Ops that give numbers where their inputs are: those of Python's operators, and the choice of one."""


@dataclass(frozen=True)
class Kind:
    """Of which class a variable is in eager code: one of `kinds`, the one whose place in KINDS `code` holds."""

    code: Variable
    kinds: frozenset[type]

    def without_none(self) -> Kind:
        """The kind of what is computed from such a value: that is not None."""
        return Kind(self.code, self.kinds - {NoneType})


@dataclass(frozen=True)
class Varying:
    """Facts that differ between paths. `loop`: the body of the loop whose first iteration is the one that differs."""

    facts: frozenset[str]
    loop: Block | None = None


def kinds_of(value: Any) -> frozenset[type]:
    """The classes that a value may have in eager code, when it is a number, a tensor or None; else none."""
    if value is None:
        return frozenset({NoneType})
    if isinstance(value, SCALARS):
        return frozenset({next(kind for kind in KINDS if isinstance(value, kind))})
    if not isinstance(value, TensorMethods):
        return frozenset()
    held: Kind | None = value.__dict__.get(KIND) if isinstance(value, Variable) else None
    if held is not None:
        return held.kinds
    return frozenset({type(sample(value)) if is_number(value) else GraphTensor})


def kind_code(value: Any, kinds: frozenset[type]) -> Any:
    """The place of the value's class in KINDS: a number, or the Variable that holds it. Of an unset value, any."""
    held = value.__dict__.get(KIND) if isinstance(value, Variable) else None
    if held is not None:
        return held.code
    (kind,) = kinds_of(value) or [min(kinds, key=KINDS.index)]
    return KINDS.index(kind)


def kind_of(value: Any) -> Kind | None:
    """What says of which class a value is, where that depends on the path and is known."""
    held = value.__dict__.get(KIND) if isinstance(value, Variable) else None
    return None if held is None or CLASS in facts_of(value) else held


def facts_of(value: Any) -> frozenset[str]:
    """The facts of a value that depend on the path."""
    held = value.__dict__.get(VARYING) if isinstance(value, Variable) else None
    return frozenset() if held is None else held.facts


def may_be_number(value: Any) -> bool:
    """Whether it is a tensor in eager code on one path and a Python number on another."""
    return MIXED in facts_of(value) or kinds_of(value) - {NoneType} > {GraphTensor}


def differing(values: Iterable[Any], meta: Any) -> frozenset[str]:
    """The facts in which tensors differ from the one of `meta` that stands for all of them."""
    found: set[str] = set()
    for value in values:
        found |= facts_of(value)
        if isinstance(value, TensorMethods) and not is_number(value):
            found |= {DTYPE} if value.dtype is not meta.dtype else set()
            found |= {NDIM} if len(value.shape) != len(meta.shape) else set()
    return frozenset(found)


def mark(var: Variable, kind: Kind | None, facts: frozenset[str], loop: Block | None = None) -> None:
    """Note of a variable what depends on the path."""
    if kind is not None:
        var.__dict__[KIND] = kind
        if NoneType in kind.kinds:
            recorder.get().has_optional = True
    if facts:
        var.__dict__[VARYING] = Varying(facts, loop)


def clear(var: Variable, fact: str) -> None:
    """Note of a variable that a fact does not depend on the path."""
    held = var.__dict__.pop(VARYING, None)
    if held is not None:
        mark(var, None, held.facts - {fact}, held.loop)


def pass_on(op: Any, inputs: Sequence[Any], outs: Sequence[Variable]) -> None:
    """What depends on the path in an op's inputs does so in its outputs."""
    marked = [v.__dict__ for v in inputs if isinstance(v, Variable) and (VARYING in v.__dict__ or KIND in v.__dict__)]
    if not marked:
        return
    varying = [held[VARYING] for held in marked if VARYING in held]
    facts = frozenset(fact for v in varying for fact in v.facts) - ({DTYPE} if op is cast_op else set())
    if op is not where_op and any(map(_is_surely_a_tensor, inputs)):  # numbers and a tensor give a tensor
        facts -= {CLASS, MIXED}
    loop = next((v.loop for v in varying), None)
    several = [held[KIND] for held in marked if KIND in held and len(held[KIND].kinds - {NoneType}) > 1]
    kinds = several if _is_arithmetic(op, inputs) else []
    least = _least(op, inputs)
    if least is not None and kinds and _is_known(inputs, least):
        mark(outs[0], _widest(kinds, inputs, KINDS.index(least)), facts, loop)
        return
    for out in outs:
        kind = kinds[0].without_none() if len(kinds) == 1 and _stays(kinds[0], inputs, out) else None
        is_truth = out.dtype.is_bool and op is not where_op and not any(GraphTensor in held.kinds for held in kinds)
        unclear = {CLASS, MIXED} if kinds and kind is None and not is_truth else set()  # numbers compare to a bool
        mark(out, kind, facts - ({DTYPE} if out.dtype.is_bool else set()) | unclear, loop)


def _least(op: Any, inputs: Sequence[Any]) -> type | None:
    """The least class of a number that Python computes so; None where nobody knows before."""
    if op in (pow_op, NUMBER_OPS[pow_op]):
        return int if isinstance(inputs[1], int) and inputs[1] >= 0 else None
    return LEAST.get(op)


def _is_known(inputs: Sequence[Any], least: type) -> bool:
    """Whether the classes of all inputs are known, and Python computes with the numbers among them."""
    found = [_operand_kinds(value) for value in inputs]
    if not all(found) or any(CLASS in facts_of(value) for value in inputs):
        return False
    kinds = {least}.union(*found)
    return NoneType not in kinds


def _widest(several: Sequence[Kind], inputs: Sequence[Any], least: int) -> Kind | None:
    """The kind of what Python computes from numbers: the widest of their classes. None where it is one class."""
    places = [{KINDS.index(kind) for kind in held.kinds} for held in several]
    single = [kind for v in inputs if len(_operand_kinds(v)) == 1 for kind in _operand_kinds(v)]
    known = max([least, *map(KINDS.index, single)])
    classes = {KINDS[max(known, *chosen)] for chosen in product(*places)}
    if len(classes) == 1:
        return None
    code = reduce(maximum, [held.code for held in several])
    return Kind(code if known <= min(map(min, places)) else maximum(code, known), frozenset(classes))


def _is_arithmetic(op: Any, inputs: Sequence[Any]) -> bool:
    """Whether the op gives a number where all its inputs that may be numbers are."""
    return op in _OPERATORS and all(_operand_kinds(v) != {GraphTensor} for v in inputs)


def _operand_kinds(value: Any) -> frozenset[type]:
    """The classes that an operand may have: a variable that may be None elsewhere is not where it is computed with."""
    return kinds_of(value) - {NoneType} if isinstance(value, Variable) else kinds_of(value)


def _is_surely_a_tensor(value: Any) -> bool:
    """Whether it is a tensor in eager code on every path."""
    return _operand_kinds(value) == {GraphTensor} and CLASS not in facts_of(value)


def _stays(kind: Kind, inputs: Sequence[Any], out: Variable) -> bool:
    """Whether what is computed from a number or tensor, and from numbers, is a number of the same class or a tensor."""
    others = {k for v in inputs if v is not None for k in kinds_of(v)} - {GraphTensor, NoneType}
    made = type(sample(out))
    return kind.kinds - {NoneType} == {made, GraphTensor} and max(others, key=KINDS.index) is made

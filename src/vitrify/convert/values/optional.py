"""Values that are None on one path of a tensor's decision and a tensor or number on the other.

A Variable stands for both: its kind (`ir/varying.py`) says which it is. Who needs the value lets the program raise what
eager code raises for None, unless the path is one on which it is known not to be None.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any

from ...core.dtype import bool_
from ...core.errors import UnsettledError
from ...eager.host_ops import assert_op
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number
from ...ir.numbers import is_number
from ...ir.program import Block, Variable
from ...ir.varying import KIND, KINDS, Kind
from ...ops.compare import equal, logical_not
from .base import builder
from .deferred import Call, record
from .handlers import refuse_unless_decided

TELLS = "tells_not_none"
"""The attribute of a condition: kinds that are not None and flags that are set where it holds, and where it fails."""
MEANS = "means_"
"""The attribute of a condition that is the same as another, or its negation: that one, and whether it is the same."""


class MaybeNoneError(UnsettledError):
    """A value is used where only the program knows whether it is None."""


def optional_kind(value: Any) -> Kind | None:
    """The kind of a value that may be None here; None for all others."""
    kind: Kind | None = value.__dict__.get(KIND) if isinstance(value, Variable) else None
    if kind is None or NoneType not in kind.kinds or _is_known(kind.code, builder().block):
        return None
    return kind


def kinds_at(value: Any, kinds: frozenset[type], block: Block | None) -> frozenset[type]:
    """The classes `kinds` of a value, without None where it is known in the block not to be that."""
    kind = value.__dict__.get(KIND) if isinstance(value, Variable) else None
    return kinds - {NoneType} if kind is not None and _is_known(kind.code, block) else kinds


def _is_known(code: Variable, block: Block | None) -> bool:
    asserted = builder().asserted
    while block is not None and (block, code) not in asserted:
        block = block.parent
    return block is not None


def is_none(value: Any) -> Any:
    """`value is None` of a Variable: a bool, or a condition of the program."""
    kind = optional_kind(value)
    if kind is None:
        return False
    found = as_number(equal(kind.code, KINDS.index(NoneType)))
    tell(found, (frozenset(), frozenset({kind.code})))
    return found


def refuse_none(value: Any) -> None:
    """Raise MaybeNoneError for a value that may be None, where nothing can be made of None."""
    if optional_kind(value) is not None:
        raise MaybeNoneError(
            "a value that is None on one path of a tensor's decision is used where it may still be None",
            hint="ask `if value is not None` around its use, or start from a tensor (paddle.zeros)",
        )


def assert_not_none(value: Any, error: BaseException, unless: Any = False) -> None:
    """Let the program raise `error`, as eager code does, where the value is None; from here on it is not.

    unless: a condition of the program under which it does not matter.
    """
    kind = optional_kind(value)
    if kind is None:
        return
    flag = as_number(logical_not(equal(kind.code, KINDS.index(NoneType))))
    flag = flag if unless is False else as_number(flag | unless)
    is_known = refuse_unless_decided(error, flag)
    note_known([kind.code])
    if not is_known:
        record(assert_op, flag, error=Call(type(error), error.args))


# --- what conditions tell --------------------------------------------------------------------------------------------

Facts = tuple[frozenset[Any], frozenset[Any]]
_NOTHING: Facts = (frozenset(), frozenset())


def told_by(condition: Any) -> Facts:
    """What is known, not to be None or to be set, where a condition holds, and where it does not."""
    if not isinstance(condition, Variable):
        return _NOTHING
    root, is_same = _root(condition)
    holds, fails = root.__dict__.get(TELLS, _NOTHING)
    return (holds, fails) if is_same else (fails, holds)


def tell(condition: Any, facts: Facts) -> Any:
    """`condition`, from now on known to tell these, too."""
    if isinstance(condition, Variable) and (facts[0] or facts[1]):
        root, is_same = _root(condition)
        (holds, fails), told = facts if is_same else facts[::-1], root.__dict__.get(TELLS, _NOTHING)
        root.__dict__[TELLS] = (told[0] | holds, told[1] | fails)
    return condition


def means(condition: Any, other: Any, is_same: bool) -> Any:
    """`condition`, from now on known to hold where another one holds (`is_same`), or where that does not."""
    if isinstance(condition, Variable) and isinstance(other, Variable):
        root, is_same_there = _root(other)
        condition.__dict__[MEANS] = (root, is_same == is_same_there)
    return condition


def _root(condition: Variable) -> tuple[Variable, bool]:
    """The condition that this one repeats or negates: it, and whether they are the same."""
    held: Variable = builder().held(condition)  # it may have been changed in place since
    root: tuple[Variable, bool] = held.__dict__.get(MEANS, (held, True))
    return root


def decided(value: Any, pred: Any, holds: bool) -> Any:
    """`value` where the condition holds, or does not: what says nothing but that is True or False there."""
    are_variables = isinstance(value, Variable) and isinstance(pred, Variable)
    if not are_variables or not is_number(value) or value.dtype is not bool_:
        return value
    (root, is_same), (other, is_same_there) = _root(value), _root(pred)
    return (is_same == is_same_there) == holds if root is other else value


def note_known(codes: Iterable[Any]) -> None:
    """Note what is not None in the current block from here on."""
    build = current_builder()
    if build is not None:
        build.asserted.update((build.block, code) for code in codes)

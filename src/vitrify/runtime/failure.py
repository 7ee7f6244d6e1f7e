"""Turning a failed kernel into the error a user can act on: same class as eager, with op, metas and user frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import RAISED_BY_PROGRAM, VitrifyError, add_note, call_chain
from ..ir.attributes import blocks_of
from ..ir.program import Operator, Variable
from ..ops.failure import better_error, describe_inputs
from ..ops.fused import fused_op


class _Note(str):
    """What is attached to an exception of the user's, whose own attributes are left alone."""

    __slots__ = ()


def explain_failure(operator: Operator, arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> Exception:
    """The exception to raise for `err`: the meta rule's own error where it has one, else `err` with a note."""
    if _is_noted(err):
        return err  # inner blocks note first; outer ones stay quiet
    op, locs = operator.op, operator.locs
    if RAISED_BY_PROGRAM in vars(err):
        delattr(err, RAISED_BY_PROGRAM)
        return _noted(err, call_chain(locs, err.loc if isinstance(err, VitrifyError) else None))
    # What blocks are given was checked when they were recorded, and a rule knows nothing of lowered ones.
    found = err if blocks_of(operator.attrs) else better_error(op, arrays, attrs, err)
    if isinstance(found, VitrifyError):
        if found.loc is None and locs:
            found.loc = locs[0]
        return found
    return _noted(found, f"{_named(operator)} failed on ({_described(operator, arrays)})\n{call_chain(locs)}")


def _named(operator: Operator) -> str:
    """What the user knows an operator as; a group by what it computes."""
    if operator.op is not fused_op:
        return operator.op.name
    names = dict.fromkeys(inner.op.name for inner in operator.attrs["body"].ops)
    return f"{', '.join(names)}, computed together,"


def _described(operator: Operator, arrays: Sequence[Any]) -> str:
    """The metas of the inputs; of those that the operator has given up already, what is known without a run."""
    known = [v.meta if isinstance(v, Variable) else None for v in operator.inputs]
    return ", ".join(str(m) if a is None and m is not None else describe_inputs([a]) for a, m in zip(arrays, known))


def raise_if_other(found: Exception, err: Exception) -> None:
    """Raise `found` unless it is `err`, which the caller handles and raises on, with the cause that the user gave it.

    No frame may keep an exception whose traceback has the frame: that cycle would keep all arrays of a run until the
    garbage collector comes by. So pass it in an expression.
    """
    try:
        if found is not err:
            raise found from None
    finally:
        del found, err


def explain_transfer(operator: Operator | None, err: Exception) -> Exception:
    """The exception to raise for what a device raised when it was to run, or to copy something for, an operator."""
    if operator is None or isinstance(err, VitrifyError) or _is_noted(err):
        return err
    inputs = ", ".join(str(v.meta) if isinstance(v, Variable) else repr(v) for v in operator.inputs)
    return _noted(err, f"the device failed at {operator.op.name}({inputs})\n{call_chain(operator.locs)}")


def _noted(err: Exception, note: str) -> Exception:
    add_note(err, _Note(note))
    return err


def _is_noted(err: Exception) -> bool:
    return any(isinstance(note, _Note) for note in getattr(err, "__notes__", ()))

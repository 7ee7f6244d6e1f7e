"""Which cotangents of lists have no value for some items, and so which cotangents of items may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..core.meta import ListMeta
from ..ir.program import Block, Variable
from ..ops.lists import LEAVES_GAPS, list_fill_op, list_pick_op
from ..ops.missing import MAY_BE_MISSING, MAY_HAVE_GAPS, if_run_op, mark_missing


@contextmanager
def note_gaps(block: Block) -> Iterator[None]:
    """Mark what is recorded in `block` inside: lists of cotangents with gaps, and what is picked from them."""
    mark = len(block.ops)
    yield
    for operator in block.ops[mark:]:
        gappy = any(has_gaps(v) for v in operator.variables)
        if operator.op in LEAVES_GAPS or (gappy and operator.op is not list_fill_op):
            for var in operator.outputs:
                mark_gaps(var)
        if operator.op is if_run_op or (gappy and operator.op is list_pick_op):
            mark_missing(operator.outputs[0])


def has_gaps(value: Variable) -> bool:
    """Whether a cotangent is a list in which items may be None."""
    return isinstance(value.meta, ListMeta) and MAY_HAVE_GAPS in value.__dict__


def mark_gaps(var: Variable) -> None:
    """Note that items of `var` may be None, if it is a list."""
    if isinstance(var.meta, ListMeta):
        var.__dict__[MAY_HAVE_GAPS] = True


Marks = frozenset[str]


def marks_of(values: Iterable[Variable | None]) -> Marks:
    """What is not sure of a cotangent that is any of these: whether it is there, and all of its items."""
    known = (MAY_BE_MISSING, MAY_HAVE_GAPS)
    found = {mark for v in values for mark in known if v is None or mark in v.__dict__}
    return frozenset(found)


def put_marks(var: Variable, marks: Marks) -> Variable:
    """`var` with these marks."""
    for mark in marks:
        if mark == MAY_BE_MISSING or isinstance(var.meta, ListMeta):
            var.__dict__[mark] = True
    return var

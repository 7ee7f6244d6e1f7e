"""In-place changes that no tape sees, under no_grad or of what detach() gave: the tensor keeps its place on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import UnsupportedError
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..ops.hand_gradient import with_gradient_op
from .program import Variable

IN_PLACE = "in_place"
"""The attribute of a variable that some tensor means since it was changed in place."""
UNSEEN = "changed_unseen"
"""The attribute of a variable that some tensor means since an in-place change that no tape saw."""


def in_place_of(old: Variable, value: Variable) -> Variable:
    """`value`, written into the tensor that held `old`: what reads it gives its gradient to `old`, as it is.

    Eager code does so since the tensor's node stays the one of what made it. Raises UnsupportedError where the change
    gives the tensor another shape or dtype, which that node's gradient could not have, and for what the program is
    given: a leaf is written when the program has run, which may not be done while its gradient is still to come.
    """
    if _is_given(old):
        raise UnsupportedError(
            "an in-place change, under no_grad, of an argument or parameter that wants a gradient",
            hint="change it outside of the function, or a copy of it (x.detach().clone())",
        )
    if not are_alike(old.meta, value.meta):
        raise UnsupportedError(
            "an in-place change of shape or dtype, under no_grad, of a tensor that wants a gradient",
            hint="change it outside of the function, or a copy of it (x.detach().clone())",
        )
    with scoped(grad_enabled, True):
        (made,) = with_gradient_op(value, old, backward=_to_old, count=1)
    kept: Variable = made
    kept.__dict__[UNSEEN] = True
    return kept


def is_seen_change(var: Variable) -> bool:
    """Whether some tensor means `var` since an in-place change while gradients were on."""
    return IN_PLACE in var.__dict__ and UNSEEN not in var.__dict__


def _is_given(var: Variable) -> bool:
    """Whether no operator of its block made it, and the block is the program's outermost one."""
    made = (out for operator in var.block.ops for out in operator.outputs)
    return var.block is var.block.program.global_block() and all(out is not var for out in made)


def _to_old(cts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    return [cts[0]]


def are_alike(old: Any, new: Any) -> bool:
    """Whether metas have one dtype, and shapes that may be equal."""
    if not (isinstance(old, Meta) and isinstance(new, Meta)) or old.dtype != new.dtype:
        return False
    sizes = zip(old.shape, new.shape)
    return len(old.shape) == len(new.shape) and all(a == b or -1 in (a, b) for a, b in sizes)

"""In-place changes that no tape sees, under no_grad or of what detach() gave: the tensor keeps its place on it."""

from __future__ import annotations

from typing import Any

from ..core.errors import UnsupportedError
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..ops.softmax import straight_through_op
from .program import Variable

IN_PLACE = "in_place"
"""The attribute of a variable that some tensor means since it was changed in place."""
UNSEEN = "changed_unseen"
"""The attribute of a variable that some tensor means since an in-place change that no tape saw."""
LEAF = "is_leaf_still"
"""The attribute of a variable that a leaf means since an in-place change, on some path at least: no tape sees those."""


def in_place_of(old: Variable, value: Variable) -> Variable:
    """`value`, written into the tensor that held `old`: what reads it gives its gradient to `old`, as it is.

    Eager code does so since the tensor's node stays the one of what made it. Raises UnsupportedError where the change
    gives the tensor another shape or dtype, which that node's gradient could not have.
    """
    if not are_alike(old.meta, value.meta):
        raise UnsupportedError(
            "an in-place change of shape or dtype, under no_grad, of a tensor that wants a gradient",
            hint="change it outside of the function, or a copy of it (x.detach().clone())",
        )
    kept = version_of(old, value)
    kept.__dict__[UNSEEN] = True
    return kept


def version_of(old: Variable, value: Variable) -> Variable:
    """`value` as what a tensor holds now that held `old` before, and whose place on the tape is that of `old`."""
    with scoped(grad_enabled, True):
        made: Variable = straight_through_op(value, old)
    return made


def is_seen_change(var: Variable) -> bool:
    """Whether some tensor means `var` since an in-place change while gradients were on."""
    return IN_PLACE in var.__dict__ and not keeps_place(var)


def keeps_place(var: Variable) -> bool:
    """Whether the tensor that means `var`, since an in-place change, stays where it was on the tape."""
    return UNSEEN in var.__dict__ or LEAF in var.__dict__


def are_alike(old: Any, new: Any) -> bool:
    """Whether metas have one dtype, and shapes that may be equal."""
    if not (isinstance(old, Meta) and isinstance(new, Meta)) or old.dtype != new.dtype:
        return False
    sizes = zip(old.shape, new.shape)
    return len(old.shape) == len(new.shape) and all(a == b or -1 in (a, b) for a, b in sizes)

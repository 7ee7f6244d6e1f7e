"""Cotangents that may not come, and values that may not be there, when a program runs: None stands for them.

What a branch leaves for its backward is missing when the other branch ran. A cotangent is missing where nothing that
the result depends on used the value: on a path that was not taken, in a loop that did not run, of an item of a list.
That is no zero: a zero times an infinite derivative is not a number, while eager code never passes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import bool_
from ..core.meta import Meta
from .elementwise import add
from .like import zeros_like
from .registry import NoGradient, OpDef, define_op

MAY_BE_MISSING = "may_be_missing"
"""The attribute of a variable that may have no value (None) when the program runs."""
MAY_HAVE_GAPS = "may_have_gaps"
"""The attribute of a cotangent of a list in which items may be None."""


class OneItem(list[Any]):
    """A list that is zero (None) but for the item at `place`: added to another, it costs one addition."""

    __slots__ = ("place",)

    def __init__(self, length: int, place: int, item: Any) -> None:
        super().__init__([None] * length)
        self[place] = item
        self.place = place

    def added_to(self, other: list[Any]) -> list[Any]:
        """The sum of both."""
        out = list(other)
        out[self.place] = _kept_add(out[self.place], self[self.place])
        return out


def _kept_add(x: Any, y: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    if isinstance(y, OneItem):
        return y.added_to(x)
    if isinstance(x, OneItem):
        return x.added_to(y)
    return type(x)([_kept_add(a, b) for a, b in zip(x, y)]) if isinstance(x, (list, tuple)) else x + y


list_add_op = define_op(
    "list_add",
    amp="keep",
    kernel=lambda xp, x, y: _kept_add(x, y),
    native=lambda n, x, y: n.added(x, y),
    meta=lambda x, y: x,
    vjp={"x": lambda ct: ct, "y": lambda ct: ct},
    passes=True,
)


def kept_zeros(xp: Any, x: Any) -> Any:
    """Zeros like an array, or like each array of a list; None where it is missing."""
    if isinstance(x, (list, tuple)):
        items = [kept_zeros(xp, item) for item in x]
        return tuple(items) if isinstance(x, tuple) else items
    return None if x is None else xp.zeros_like(x)


list_zeros_op = define_op(
    "list_zeros_like",
    amp="keep",
    kernel=kept_zeros,
    native=lambda n, x: n.zeros_like(x),
    meta=lambda x: x,
    vjp=NoGradient("the result does not depend on the items' values"),
    shape_only=["x"],
)


is_given_op = define_op(
    "is_given",
    amp="keep",
    kernel=lambda xp, *cts: xp.asarray(any(ct is not None for ct in cts)),
    native=lambda n, *cts: n.is_given(cts),
    meta=lambda *cts: Meta((), bool_),
    vjp=NoGradient("the result says whether something is there"),
    passes=True,
)
absent_op = define_op(  # what no cotangent came to
    "absent",
    amp="keep",
    kernel=lambda xp, *, meta: None,
    native=lambda n, *, meta: None,
    meta=lambda *, meta: meta,
    vjp=NoGradient("there is nothing"),
    passes=True,
)
fill_missing_op = define_op(  # zeros like `like` where there is no cotangent
    "fill_missing",
    amp="keep",
    kernel=lambda xp, x, like: xp.zeros_like(like) if x is None else x,
    native=lambda n, x, like: n.filled(x, like),
    meta=lambda x, like: like,
    vjp={"x": lambda ct: ct},
    shape_only=["like"],
    passes=True,
)
list_present_op = define_op(  # a list of nothing where the cotangent of a list that a loop wrote does not come
    "list_present",
    amp="keep",
    kernel=lambda xp, x, steps: [None] * int(steps) if x is None else x,
    meta=lambda x, steps: x,
    vjp={"x": lambda ct: ct},
)
if_run_op: OpDef = define_op(  # x, but nothing where the loop made no step
    "if_run",
    amp="keep",
    kernel=lambda xp, x, steps: x if int(steps) else None,
    native=lambda n, x, steps: n.if_run(x, steps),
    meta=lambda x, steps: x,
    vjp={"x": lambda ct, *, steps: if_run_op(ct, steps)},
    passes=True,
)


# --- cotangents while they are recorded ------------------------------------------------------------------------------


def may_be_missing(value: Any) -> bool:
    """Whether a variable may have no value when the program runs."""
    return MAY_BE_MISSING in value.__dict__


def mark_missing(var: Any) -> Any:
    """`var`, noted as one that may have no value when the program runs."""
    var.__dict__[MAY_BE_MISSING] = True
    return var


def absent(meta: Any) -> Any:
    """A cotangent that does not come, of a value of this meta."""
    return mark_missing(absent_op(meta=meta))


def are_unsure(cts: Sequence[Any]) -> bool:
    """Whether there are cotangents, each of which may be missing."""
    given = [ct for ct in cts if ct is not None]
    return bool(given) and all(map(may_be_missing, given))


def add_cotangents(a: Any, b: Any, of: Any) -> Any:
    """a + b, two cotangents of `of`; item by item for lists that loops write and frames that functions keep."""
    missing = may_be_missing(a), may_be_missing(b)
    if isinstance(of.meta, Meta) and not may_be_missing(of) and not any(missing):
        return add(a, b)
    total = list_add_op(a, b)
    if MAY_HAVE_GAPS in a.__dict__ and MAY_HAVE_GAPS in b.__dict__:
        total.__dict__[MAY_HAVE_GAPS] = True
    return mark_missing(total) if all(missing) else total


def filled(ct: Any, like: Any) -> Any:
    """The cotangent of `like`, zeros where it does not come."""
    if ct is None:
        return zero_cotangent(like)
    return fill_missing_op(ct, like) if may_be_missing(ct) and isinstance(like.meta, Meta) else ct


def present_list(ct: Any, steps: Any) -> Any:
    """The cotangent of a list that a loop of `steps` iterations wrote, as a list in any case."""
    if not may_be_missing(ct):
        return ct
    found = list_present_op(ct, steps)
    found.__dict__[MAY_HAVE_GAPS] = True
    return found


def zero_cotangent(like: Any) -> Any:
    """Zeros in the shape of a tensor, or of each item of a list or frame."""
    is_plain = isinstance(like.meta, Meta) and not may_be_missing(like)
    return zeros_like(like) if is_plain else list_zeros_op(like)

"""Slopes that loops carry beside a loss: what a backward comes to through a loss of the iteration before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..convert.control.slopes import SlopesNeeded, Target
from ..core.errors import StaleBackwardError, UnsupportedError
from ..core.meta import Meta
from ..core.source import user_frames
from ..ir.program import Block, Variable, position
from ..ops.elementwise import multiply_op
from ..ops.like import cast
from ..ops.missing import MAY_BE_MISSING
from ..ops.shape import reshape
from .ended_blocks import has_run


def carried_backward(loc: Any = None) -> UnsupportedError:
    """The error of a backward to what another iteration, or the caller, computed."""
    frames = user_frames(1) if loc is None else (loc,)
    return UnsupportedError(
        "backward, in a loop or recursion that a tensor decides, through what it got from the iteration or call before",
        loc=next(iter(frames), None),
        hint="detach() what one hands to the next, or call backward() behind the loop",
    )


class Slopes:
    """What is known of the losses that loops carry: the gradients that one of them gives, for a cotangent of one."""

    def __init__(self) -> None:
        self._known: dict[Variable, Sequence[tuple[Variable, Variable]]] = {}
        self._freed: dict[Variable, list[Block]] = {}  # by backward in these blocks

    def note(self, head: Variable, slopes: Sequence[tuple[Variable, Variable]]) -> None:
        """Know the slopes of what a loop carries: for each variable that backward may come to, one."""
        self._known[head] = slopes

    def of(self, head: Variable, need: SlopesNeeded) -> Sequence[tuple[Variable, Variable]] | None:
        """Those of an input of a block; None where it is no loss that a loop carries.

        Raises SlopesNeeded where the loop does not carry them yet.
        """
        if head in self._known:
            return self._known[head]
        meta = head.meta
        if isinstance(meta, Meta) and all(size == 1 for size in meta.shape):
            raise need
        return None

    def pass_through(self, head: Variable, levels: Sequence[Block], retain_graph: bool) -> None:
        """Raise StaleBackwardError where an earlier backward freed the graph of what the loop carries."""
        blocks = self._freed.get(head, ())
        if any(block in levels for block in blocks):
            raise StaleBackwardError(
                "backward ran through what the iteration before has computed, and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        if any(has_run(block, levels) for block in blocks):
            raise carried_backward()
        if not retain_graph:
            self._freed.setdefault(head, []).append(levels[0])


def scaled(slope: Variable, ct: Variable) -> Variable:
    """What flows on from a loss of one element whose cotangent is `ct`."""
    if MAY_BE_MISSING in ct.__dict__:
        raise carried_backward()
    number = reshape(ct, []) if ct.shape else ct
    found: Variable = multiply_op(slope, number if number.dtype is slope.dtype else cast(number, slope.dtype))
    return found


def sure(found: Mapping[Variable, Variable], known: Iterable[tuple[Target, Variable]], need: SlopesNeeded) -> Any:
    """The slopes among cotangents, for each target. Raises UnsupportedError where one may not come."""
    slopes = {target: found[var] for target, var in known if var in found}
    if any(MAY_BE_MISSING in slope.__dict__ for slope in slopes.values()):
        raise need.reason
    held = [var for _, var in known]
    if need.wanted is None and any(position(held, var) < 0 for var in found):
        raise need.reason  # a leaf that other iterations know nothing of
    return slopes

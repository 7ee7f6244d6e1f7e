"""`stop_gradient` of a tensor where a path decides about it: a bool of the program, found when the trace ends.

Until then an operator stands in its place, which no run meets: what a loop carries that is being traced is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.dtype import bool_
from ...core.errors import InternalError, UnsupportedError
from ...core.meta import Meta
from ...eager.host_ops import host_value_op
from ...ir.graph_tensor import as_number
from ...ir.operator import Operator
from ...ir.program import Block, Variable
from .base import builder
from .deferred import Call, Input, record


@dataclass(frozen=True, eq=False)
class AskedFlag:
    """A question whether a tensor stops gradients, the operator that stands for the answer, and what asked for it."""

    tensor: Variable
    operator: Operator
    block: Block
    shown: str


def asked_flag(tensor: Variable, shown: str) -> Any:
    """Whether `tensor`, as it is held here, stops gradients: a bool of the program; `shown` is what asks."""
    build = builder()
    seen = build.block.resolve(tensor)
    call = Call(_unanswered, (Input(seen, False, True),))
    (found,) = record(host_value_op, call=call, attrs={"meta": Meta((), bool_)})
    build.asked.append(AskedFlag(seen, build.block.ops[-1], build.block, shown))
    return as_number(found)


def _unanswered(tensor: Any) -> bool:
    raise InternalError("a program asks whether a tensor stops gradients, and was not told")


def unknown_flag(asked: AskedFlag) -> UnsupportedError:
    """What is raised where nothing in the program tells the answer."""
    return UnsupportedError(
        f"{asked.shown} is read of a tensor, and nothing in the program tells whether a gradient comes to it",
        loc=next(iter(asked.operator.locs or ()), None),
        hint="keep tensors that want a gradient and others in lists of their own; don't ask of what a function gives "
        "that calls itself",
    )

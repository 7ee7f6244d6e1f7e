"""Tensors in sets, and under `hash`: found by which object they are, which a tensor may decide."""

from __future__ import annotations

from typing import Any

from ...core.meta import ListMeta
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number
from ...ir.program import Variable
from ..values.base import is_tensor
from ..values.foreign import ForkedError


def is_item(var: Variable) -> bool:
    """Whether it was read from a list of unknown length, which holds by value what may be any tensor."""
    makers = (op for op in var.block.ops if any(out is var for out in op.outputs))
    return any(isinstance(given.meta, ListMeta) for op in makers for given in op.variables)


def is_known_by_itself(value: Any) -> bool:
    """Whether it is a tensor that is found by which object it is: not a number of the program."""
    return is_tensor(value) and not is_number(value)


def check_hashed(value: Any) -> None:
    """Raise ForkedError where a tensor decides which tensor `value` is, or holds in a tuple: a hash is of one object.

    Tensors of the caller are taken for different ones, which each call is looked at for.
    """
    if isinstance(value, (tuple, frozenset)):
        for part in value:
            check_hashed(part)
    elif is_known_by_itself(value):
        _check_tensor(value)


def _check_tensor(tensor: Any) -> None:
    build = current_builder()
    if build is None:
        return
    var: Variable = build.held(tensor) if isinstance(tensor, Tensor) else tensor
    is_carried = var.block in build.loop_bodies and any(head is var for head in var.block.inputs)
    if var in build.aliases.forks or is_carried or is_item(var):
        raise undecided_object()
    if var not in build.hashed:
        build.apart |= {(var, other) for other in build.hashed}
        build.hashed.add(var)


def undecided_object() -> ForkedError:
    return ForkedError(
        "a tensor decided which tensor it is that is put into a set, or given to id() or hash()",
        hint="keep a list of the tensors, and ask with `is` (any(value is known for known in tensors))",
    )

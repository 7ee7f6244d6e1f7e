"""Attributes of a recorded operator: tensors in them become inputs, to which `Ref`s in the attributes refer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import ArgumentError
from ..core.meta import Ref
from ..ops.failure import need_integers, need_vector
from ..ops.registry import OpDef
from .attributes import SIMPLE
from .variable import Variable


def lift_attrs(
    op: OpDef, attrs: Mapping[str, Any], start: int, taken: Callable[[Any], Any], foreseen: Callable[[Any], Any]
) -> tuple[dict[str, Any], list[Any]]:
    """The attributes with `Ref`s for tensors, and the inputs that those refer to, the first of them input `start`.

    taken: gives the Variable of the program for a tensor. A vector of known length stands for as many integers, one
    without elements for none. foreseen: gives what a Variable holds in every run, for which it stands then, or None.
    Raises ArgumentError for an attribute that no tensor may give unless it is foreseen, and for other tensors.
    """
    refs: list[Any] = []

    def referred(var: Any) -> Ref:
        refs.append(var)
        return Ref(start + len(refs) - 1)

    def lifted(name: str, value: Any, is_item: bool = False) -> Any:
        if type(value) is tuple and SIMPLE.issuperset(map(type, value)):
            return value
        if isinstance(value, (list, tuple)):
            return value if hasattr(value, "_fields") else type(value)(lifted(name, v, True) for v in value)
        if isinstance(value, slice):
            return slice(lifted(name, value.start), lifted(name, value.stop), lifted(name, value.step))
        if not isinstance(value, Variable) and not hasattr(value, "_data"):
            return value
        if name not in op.dynamic:
            known = foreseen(taken(value))
            if known is not None:
                return known.item() if known.size == 1 else tuple(known.tolist())
            raise ArgumentError(f"{op.name}: {name} must be a Python value, got a tensor known only at run time")
        var = taken(value)
        need_integers(op, name, var.meta)
        known = foreseen(var)
        if var.ndim == 0 or var.shape == [1]:
            return referred(var) if known is None else int(known.item())
        need_vector(op, name, var.meta, is_item)
        if known is not None:
            return tuple(known.tolist())
        whole = referred(var).index if var.shape[0] else 0
        return tuple(Ref(whole, i) for i in range(var.shape[0]))

    return {k: v if type(v) in SIMPLE else lifted(k, v) for k, v in attrs.items()}, refs

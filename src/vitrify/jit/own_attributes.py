"""Attributes that an object which leaves a trace has on some paths only: the value, and the flag that tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..convert.state.places import AttrPlace, OwnPlace
from ..convert.values.base import MaybeUnset, builder
from ..convert.values.emit import is_asserted
from ..convert.values.maybe import set_flag
from ..ir.program import Variable

_WITH_NAMES = ("object", "derived", "error")


@dataclass(frozen=True, eq=False, slots=True)
class MaybeOwn:
    """Stands for an attribute that holds `value` where `flag`, a Variable, says so; the object has none elsewhere."""

    value: Any
    flag: Variable

    @contextmanager
    def set(self) -> Iterator[Any]:
        """Its value; inside, the flag is known to hold, so that the value may be used."""
        build = builder()
        known = build.block, self.flag
        build.asserted.add(known)
        try:
            yield self.value
        finally:
            build.asserted.discard(known)


def with_flags(owner: Any, node: Any) -> Any:
    """What `node_of` gave for `owner`, with a MaybeOwn for each attribute that a tensor decides about."""
    kind, children, extra = node
    if type(extra) is not tuple or extra[:1] not in [(what,) for what in _WITH_NAMES] or kind is not type(owner):
        return node
    names = extra[-1]
    first = len(children) - len(names)
    held = [_of_attribute(owner, name, value) for name, value in zip(names, children[first:])]
    return kind, [*children[:first], *held], extra


def _of_attribute(owner: Any, name: str, value: Any) -> Any:
    own = OwnPlace(owner, name)
    flag = own.get() if own.key in builder().owned else None
    if not isinstance(flag, Variable):
        flag = set_flag(value, AttrPlace(owner, name).label)
    if not isinstance(flag, Variable) or is_asserted(flag):
        return value
    return MaybeOwn(value.value if isinstance(value, MaybeUnset) else value, flag)

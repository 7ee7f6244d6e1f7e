"""Noting every change of a Program, so that what was made from it (a hash, lowered code) knows when it is stale.

Each Program has an `Epoch`; its lists and dicts are the classes below, which bump it with every change, and so do
Block, Variable and Program when one of their fields is set. An Operator does not know its program: what changes inside
one bumps `OPERATORS`, which all programs watch. Building appends operators and changes none, so that is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..core.epoch import Epoch

K = TypeVar("K")
V = TypeVar("V")

OPERATORS = Epoch()
"""Bumped when a field or an attribute of any operator is changed after it was made."""


class TrackedList(list[V]):
    """A list that bumps an epoch with every change; a copy of it is a plain list."""

    __slots__ = ("epoch",)

    def __init__(self, items: Iterable[V], epoch: Epoch) -> None:
        super().__init__(items)
        self.epoch = epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class TrackedDict(dict[K, V]):
    """A dict that bumps an epoch with every change; a copy of it is a plain dict."""

    __slots__ = ("epoch",)

    def __init__(self, items: Mapping[K, V], epoch: Epoch) -> None:
        super().__init__(items)
        self.epoch = epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    """`method`, with the epoch bumped when it is through: also when it stopped half-way, as a sort may."""

    def changing(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        finally:
            self.epoch.bump()

    changing.__name__ = method.__name__
    return changing


_CHANGING: dict[type, tuple[str, ...]] = {
    TrackedList: (
        "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse",
        "__setitem__", "__delitem__", "__iadd__", "__imul__",
    ),
    TrackedDict: ("pop", "popitem", "clear", "update", "setdefault", "__setitem__", "__delitem__", "__ior__"),
}  # fmt: skip
for _cls, _names in _CHANGING.items():
    for _name in _names:
        setattr(_cls, _name, _noting(getattr(_cls, _name)))

"""`GraphTuple`: what `tuple(values)` is where only the program knows how many values there are."""

from __future__ import annotations

from typing import Any, NoReturn

from ...core.pytree import OpenTuple
from ..values.user_errors import for_user
from .lists import GraphList, added, refuse
from .positions import must_have


class GraphTuple(OpenTuple):
    """A tuple of any length: a list that nobody else knows and nobody changes."""

    __slots__ = ()

    @classmethod
    def of(cls, values: tuple[Any, ...] | GraphTuple) -> GraphTuple:
        """The tuple as one of any length."""
        return cls(GraphList(values)) if isinstance(values, tuple) else values

    def truth(self) -> Any:
        """Whether it has items: a bool, or a 0-D tensor."""
        return self.values.truth()

    @for_user
    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            must_have(self.values.length(), key, "tuple index out of range")
        found = self.values[key]
        return GraphTuple(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (tuple, GraphTuple)):
            return NotImplemented
        return GraphTuple(added(self.values, GraphTuple.of(other).values))

    def __radd__(self, other: Any) -> Any:
        return GraphTuple(added(GraphList(other), self.values)) if isinstance(other, tuple) else NotImplemented

    def _refuse(self, *args: Any) -> NoReturn:
        refuse("a use as a tuple of Python")

    __len__ = __iter__ = __bool__ = __contains__ = __eq__ = __ne__ = __hash__ = __mul__ = __rmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __reversed__ = __repr__ = __str__ = __format__ = _refuse


GraphTuple.__name__ = "tuple"  # what messages of Python call it

"""A setting with one process-wide value and `with` blocks that override it for their own thread or task."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")


class Setting(Generic[T]):
    """A value that `set` changes and that `scope` overrides for the duration of a `with` block.

    Outside any scope `set` changes the process-wide value, as Paddle's `set_*` functions do. Inside a scope it
    changes the scope's value only, so whatever runs in a `with` block cannot leak into other threads or past its end.

    >>> width = Setting("width", 80)
    >>> with width.scope(40):
    ...     width.set(20)
    ...     width.get()
    20
    >>> width.get()
    80
    """

    __slots__ = ("_base", "_override", "touched")

    def __init__(self, name: str, value: T) -> None:
        self._base = value
        # Whether anyone ever gave it a value: hot paths ask that first, for a plain attribute is read much faster.
        self.touched = False
        # The override is boxed in a tuple, so that None is an ordinary value.
        self._override: ContextVar[tuple[T] | None] = ContextVar(name, default=None)

    def get(self) -> T:
        """Return the value in force here."""
        box = self._override.get()
        return self._base if box is None else box[0]

    def set(self, value: T) -> None:
        """Change the innermost scope's value, or the process-wide one outside any scope."""
        self.touched = True
        if self._override.get() is None:
            self._base = value
        else:
            self._override.set((value,))

    @contextmanager
    def scope(self, value: T) -> Iterator[T]:
        """Use `value` inside the block; what held before holds again after it, whatever happens."""
        self.touched = True
        token = self._override.set((value,))
        try:
            yield value
        finally:
            self._override.reset(token)

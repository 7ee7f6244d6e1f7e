"""A setting with one process-wide value and `with` blocks that override it for their own thread or task."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Watch:
    """Whether any of the settings that hot paths obey is on, in whatever thread: they read `on` and go on if it is not.

    It counts the settings that differ from their defaults and the scopes that are open. So it is off again when the
    last of them is, and what runs then costs what it cost before. A task that outlives the scope it was started in is
    no longer watched.
    """

    __slots__ = ("_holders", "_lock", "on")

    def __init__(self) -> None:
        self._holders = 0
        self._lock = Lock()
        self.on = False

    def hold(self, count: int) -> None:
        """Count so many more holders, or fewer."""
        with self._lock:
            self._holders += count
            self.on = self._holders > 0


WATCH = Watch()
"""Of all that looks at single operators: checks, profilers, switches of how programs run."""
MODES = Watch()
"""Of what compiled functions ask before each call: the place, the default dtype, whether they are compiled at all."""


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

    __slots__ = ("_base", "_default", "_override", "_watch")

    def __init__(self, name: str, value: T, watch: Watch | None = None) -> None:
        self._base = self._default = value
        # Hot paths ask it first: a plain attribute is read much faster than a ContextVar.
        self._watch = watch
        # The override is boxed in a tuple, so that None is an ordinary value.
        self._override: ContextVar[tuple[T] | None] = ContextVar(name, default=None)

    def get(self) -> T:
        """Return the value in force here."""
        box = self._override.get()
        return self._base if box is None else box[0]

    def set(self, value: T) -> None:
        """Change the innermost scope's value, or the process-wide one outside any scope."""
        if self._override.get() is None:
            if self._watch is not None:
                self._watch.hold((value != self._default) - (self._base != self._default))
            self._base = value
        else:
            self._override.set((value,))

    @contextmanager
    def scope(self, value: T) -> Iterator[T]:
        """Use `value` inside the block; what held before holds again after it, whatever happens."""
        token = self._override.set((value,))
        if self._watch is not None:
            self._watch.hold(1)
        try:
            yield value
        finally:
            if self._watch is not None:
                self._watch.hold(-1)
            self._override.reset(token)

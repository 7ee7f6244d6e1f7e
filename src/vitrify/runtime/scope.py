"""Scopes: a tree from names to buffers. Parameters live at the root, temporaries in local scopes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core.errors import ArgumentError


class ScopeVar:
    """One named buffer of a Scope; `get_tensor()` gives its array."""

    __slots__ = ("name", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None

    def get_tensor(self) -> Any:
        """The array, or None while nothing was stored."""
        return self.value

    def set(self, array: Any, place: Any = None) -> None:
        """Store `array`."""
        self.value = array


class Scope:
    """Names to buffers; a name not found here is looked up in the parent. Source: paddle.static.Scope."""

    def __init__(self, parent: Scope | None = None) -> None:
        self._vars: dict[str, ScopeVar] = {}
        self._parent = parent
        self._kids: list[Scope] = []

    def var(self, name: str) -> ScopeVar:
        """The variable of that name in this scope, created when missing."""
        found = self._vars.get(name)
        if found is None:
            found = self._vars[name] = ScopeVar(name)
        return found

    def find_var(self, name: str) -> ScopeVar | None:
        """The variable of that name here or in the nearest enclosing scope, or None."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._vars.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def value_of(self, name: str) -> Any:
        """The stored array; raises ArgumentError when the name has none."""
        found = self.find_var(name)
        if found is None or found.value is None:
            raise ArgumentError(
                f"variable {name!r} has no value in this scope",
                hint="run the startup program first: exe.run(paddle.static.default_startup_program())",
            )
        return found.value

    def new_scope(self) -> Scope:
        """A child scope, dropped by `drop_kids`."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forget all child scopes and what they hold."""
        self._kids.clear()

    def local_var_names(self) -> list[str]:
        """Names stored in this scope itself."""
        return list(self._vars)

    def erase(self, names: list[str]) -> None:
        """Forget these names, here only."""
        for name in names:
            self._vars.pop(name, None)


_ROOT = Scope()
_current: ContextVar[Scope] = ContextVar("current_scope", default=_ROOT)


def global_scope() -> Scope:
    """The scope that Executors use by default. Source: paddle.static.global_scope."""
    return _current.get()


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make `scope` the global scope inside the block. Source: paddle.static.scope_guard."""
    token = _current.set(scope)
    try:
        yield
    finally:
        _current.reset(token)

"""Scopes: a tree from names to buffers. Parameters live at the root, temporaries in local scopes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.epoch import Epoch
from ..core.errors import DTypeError, NoValueError
from ..core.suggest import did_you_mean
from ..ir.program import SCOPES
from .dense_tensor import DenseTensor


class ScopeVar:
    """One named variable of a Scope; `get_tensor()` gives what it holds."""

    __slots__ = ("name", "tensor")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tensor = DenseTensor()

    def get_tensor(self) -> DenseTensor:
        """The tensor, the same object every time; it has no value while nothing was stored."""
        return self.tensor

    def set(self, array: Any, place: Any = None) -> None:
        """Store a copy of `array`."""
        self.tensor.set(array, place)

    def __repr__(self) -> str:
        return f"<ScopeVar {self.name}: {self.tensor!r}>"


class Scope:
    """Names to buffers; a name not found here is looked up in the parent. Source: paddle.static.Scope.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> scope = paddle.static.Scope()
        >>> scope.var("w").get_tensor().set(np.zeros(2, "float32"), paddle.CPUPlace())
        >>> kid = scope.new_scope()
        >>> kid.find_var("w") is scope.find_var("w"), kid.local_var_names()
        (True, [])
    """

    __slots__ = ("__weakref__", "_kids", "_parent", "_vars", "epoch")

    def __init__(self, parent: Scope | None = None) -> None:
        self._vars: dict[str, ScopeVar] = {}
        self._parent = parent
        self._kids: list[Scope] = []
        # Bumped when a variable of the whole tree appears or goes, so that whoever looked names up looks again.
        self.epoch: Epoch = Epoch() if parent is None else parent.epoch

    def var(self, name: str) -> ScopeVar:
        """The variable of that name in this scope, created when missing."""
        found = self._vars.get(_checked(name))
        if found is None:
            found = self._vars.setdefault(name, ScopeVar(name))  # two threads may be here: one variable stays
            self.epoch.bump()
        return found

    def find_var(self, name: str) -> ScopeVar | None:
        """The variable of that name here or in the nearest enclosing scope, or None."""
        _checked(name)
        scope: Scope | None = self
        while scope is not None:
            found = scope._vars.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def value_of(self, name: str) -> Any:
        """The stored array; raises NoValueError when the name has none."""
        array = self.tensor_of(name).array
        if array is None:
            raise no_value(name, self)
        return array

    def tensor_of(self, name: str) -> DenseTensor:
        """The tensor of that name here or in an enclosing scope; raises NoValueError when there is none."""
        found = self.find_var(name)
        if found is None:
            raise no_value(name, self)
        return found.tensor

    def initialized(self) -> list[str]:
        """The names that have a value, here or in an enclosing scope."""
        named = [var for scope in self._chain() for var in list(scope._vars.values())]
        return [var.name for var in named if var.tensor.array is not None]

    def root(self) -> Scope:
        """The outermost scope, where programs put parameters that no scope has yet."""
        return list(self._chain())[-1]

    def _chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope._parent

    def new_scope(self) -> Scope:
        """A child scope, dropped by `drop_kids`."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kid(self, kid: Scope) -> None:
        """Forget one child scope and what it holds."""
        if kid in self._kids:
            self._kids.remove(kid)

    def drop_kids(self) -> None:
        """Forget all child scopes and what they hold."""
        self._kids.clear()

    def local_var_names(self) -> list[str]:
        """Names stored in this scope itself."""
        return list(self._vars)

    def size(self) -> int:
        """How many variables this scope itself has."""
        return len(self._vars)

    def erase(self, names: Iterable[str]) -> None:
        """Forget these names, here only; those that it does not have are passed over."""
        for name in [names] if isinstance(names, str) else names:
            self._vars.pop(name, None)
        self.epoch.bump()

    def __repr__(self) -> str:
        return f"<Scope: {len(self._vars)} variables, {len(self._kids)} kids>"


def no_value(name: str, scope: Scope | None = None) -> NoValueError:
    """The error for a variable that a program reads and that has no value."""
    hint = None if scope is None else did_you_mean(name, scope.initialized())
    return NoValueError(
        f"variable {name!r} has no value in this scope",
        hint=hint or "run the startup program first: exe.run(paddle.static.default_startup_program())",
    )


def read_value(name: str, scope: Scope | None = None) -> Any:
    """A copy of what a scope, by default the global one, holds under that name, as a NumPy array."""
    return np.array((global_scope() if scope is None else scope).tensor_of(name))


def write_value(name: str, value: Any, scope: Scope | None = None) -> None:
    """Let a scope, by default the global one, hold a copy of `value` under a name that has a value there."""
    scope = global_scope() if scope is None else scope
    scope.value_of(name)  # raises where it has none
    scope.tensor_of(name).set(value)


SCOPES.read = read_value
SCOPES.write = write_value


def _checked(name: str) -> str:
    if not isinstance(name, str):
        raise DTypeError(f"a variable of a scope has a name (str), but received {type(name).__name__}")
    return name


_ROOT = Scope()
_current: ContextVar[Scope] = ContextVar("current_scope", default=_ROOT)


def global_scope() -> Scope:
    """The scope that Executors use by default. Source: paddle.static.global_scope.

    Example:
        >>> import vitrify as paddle
        >>> paddle.static.global_scope().find_var("no such name") is None
        True
    """
    return _current.get()


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make `scope` the global scope inside the block, in this thread or task. Source: paddle.static.scope_guard.

    Raises DTypeError for anything but a Scope.

    Example:
        >>> import vitrify as paddle
        >>> scope = paddle.static.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     paddle.static.global_scope() is scope
        True
    """
    if not isinstance(scope, Scope):
        raise DTypeError(f"scope_guard takes a Scope, but received {type(scope).__name__}")
    token = _current.set(scope)
    try:
        yield
    finally:
        _current.reset(token)

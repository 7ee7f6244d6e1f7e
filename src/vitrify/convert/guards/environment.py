"""What converted code asks the process for by a name or a function: the answers guard its programs."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ...core.bound import bound_to, plain_attribute
from ...core.config import get_flags
from ..values.user_errors import for_user
from .nondeterministic import OWNERS, refusal

Watch = Callable[[Any, "partial[Any]", Any], None]
"""Is told of a function, a call of it that can be asked again, and what that gave."""
Note = Callable[[dict[str, Any], str], None]
"""Is told of a namespace, and of a name that is looked for there."""


class Environment:
    """Stands for `os.environ` in converted code, which may read variables by name and do nothing else with it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def get(self, key: Any, default: Any = None) -> Any:
        """`os.environ.get`, and `os.getenv`."""
        if not isinstance(key, str):
            self._refuse()
        ask = partial(os.getenv, key)
        found = ask()
        self._watch(os.getenv, ask, found)
        return default if found is None else found

    @for_user
    def __getitem__(self, key: Any) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *_: Any) -> NoReturn:
        raise refusal("os._Environ.__getitem__", OWNERS["os._Environ"])

    __setitem__ = __delitem__ = __iter__ = __len__ = __eq__ = __or__ = __ror__ = _refuse


class Named:
    """Stands for the variables of a module, or for the modules, in code that asks for one of them by its name."""

    def __init__(self, namespace: dict[str, Any], note: Note) -> None:
        self._namespace = namespace
        self._note = note

    def get(self, name: Any, default: Any = None) -> Any:
        """As of the dict."""
        self._note(self._namespace, name)
        return self._namespace.get(name, default)

    @for_user
    def __getitem__(self, name: Any) -> Any:
        self._note(self._namespace, name)
        return self._namespace[name]

    def __contains__(self, name: Any) -> bool:
        self._note(self._namespace, name)
        return name in self._namespace


def has_names(value: Any) -> bool:
    """Whether it is the dict of a module, or that of all modules."""
    if type(value) is not dict:
        return False
    return value is sys.modules or getattr(sys.modules.get(value.get("__name__", "")), "__dict__", None) is value


def watched(value: Any, watch: Watch) -> Any:
    """`value`; what stands for it if it is the environment."""
    return Environment(watch) if value is os.environ else value


def looked_in(value: Any, note: Note) -> Any:
    """`value`; what stands for it, where a name is looked for, if it is the dict of a module, or of all modules."""
    return Named(value, note) if has_names(value) else value


_ASKED_AGAIN = frozenset(
    {os.getcwd, os.getpid, os.path.exists, os.path.isfile, os.path.isdir, os.path.islink, os.path.getsize}
    | {os.path.getmtime, sys.getrecursionlimit, threading.get_ident, get_flags}
    | {logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel, ContextVar.get, np.get_printoptions}
)
"""Functions and methods whose answer depends on the process: each call asks them again."""


def reading(function: Any, watch: Watch, note: Note) -> Callable[..., Any] | None:
    """What reads something of the process in place of a function that does, noting that; None for others."""
    owner = bound_to(function)
    if function is os.getenv or (owner is os.environ and function.__name__ == "get"):
        return Environment(watch).get
    if has_names(owner) and function.__name__ == "get":
        return Named(owner, note).get
    method = getattr(type(owner), plain_attribute(function, "__name__", ""), None)
    if function in _ASKED_AGAIN:
        return partial(_asked, watch, function)
    return partial(_asked, watch, method, owner) if method in _ASKED_AGAIN else None


def _asked(watch: Watch, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    args = tuple([tuple(value) if isinstance(value, list) else value for value in args])
    ask = partial(function, *args, **kwargs)
    found = ask()
    watch(function, ask, found)
    return found

"""The variables of the environment that converted code reads by name: their values guard its programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from ...core.bound import bound_to
from ..values.user_errors import for_user
from .nondeterministic import OWNERS, refusal

Watch = Callable[[Any, "partial[Any]", Any], None]
"""Is told of a function, a call of it that can be asked again, and what that gave."""


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


def watched(value: Any, watch: Watch) -> Any:
    """`value`; what stands for it if it is the environment."""
    return Environment(watch) if value is os.environ else value


def reading(function: Any, watch: Watch) -> Callable[..., Any] | None:
    """What reads a variable of the environment in place of a function that does; None for others."""
    of_environment = bound_to(function) is os.environ and function.__name__ == "get"
    return Environment(watch).get if function is os.getenv or of_environment else None

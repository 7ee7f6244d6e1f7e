"""Which installed packages hold models: those that use this one. Their code is converted as a user's own files are.

A repository of models means the same whether it lies in a folder of the user's or was installed beside NumPy.
What tells it from a library such as NumPy is that one of its modules imports this package, be it by Paddle's name.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ...core.cache import BoundedCache

_OURS = "vitrify"
_FOLDERS = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


@dataclass(frozen=True)
class _Found:
    """Whether a package uses ours, and what was loaded when that was found: a later module of it may."""

    uses: bool
    loaded: int
    modules: frozenset[str]


_NONE = _Found(False, 0, frozenset())
_USES: BoundedCache[str, _Found] = BoundedCache("packages that use vitrify", 1024)


def is_in_model_package(filename: str) -> bool:
    """Whether the file belongs to an installed package that uses ours."""
    package = _package_of(filename)
    if package is None:
        return False
    found = _USES.get(package) or _NONE
    if not found.uses and found.loaded != len(sys.modules):
        found = _USES.put(package, _looked_through(package, found.modules))
    return found.uses


def _package_of(filename: str) -> str | None:
    for folder in _FOLDERS:
        _, is_there, inner = filename.rpartition(folder)
        if is_there:
            return inner.partition(os.sep)[0].removesuffix(".py")
    return None


def _looked_through(package: str, before: frozenset[str]) -> _Found:
    """What the modules of a package hold, those left out that were looked through before."""
    loaded, inner = dict(sys.modules), package + "."
    names = frozenset(name for name in loaded if name == package or name.startswith(inner))
    held = (getattr(loaded[name], "__dict__", {}) for name in names - before)
    return _Found(any(_is_ours(value) for part in held for value in list(part.values())), len(loaded), names)


def _is_ours(value: Any) -> bool:
    """Whether it is a module, class or function of this package; no code of the value's class runs."""
    cls = type(value)
    if issubclass(cls, ModuleType):
        name = vars(value).get("__name__")
    elif issubclass(cls, (type, FunctionType)):
        name = type.__getattribute__(value, "__dict__").get("__module__") if issubclass(cls, type) else value.__module__
    else:
        return False
    return isinstance(name, str) and name.partition(".")[0] == _OURS

"""What the state of classes and libraries had to say, which Python and C code ask unseen, guards programs as well.

Special methods are looked for in classes, which may get another one, or lose one, between two calls; libraries keep
settings.
"""

from __future__ import annotations

from functools import partial

from ...core.library_settings import SETTINGS
from ...ir.builder import Builder
from ..values.user_code import is_library
from .kinds import Unnamed
from .observe import Observer


def guard_unseen(observer: Observer, build: Builder) -> None:
    """Guard the special methods and settings that the code of a program asked for."""
    for cls, name in build.asked_of_classes:
        _guard_special(observer, cls, name)
    for name, value in build.settings.items():
        observer.cached_call(SETTINGS[name], partial(SETTINGS[name]), value)


def _guard_special(observer: Observer, cls: type, name: str) -> None:
    """What a class and the bases of the user's have under the name of a special method."""
    for base in cls.__mro__:
        is_constant, held = is_library(base), observer.classes.setdefault(base, base.__dict__)
        if name in held:
            if not is_constant:
                observer.held_by_class(base, name)
            return
        if not is_constant:
            observer.unnamed.setdefault(id(held), Unnamed(held)).names.add(name)

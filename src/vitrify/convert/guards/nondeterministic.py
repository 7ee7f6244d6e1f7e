"""Library functions that a program cannot stand for: what they return or do belongs to the moment of the call.

A converted function runs once and its program many times. A random number, the time or a file's content read while
converting would be repeated for ever, and a file written only once. So such calls are refused.
"""

from __future__ import annotations

import io
from collections.abc import Callable, MutableMapping
from types import BuiltinFunctionType
from typing import Any

from ...core.bound import bound_to, plain_attribute
from ...core.errors import UnsupportedError
from ...ir.builder import current_builder
from .unmerged import is_made, refused_by_path

_RANDOM = "draw with tensor operations (paddle.rand, paddle.randint, ...), or pass the number as an argument"
_TIME = "take the time outside and pass it as an argument"
_OUTSIDE = "do this outside, and pass what is needed as an argument"
_PRINTED = "put the `with` around the call, or print(..., file=...)"
_CACHE = ("asks or clears a cache that is used while the program is made", "do this outside")
_REST = ", or convert with full_graph=False, which runs this statement as Python at every call"

MODULES: dict[str, tuple[str, str]] = {
    "random": ("draws random numbers", _RANDOM),
    "secrets": ("draws random numbers", _RANDOM),
    "numpy.random": ("draws random numbers", _RANDOM),
    "uuid": ("draws random numbers", _OUTSIDE),
    "time": ("depends on the time of the call", _TIME),
    "subprocess": ("starts a process", _OUTSIDE),
    "socket": ("uses the network", _OUTSIDE),
    "urllib.request": ("uses the network", _OUTSIDE),
    "vitrify.core.rng": ("reads or sets the state of the random numbers", "do this outside"),
    "shutil": ("changes files", _OUTSIDE),
    "tempfile": ("makes files", _OUTSIDE),
}
"""Modules all of whose functions are refused: what they do, and the way out."""

FUNCTIONS: dict[str, tuple[str, str]] = {
    "builtins.input": ("reads from the terminal", _OUTSIDE),
    "builtins.open": ("opens a file", _OUTSIDE),
    "io.open": ("opens a file", _OUTSIDE),
    "_io.open": ("opens a file", _OUTSIDE),
    **{
        f"contextlib.{name}": ("says where to print while its block runs", _PRINTED)
        for name in ("redirect_stdout", "redirect_stderr")
    },
    "contextlib.chdir": ("changes the folder while its block runs", _OUTSIDE),
    **{
        f"{module}.{name}": ("changes the environment", _OUTSIDE)
        for module in ("os", "posix", "nt")
        for name in ("putenv", "unsetenv")
    },
    **{
        f"{module}.{name}": ("reads or changes files", _OUTSIDE)
        for module in ("os", "posix", "nt")
        for name in ("listdir", "scandir", "walk", "remove", "unlink", "mkdir", "makedirs", "rename", "rmdir", "stat")
    },
    **{f"{module}.urandom": ("draws random numbers", _RANDOM) for module in ("os", "posix", "nt")},
    **{f"{module}.system": ("starts a process", _OUTSIDE) for module in ("os", "posix", "nt")},
}

METHODS: dict[str, tuple[str, str]] = {
    **{f"datetime.{c}.{n}": ("depends on the time of the call", _TIME)
       for c, n in (("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"))},
    **{f"{module}.Path.{n}": ("reads or changes files", _OUTSIDE) for module in ("pathlib", "pathlib._local")
       for n in ("open", "read_text", "read_bytes", "write_text", "write_bytes", "exists", "mkdir", "unlink", "touch")},
    **{f"functools._lru_cache_wrapper.{n}": _CACHE for n in ("cache_clear", "cache_info")},
}  # fmt: skip

OWNERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("random.Random", "numpy.random.mtrand.RandomState", "numpy.random._generator.Generator"), MODULES["random"]
    ),
    "_io._TextIOBase": ("reads or writes a file", _OUTSIDE),
    "_io._BufferedIOBase": ("reads or writes a file", _OUTSIDE),
    "vitrify.core.rng.Generator": MODULES["vitrify.core.rng"],
    "os._Environ": ("reads the environment", _OUTSIDE),
    **dict.fromkeys(
        ("queue.Queue", "_queue.SimpleQueue", "threading.Thread", "threading.Event"),
        ("belongs to several threads", _OUTSIDE),
    ),
}
"""Classes all of whose methods are refused."""

_LATER = frozenset({"write", "writelines", "flush"})
"""Methods of a buffer of text from outside that each run calls."""
_HARMLESS = frozenset({"time.struct_time", "time.strptime", "uuid.UUID"})


def refused(function: Any) -> Callable[..., Any] | None:
    """What raises UnsupportedError in place of the function, for those of the tables; None for all others."""
    if current_builder() is None or plain_attribute(function, "__qualname__") is None:
        return None
    owner = bound_to(function)
    if isinstance(owner, io.StringIO) and function.__name__ in _LATER and not is_made(owner):
        return None
    by_path = refused_by_path(owner, function)
    if by_path is not None or is_made(owner):
        return by_path
    module = plain_attribute(function, "__module__") or ""
    name = plain_attribute(function, "__qualname__", function.__class__.__name__)
    if owner is not None and not isinstance(owner, type):
        return _refusal_of_method(owner, function)
    full = f"{module}.{name}"
    if isinstance(owner, type):
        full = f"{owner.__module__}.{owner.__qualname__}.{function.__name__}"
    reason = FUNCTIONS.get(full) or METHODS.get(full) or _of_module(module, full)
    return None if reason is None else _refusal(full, reason)


def _refusal_of_method(owner: Any, function: Any) -> Callable[..., Any] | None:
    for base in type(owner).__mro__:
        cls = f"{base.__module__}.{base.__qualname__}"
        found = OWNERS.get(cls) or METHODS.get(f"{cls}.{function.__name__}")
        if found is not None and not function.__name__.startswith("_"):
            return _refusal(f"{cls}.{function.__name__}", found)
    # Functions of C modules are bound to their module: `time.time.__self__` is `time`.
    name = plain_attribute(owner, "__name__")
    if isinstance(name, str) and isinstance(function, BuiltinFunctionType):
        full = f"{name}.{function.__name__}"
        found = FUNCTIONS.get(full) or _of_module(name, full)
        return None if found is None else _refusal(full, found)
    return None


def refuse_items(owner: Any) -> None:
    """Raise UnsupportedError for `owner[key]`, where what it gives belongs to the moment."""
    if current_builder() is None or not isinstance(owner, MutableMapping) or isinstance(owner, dict):
        return
    for base in type(owner).__mro__:
        found = OWNERS.get(f"{base.__module__}.{base.__qualname__}")
        if found is not None:
            _refusal(f"{base.__module__}.{base.__qualname__}.__getitem__", found)()


def _of_module(module: str, full: str) -> tuple[str, str] | None:
    if full in _HARMLESS:
        return None
    return next((MODULES[m] for m in MODULES if module == m or (m == "numpy.random" and module.startswith(m))), None)


def _refusal(name: str, reason: tuple[str, str]) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise refusal(name, reason)

    return refuse


def refusal(name: str, reason: tuple[str, str]) -> UnsupportedError:
    """The error about a call, with a reason of the tables."""
    return UnsupportedError(
        f"{name}() {reason[0]}; a program would repeat what it gave when the function was converted",
        hint=reason[1] + _REST,
    )

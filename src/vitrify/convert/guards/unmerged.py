"""Changes of Python's and NumPy's own objects that nothing undoes: byte arrays, buffers of text, NumPy arrays.

Both paths of an `if` that a tensor decides are traced, and a loop's body before it is known whether it runs. What they
change in lists, dicts, sets and objects of the user's classes is undone behind each and merged. These objects would
stay as all paths together left them. So a change is refused there, unless the object was made on the same path.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from ...core.bound import plain_attribute
from ...eager.layer import Layer
from ...ir.builder import current_builder
from ..state.journal import is_inside
from .array_sites import ArraySiteError, here

_SEQUENCE = frozenset(
    {"append", "extend", "insert", "pop", "remove", "reverse", "clear", "frombytes", "fromlist", "byteswap"}
)
_BUFFER = frozenset({"write", "writelines", "truncate", "seek", "read", "readline", "readlines", "close"})
_LAYERS = frozenset({"append", "extend", "insert", "pop", "update", "clear"})
_CHANGING: dict[str, frozenset[str]] = {
    "builtins.bytearray": _SEQUENCE,
    "array.array": _SEQUENCE,
    "_io.StringIO": _BUFFER,
    "_io.BytesIO": _BUFFER,
    "_csv.writer": frozenset({"writerow", "writerows"}),
    "contextlib.ExitStack": frozenset({"callback", "push", "enter_context", "pop_all", "close"}),
    **{
        f"vitrify.nn.layer.container.{name}": _LAYERS
        for name in ("LayerList", "Sequential", "LayerDict", "ParameterList", "ParameterDict")
    },
    "numpy.ndarray": frozenset({"fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort"}),
}
"""By class, and for those derived from it: the methods that change an object."""
_GIVEN = (bytearray, array, Layer)
"""What functions are given as it is: arrays of NumPy are tensors there, and buffers of text are written by each run.

Which Layers and parameters a program has is known before it runs.
"""
_WRITES_TO_FIRST = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)


def maker(cls: type) -> Callable[..., Any] | None:
    """`cls`, if it is of the table itself: its instances are known to be made by the trace; None for all others."""
    return partial(made, cls) if _name(cls) in _CHANGING else None


def made(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a library's function gives; if it is an object of the table, the trace is known to have made it."""
    value, builder = function(*args, **kwargs), current_builder()
    if builder is not None and _methods_of(type(value)) is not None:
        builder.made.note_opaque(value, builder.block, here() if isinstance(value, np.ndarray) else None)
    return value


def holds_others(value: Any) -> bool:
    """Whether it is an object of the table that calls or writes to other objects: a copy of it would do so, too."""
    return isinstance(value, ExitStack) or _name(type(value)) == "_csv.writer"


def is_made(value: Any) -> bool:
    """Whether the trace made an object of the table."""
    builder = current_builder()
    return builder is not None and builder.made.opaque_block_of(value) is not None


def refused_by_path(owner: Any, function: Any) -> Callable[..., Any] | None:
    """What raises UnsupportedError in place of a method that changes what another path sees; None for all others."""
    name = plain_attribute(function, "__name__")
    if name in (_methods_of(type(owner)) or ()) and _is_shared(owner):
        return partial(_refuse, f"{type(owner).__name__}.{name}()", owner)
    return None


def refuse_targets(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise UnsupportedError for a NumPy function that writes to an array which another path sees."""
    if isinstance(kwargs.get("out"), np.ndarray):
        refuse_change(kwargs["out"], f"{function.__name__}(out=)")
    elif args and isinstance(args[0], np.ndarray) and any(function is f for f in _WRITES_TO_FIRST):
        refuse_change(args[0], f"{function.__name__}()")


def refuse_change(owner: Any, what: str) -> None:
    """Raise UnsupportedError if `owner` is an object of the table that another path sees, too."""
    if _methods_of(type(owner)) is not None and _is_shared(owner):
        _refuse(what, owner)


def _methods_of(cls: type) -> frozenset[str] | None:
    found = (_CHANGING.get(_name(base)) for base in cls.__mro__)
    return next((methods for methods in found if methods is not None), None)


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_shared(owner: Any) -> bool:
    """Whether others see a change made here: those outside of a region, or the caller who made the object."""
    builder = current_builder()
    if builder is None:
        return False
    if isinstance(owner, np.ndarray) and any(np.may_share_memory(owner, held) for held in builder.merged_arrays):
        return True
    block = builder.made.opaque_block_of(owner)
    if builder.block.parent is None:
        return block is None and (isinstance(owner, _GIVEN) or holds_others(owner))
    return not is_inside(block, builder.block)


def _refuse(what: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    raise ArraySiteError(
        f"{what} changes an object in a way that a program can neither undo, where a tensor decides whether it runs, "
        "nor repeat for an object of the caller",
        hint="collect what is to be changed in a list and do it behind the `if` or loop or outside, or convert with "
        "full_graph=False, which runs this statement as Python at every call",
    ).of(owner)

"""What kernels give: arrays, lists of them, or None. Copies of these, and arrays that are a kernel's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def copied(value: Any) -> tuple[Any]:
    """A copy of an array, of each array in a list, or what is no array itself; as the one output of a kernel."""
    return (_copy(value),)


def _copy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value.copy() if hasattr(value, "dtype") else value


def owned(results: Iterable[Any], inputs: Sequence[Any], share: Callable[[Any, Any], Any]) -> list[Any]:
    """The results of a kernel, each in memory of its own: one that is an input, or a part of one, is copied.

    share: `share(a, b)` says whether two arrays may have memory in common.
    """
    return [result.copy() if _is_part(result, inputs, share) else result for result in results]


def _is_part(result: Any, inputs: Sequence[Any], share: Callable[[Any, Any], Any]) -> bool:
    arrays = [a for a in inputs if a.__class__ is result.__class__ and hasattr(a, "dtype")]
    if any(result is a for a in arrays):
        return True
    return getattr(result, "base", None) is not None and any(share(result, a) for a in arrays)

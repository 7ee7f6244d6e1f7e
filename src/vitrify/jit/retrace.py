"""Saying why a function is traced again and again: which argument, or which other value, keeps changing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .key import CacheKey, nearest
from .partial_program import PartialProgramLayer

Entry = tuple[CacheKey, PartialProgramLayer]


class RetraceWarning(UserWarning):
    """A function has so many programs that the oldest are forgotten, or that it runs as Python."""


class NoSourceWarning(UserWarning):
    """A function without source text runs eagerly."""


def what_varies(entries: Sequence[Entry], names: Sequence[str | None]) -> str:
    """What tells the newest program from the one most like it. names: of the leaves of its arguments."""
    key, program = entries[-1]
    others = [other for other, _ in entries[:-1]]
    found = nearest(key, others)
    if found is None:
        return "its arguments vary"
    other, fields = found
    tensors = [n for n, is_tensor in zip(names, program.concrete.tensor_leaves) if is_tensor]
    values = [n for n, is_tensor in zip(names, program.concrete.tensor_leaves) if not is_tensor]
    said = [
        *_differing("argument", values, key.values, other.values, _value),
        *_differing("the shape or dtype of argument", tensors, key.specs, other.specs, lambda spec: str(spec.meta)),
    ]
    if said:
        return "; ".join(said)
    if fields:
        return f"{', '.join(fields)} change"
    previous = next(p for k, p in reversed(entries[:-1]) if k == other)
    guards = previous.concrete.guards
    changed = guards.failing() if guards else ()
    return "; ".join(f"{guard.source.label} changes" for guard in changed) or "what its Layers hold changes"


def _value(entry: tuple[type, Any]) -> str:
    return repr(entry[1])[:40]


def _differing(what: str, names: Sequence[str | None], new: Sequence[Any], old: Sequence[Any], show: Any) -> list[str]:
    return [f"{what} {name!r} is now {show(a)}, and was {show(b)}" for name, a, b in zip(names, new, old) if a != b]

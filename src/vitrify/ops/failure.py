"""What went wrong in a kernel, said by the op's meta rule (shared by eager and the runtime)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.dtype import from_np
from ..core.errors import VitrifyError
from ..core.meta import Meta
from .registry import OpDef


def metas_of(arrays: Sequence[Any]) -> list[Any]:
    """The Metas of arrays; scalars, None and lists as they are."""
    return [Meta(a.shape, from_np(a.dtype)) if hasattr(a, "dtype") else a for a in arrays]


def describe_inputs(arrays: Sequence[Any]) -> str:
    """The inputs' metas as text."""
    return ", ".join(str(m) if isinstance(m, Meta) else repr(m)[:40] for m in metas_of(arrays))


def better_error(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> Exception:
    """The error that the meta rule raises on these inputs, or `err` itself."""
    if isinstance(err, VitrifyError):
        return err
    try:
        op.meta(*metas_of(arrays), **attrs)
    except VitrifyError as better:
        better.__cause__ = None
        better.__suppress_context__ = True
        return better
    return err

"""How much arithmetic an op takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import VitrifyError
from ..core.meta import Meta
from .registry import OpDef


def arithmetic(op: OpDef, metas: Sequence[Any], attrs: Mapping[str, Any]) -> float:
    """The operations that an op with a cost rule takes on inputs of these metas; 0 where nothing is known."""
    if op.work is None or not all(m is None or isinstance(m, Meta) for m in metas):
        return 0.0
    try:
        return op.work(*metas, **attrs)
    except VitrifyError:  # sizes put in for unknown ones need not fit each other
        return 0.0

"""How much arithmetic an op takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import VitrifyError
from ..core.meta import Meta, broadcast_shapes, numel
from .expression_size import count_primitives
from .registry import OpDef

_WINDOWS_MS = 3e-7


def arithmetic(op: OpDef, metas: Sequence[Any], attrs: Mapping[str, Any]) -> float:
    """The operations that an op with a cost rule takes on inputs of these metas; 0 where nothing is known."""
    if op.work is None or not all(m is None or isinstance(m, Meta) for m in metas):
        return 0.0
    try:
        return op.work(*metas, **attrs)
    except VitrifyError:  # sizes put in for unknown ones need not fit each other
        return 0.0


def windows_ms(op: OpDef, metas: Sequence[Any]) -> float:
    """What NumPy's kernel of a convolution takes in milliseconds beside its arithmetic, given the metas of its operands
    and results: it goes over whole arrays for each place of the window. 0 for other ops.
    """
    shapes = [m.shape for m in metas if isinstance(m, Meta) and m.ndim > 2]
    if not op.native_windows or not shapes:
        return 0.0
    return _WINDOWS_MS * min(numel(shape[2:]) for shape in shapes) * max(map(numel, shapes))


def operations(op: OpDef, metas: Sequence[Any], attrs: Mapping[str, Any]) -> float:
    """The arithmetic of an op, small ops included.

    Of an elementwise one it is the steps of its expression for each result, of a reduction one step for each element.
    Moving data is none; 0 where nothing is known, too.
    """
    if op.work is not None:
        return arithmetic(op, metas, attrs)
    known = [m for m in metas if isinstance(m, Meta)]
    if not known or len(known) < len(metas) or not any(m.dtype.is_inexact for m in known):
        return 0.0
    if op.scalar is not None:
        shape = broadcast_shapes(op.name, [m.shape for m in known], [str(i) for i in range(len(known))])
        return float(numel(shape) * count_primitives(op.scalar, len(known), attrs))
    return float(numel(known[0].shape)) if op.combiner is not None else 0.0

"""Paddle's forms of what depends on sizes or numbers that only the run knows, and of what its operators take so."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, bool_, float64, int64
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value
from .forms import divided


@FORMS("eye")
def eye(g: Emitter, *, num_rows: Any, num_columns: Any, dtype: DType) -> Value:
    """eye; whether numbers of rows and columns are equal, where only the run knows how many there are."""
    if not isinstance(num_rows, Value) and not isinstance(num_columns, Value):
        return g.op("eye", num_rows, num_columns, meta=g.metas[0], dtype=dtype)
    rows, columns = (counted(g, count) for count in (num_rows, num_columns))
    same = g.op("equal", g.unsqueeze(rows, [1]), columns, meta=Meta((rows.shape[0], columns.shape[0]), bool_))
    return g.cast(same, dtype)


def counted(g: Emitter, count: Any) -> Value:
    """0, 1, 2 and so on, as int64."""
    size = UNKNOWN if isinstance(count, Value) else int(count)
    end = (
        g.cast(g.reshape(count, []) if count.ndim else count, int64)
        if isinstance(count, Value)
        else g.full(count, int64)
    )
    return g.op("arange", g.full(0, int64), end, g.full(1, int64), meta=Meta((size,), int64), dtype=int64)


@FORMS("linspace")
def linspace(g: Emitter, *, start: Any, stop: Any, num: Any, base: Any, dtype: DType) -> Value:
    """start + i * (stop - start) / (num - 1), in double precision; of one number the start."""
    places = g.cast(counted(g, num), float64)
    first, last = (_scalar(g, v) for v in (start, stop))
    gaps = g.op("maximum", g.op("scale", _scalar(g, num), 1.0, bias=-1.0, bias_after_scale=True), g.full(1.0, float64))
    step = divided(g, g.op("subtract", last, first), gaps, Meta((), float64))
    found = g.op("add", g.op("multiply", places, step, meta=places.meta), first, meta=places.meta)
    if base is not None:
        found = g.op("elementwise_pow", _scalar(g, base), found, meta=found.meta)
    return g.cast(found, dtype)


def _scalar(g: Emitter, value: Any) -> Value:
    if not isinstance(value, Value):
        return g.full(value, float64)
    return g.cast(g.reshape(value, []) if value.ndim else value, float64)


@FORMS("reshape_like")
def reshape_like(g: Emitter, x: Value, y: Value) -> Value:
    """reshape to the shape of y."""
    return g.reshape(x, list(y.shape) if UNKNOWN not in y.shape else g.shape(y), g.metas[0])


@FORMS("equal_all")
def equal_all(g: Emitter, x: Value, y: Value) -> Value:
    """equal_all."""
    if UNKNOWN not in (*x.shape, *y.shape) and x.shape != y.shape:
        return g.full(False, bool_)
    return g.op("equal_all", x, g.cast(y, x.dtype), meta=Meta((), bool_))


@FORMS("logical_right_shift")
def logical_right_shift(g: Emitter, x: Value, y: Value) -> Value:
    """bitwise_right_shift, into which zeros come."""
    out = g.metas[0]
    return g.op("bitwise_right_shift", g.cast(x, out.dtype), g.cast(y, out.dtype), meta=out, is_arithmetic=False)

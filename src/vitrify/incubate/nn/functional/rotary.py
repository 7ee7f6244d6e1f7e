"""Rotary position embedding."""

from __future__ import annotations

from typing import Any

from ....core.errors import ShapeError
from ....ops.creation import arange
from ....ops.gather import gather
from ....ops.join import concat, stack
from ....ops.like import cast
from ....ops.shape import flatten, reshape, unsqueeze
from ....ops.sizes import size_of
from ....ops.split import chunk
from ....ops.trig import cos as cosine
from ....ops.trig import sin as sine


def fused_rotary_position_embedding(
    q: Any, k: Any = None, v: Any = None, sin: Any = None, cos: Any = None, position_ids: Any = None,
    use_neox_rotary_style: bool = True, time_major: bool = False, rotary_emb_base: float = 10000.0,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """q, k and v with pairs of their numbers turned by angles that grow with the position; None stays None.

    q, k, v: [batch, steps, heads, size] (or [steps, batch, heads, size] if time_major), size even. sin, cos: [n, size]
    or [1, n, 1, size], else position / base ** (2i / size); position_ids: [batch, steps], the rows of these to take. A
    pair is two adjacent numbers, or, if not use_neox_rotary_style, numbers at the same place of the two halves.
    Raises ShapeError for an odd size. Source: Su et al., "RoFormer" (2021);
    paddle.incubate.nn.functional.fused_rotary_position_embedding.

    Example:
        >>> import vitrify as paddle
        >>> q = paddle.ones([1, 2, 1, 2])
        >>> out, _, _ = paddle.incubate.nn.functional.fused_rotary_position_embedding(q)
        >>> [round(n, 4) for n in out[0, 1, 0].tolist()]
        [-0.3012, 1.3818]
    """
    size = q.shape[-1]
    if q.ndim != 4 or size % 2:
        raise ShapeError(
            f"fused_rotary_position_embedding: q has shape {list(q.shape)}, expected 4, the last of even size"
        )
    steps = size_of(q, 0 if time_major else 1)
    if sin is None or cos is None:
        angles = _angles(steps if position_ids is None else position_ids.max() + 1, size, rotary_emb_base)
        angles = _each_twice(angles) if use_neox_rotary_style else concat([angles, angles], -1)
        sin, cos = sine(angles), cosine(angles)
    tables = [_rows(table, size, steps, position_ids, time_major, q.dtype) for table in (sin, cos)]
    turn = _turned_pairs if use_neox_rotary_style else _turned_halves
    q, k, v = (None if x is None else x * tables[1] + turn(x) * tables[0] for x in (q, k, v))
    return q, k, v


def _angles(steps: Any, size: int, base: float) -> Any:
    """[steps, size / 2]."""
    rates = float(base) ** (arange(0, size, 2, dtype="float32") / -size)
    return unsqueeze(cast(arange(steps), "float32"), 1) * rates


def _each_twice(x: Any) -> Any:
    return flatten(stack([x, x], -1), -2)


def _rows(table: Any, size: int, steps: Any, position_ids: Any, time_major: bool, dtype: Any) -> Any:
    """The sines or cosines of each step, in a shape that meets q's."""
    flat = reshape(table, [-1, size])
    if position_ids is None:
        rows = unsqueeze(flat[:steps], 0)
    else:
        rows = gather(flat, flatten(position_ids)).reshape([-1, size_of(position_ids, 1), size])
    rows = unsqueeze(cast(rows, dtype), 2)
    return rows.transpose([1, 0, 2, 3]) if time_major else rows


def _turned_pairs(x: Any) -> Any:
    """(a, b) -> (-b, a) of adjacent numbers."""
    return flatten(stack([-x[..., 1::2], x[..., 0::2]], -1), -2)


def _turned_halves(x: Any) -> Any:
    """(a, b) -> (-b, a) of numbers of the two halves."""
    first, second = chunk(x, 2, -1)
    return concat([-second, first], -1)

"""What an Executor puts around a program: where values enter it and leave it."""

from __future__ import annotations

from typing import Any

from .registry import NoGradient, define_op


def _copied(xp: Any, value: Any) -> Any:
    """A copy of an array, or of each array in a list."""
    return [_copied(xp, item) for item in value] if isinstance(value, list) else xp.array(value)


# Brings the array that column `col` of the call was fed with to the place of the program. On the CPU it is that array
# itself: nothing may write into it.
feed_op = define_op(
    "feed",
    kernel=lambda xp, x, *, col: xp.asarray(x),
    on_numpy=lambda x, *, col: x,
    meta=lambda x, *, col: x,
    vjp=NoGradient("values enter a program here"),
    view=True,
)
# Copies a value out of the program: what the caller does to it changes neither parameters nor what was fed, and later
# runs do not change it.
fetch_op = define_op(
    "fetch",
    kernel=lambda xp, x, *, col: _copied(xp, x),
    meta=lambda x, *, col: x,
    vjp=NoGradient("values leave a program here"),
)

"""The check that `FLAGS_check_nan_inf` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.errors import NotFiniteError
from ..core.meta import Meta
from .failure import metas_of


def check_finite(op: str, results: Iterable[Any], variables: Sequence[str] = ()) -> None:
    """Raise NotFiniteError, naming the op and how many there are, if a floating result has a NaN or an infinity.

    variables: what the results are called in a program.
    """
    for position, array in enumerate(results):
        meta = metas_of([array])[0]
        if not isinstance(meta, Meta) or not meta.dtype.is_inexact:
            continue
        wide = array.astype("float32") if array.dtype.kind == "V" else array
        # One pass in the common case: a finite sum has finite summands only.
        if abs(wide.sum(dtype="complex128" if meta.dtype.is_complex else "float64")) < float("inf"):
            continue
        nans, infinities = int((wide != wide).sum()), int((abs(wide) == float("inf")).sum())
        if nans or infinities:
            named = f"; in the program it is %{variables[position]}" if variables else ""
            raise NotFiniteError(
                f"{op}: output {position} ({meta}) has {nans} NaN and {infinities} Inf values{named}",
                hint="FLAGS_check_nan_inf asks to stop here; paddle.set_flags({'FLAGS_check_nan_inf': False}) goes on",
            )

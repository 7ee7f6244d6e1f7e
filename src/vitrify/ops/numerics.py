"""What the numbers of a tensor are like, and `check_numerics`, which says it where they are bad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtype import DType, float32, from_np, int64
from ..core.errors import DTypeError, NotFiniteError
from ..core.meta import Meta
from .registry import NoGradient, define_op

ABORT, REPORT, OVERFLOW, EVERYTHING = range(4)
_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_LARGEST_HALF = 65504.0


@dataclass(frozen=True)
class Numerics:
    """Counts of a tensor's elements, and the extremes and mean of its values; of complex numbers those of magnitudes.

    NaN counts in the mean alone. An empty tensor has zeros throughout, one of nothing but NaN has NaN.
    """

    size: int
    nans: int
    infinities: int
    zeros: int
    largest: float
    smallest: float
    mean: float

    @classmethod
    def of(cls, array: Any) -> Numerics:
        """Those of an array of floating or complex numbers."""
        wide = array.astype("float32") if array.dtype.kind == "V" else array
        real = abs(wide) if wide.dtype.kind == "c" else wide
        known = real[real == real]
        with np.errstate(all="ignore"):
            return cls(
                size=int(real.size),
                nans=int(real.size - known.size),
                infinities=int((abs(known) == float("inf")).sum()),
                zeros=int((known == 0).sum()),
                largest=_of_known(known, real, "max"),
                smallest=_of_known(known, real, "min"),
                mean=float(real.sum(dtype="float64")) / real.size if real.size else 0.0,
            )

    @property
    def are_bad(self) -> bool:
        """Whether there is a NaN or an infinity."""
        return bool(self.nans or self.infinities)


def _of_known(known: Any, real: Any, which: str) -> float:
    if not real.size:
        return 0.0
    return float(getattr(known, which)()) if known.size else float("nan")


def deserves_report(numbers: Numerics, dtype: DType, mode: int) -> bool:
    """Whether a mode of checking speaks of these numbers: bad ones always, float32 beyond float16's range, or all."""
    if mode == OVERFLOW and dtype is float32 and max(abs(numbers.largest), abs(numbers.smallest)) > _LARGEST_HALF:
        return True
    return numbers.are_bad or mode == EVERYTHING


def report_line(array: Any, numbers: Numerics, op: str, tensor: str) -> str:
    """A line about a tensor, in PaddlePaddle's form, which `compare_accuracy` reads."""
    bad = f"num_nan={numbers.nans}, num_inf={numbers.infinities}, " if numbers.are_bad else ""
    return (
        f"[PRECISION]{' [ERROR]' if bad else ''} in {_where(array, op, tensor)}, numel={numbers.size}, {bad}"
        f"num_zero={numbers.zeros}, max={numbers.largest:.6e}, min={numbers.smallest:.6e}, mean={numbers.mean:.6e}"
    )


def not_finite(array: Any, numbers: Numerics, op: str, tensor: str) -> NotFiniteError:
    """The error of a tensor with NaN or infinities."""
    return NotFiniteError(
        f"{op}: there are {numbers.nans} NaN and {numbers.infinities} Inf values in {_where(array, op, tensor)}",
        hint="DebugMode.CHECK_NAN_INF reports such numbers and goes on",
    )


def _where(array: Any, op: str, tensor: str) -> str:
    name = from_np(array.dtype).name
    on = getattr(array, "device", "cpu")
    device = on if isinstance(on, str) else f"gpu:{on.id}"
    return f"[device={device}, op={op}, tensor={tensor}, dtype={_SHORT.get(name, name)}]"


def _kernel(xp: Any, x: Any, *, op: str, tensor: str, mode: int) -> tuple[Any, Any]:
    numbers = Numerics.of(x)
    if deserves_report(numbers, from_np(x.dtype), mode):
        print(report_line(x, numbers, op, tensor))
    if numbers.are_bad and mode == ABORT:
        raise not_finite(x, numbers, op, tensor)
    with np.errstate(over="ignore"):
        extremes = np.array([numbers.largest, numbers.smallest, numbers.mean]).astype(np.float32)
    counts = np.array([numbers.nans, numbers.infinities, numbers.zeros], np.int64)
    return xp.asarray(counts), xp.asarray(extremes)


def _meta(x: Meta, *, op: str, tensor: str, mode: int) -> tuple[Meta, Meta]:
    if not x.dtype.is_inexact:
        raise DTypeError(f"check_numerics: tensor is {x}, expected a floating or complex dtype")
    return Meta((3,), int64), Meta((3,), float32)


check_numerics_op = define_op(
    "check_numerics",
    kernel=_kernel,
    meta=_meta,
    vjp=NoGradient("what is counted and said has no gradient"),
    outputs=("stats", "values"),
    effect=True,
)


__all__ = ["check_numerics_op"]

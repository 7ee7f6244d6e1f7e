"""What numbers a dtype can hold: `finfo` and `iinfo`."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from .alias import aliased
from .dtype import STORED, DType, DTypeLike, as_dtype
from .errors import ArgumentError


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """The limits of a floating type; `tiny` is the old name of `smallest_normal`."""

    min: float
    max: float
    eps: float
    resolution: float
    smallest_normal: float
    tiny: float
    bits: int
    dtype: str

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in _FLOAT_FIELDS)
        return f"paddle.finfo({numbers}, bits={self.bits}, dtype={self.dtype})"


_FLOAT_FIELDS = ("min", "max", "eps", "resolution", "smallest_normal", "tiny")


@dataclass(frozen=True, slots=True)
class IntInfo:
    """The limits of an integer type."""

    min: int
    max: int
    bits: int
    dtype: str

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


@aliased(dtype="type")
def finfo(dtype: DTypeLike) -> FloatInfo:
    """Return the limits of a floating type, or of a complex type's parts; raises ArgumentError for others.

    Source: paddle.finfo.

    >>> finfo("float16").max, finfo("complex64").dtype
    (65504.0, 'float32')
    """
    wanted = as_dtype(dtype)
    if not (wanted.is_inexact or wanted.kind == STORED):
        raise ArgumentError(f"finfo: the dtype must be floating or complex, but received {wanted.name}")
    part = _part(wanted)
    info = ml_dtypes.finfo(part.np)
    smallest = float(info.smallest_normal)
    return FloatInfo(
        min=float(info.min),
        max=float(info.max),
        eps=float(info.eps),
        # From the digits: the type's own `resolution` is this number rounded to the type (1.0004e-03 for float16).
        resolution=10.0**-info.precision,
        smallest_normal=smallest,
        tiny=smallest,
        bits=8 * part.itemsize,
        dtype=part.name,
    )


def _part(dtype: DType) -> DType:
    """Return the floating type of a complex type's parts; any other type itself."""
    return as_dtype({8: "float32", 16: "float64"}[dtype.itemsize]) if dtype.is_complex else dtype


def iinfo(dtype: DTypeLike) -> IntInfo:
    """Return the limits of an integer type; raises ArgumentError for others. Source: paddle.iinfo.

    >>> iinfo("int8")
    paddle.iinfo(min=-128, max=127, bits=8, dtype=int8)
    """
    wanted = as_dtype(dtype)
    if not wanted.is_integer:
        raise ArgumentError(f"iinfo: the dtype must be an integer one, but received {wanted.name}")
    info = np.iinfo(wanted.np)
    return IntInfo(int(info.min), int(info.max), 8 * wanted.itemsize, wanted.name)

"""The small enumerations and versions of `paddle.inference`."""

from __future__ import annotations

from enum import Enum

from ..core.dtype import DType, as_dtype
from ..core.errors import DTypeError
from ..core.paddle_version import FULL_VERSION


class PrecisionType(Enum):
    """In which precision an engine computes. Source: paddle.inference.PrecisionType.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inference.PrecisionType.Half.name
        'Half'
    """

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


class PlaceType(Enum):
    """Where a tensor lies. Source: paddle.inference.PlaceType.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inference.PlaceType.CPU.name
        'CPU'
    """

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 6


class DataType(Enum):
    """What a tensor's elements are. Source: paddle.inference.DataType.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.FLOAT32)
        4
    """

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7
    BFLOAT16 = 8


def data_type_of(dtype: DType) -> DataType:
    """The DataType of a dtype; raises DTypeError for those that predictors do not take or give."""
    try:
        return DataType[dtype.name.upper()]
    except KeyError:
        raise DTypeError(f"paddle.inference has no DataType for {dtype.name}") from None


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element has. Source: paddle.inference.get_num_bytes_of_data_type.

    >>> get_num_bytes_of_data_type(DataType.INT64)
    8
    """
    return as_dtype(dtype.name.lower()).itemsize


def get_version() -> str:
    """The version of Paddle whose names these are, as `paddle.inference` writes it.

    Source: paddle.inference.get_version.

    >>> get_version().splitlines()[0]
    'version: 3.3.1'
    """
    return f"version: {FULL_VERSION}\ncommit: \nbranch: \n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT. Source: paddle.inference.get_trt_compile_version.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inference.get_trt_compile_version()
        (0, 0, 0)
    """
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT. Source: paddle.inference.get_trt_runtime_version.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inference.get_trt_runtime_version()
        (0, 0, 0)
    """
    return (0, 0, 0)

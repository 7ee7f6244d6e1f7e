"""`paddle.inference`: run saved models the way Paddle's predictor does. Source: paddle.inference."""

from typing import TYPE_CHECKING

from ..core.lazy import lazy_attributes
from .config import Config
from .handle import Tensor
from .kinds import (
    DataType,
    PlaceType,
    PrecisionType,
    get_num_bytes_of_data_type,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)
from .predictor import Predictor, PredictorPool, create_predictor

if TYPE_CHECKING:
    from .mixed_precision import convert_to_mixed_precision

# Who runs a model needs nothing of what changes one.
__getattr__ = lazy_attributes(__name__, names={"convert_to_mixed_precision": "mixed_precision"})

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]

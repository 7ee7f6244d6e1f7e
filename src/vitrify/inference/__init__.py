"""`paddle.inference`: run saved models the way Paddle's predictor does. Source: paddle.inference."""

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

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]

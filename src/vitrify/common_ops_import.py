"""`paddle.common_ops_import`: what functions that append operators by name import, under one path."""

from .base.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype
from .base.framework import (
    Variable,
    convert_np_dtype_to_dtype_,
    default_main_program,
    default_startup_program,
    in_dygraph_mode,
    in_dynamic_mode,
)
from .eager.param_attr import ParamAttr
from .nn.initializer import Constant
from .paddle_program.layer_helper import LayerHelper
from .utils import unique_name

__all__ = [
    "Constant", "LayerHelper", "ParamAttr", "Variable", "check_dtype", "check_type", "check_variable_and_dtype",
    "convert_dtype", "convert_np_dtype_to_dtype_", "default_main_program", "default_startup_program",
    "in_dygraph_mode", "in_dynamic_mode", "unique_name",
]  # fmt: skip

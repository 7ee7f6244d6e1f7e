"""Programs built and run by hand, as in Paddle's static mode. Source: paddle.static."""

from ..autodiff.append import append_backward, gradients
from ..eager.create_parameter import create_parameter
from ..eager.param_attr import WeightNormParamAttr
from ..ir import surgery
from ..ir.guard import data, default_main_program, default_startup_program, name_scope, program_guard
from ..ir.input_spec import InputSpec
from ..ir.program import Block, Operator, Program
from ..ops.accuracy import accuracy
from ..runtime.scope import Scope, global_scope, scope_guard
from ..runtime.strategy import BuildStrategy, ExecutionStrategy
from . import amp, nn
from .absent import (
    IpuCompiledProgram,
    IpuStrategy,
    ctr_metric_bundle,
    ipu_shard_guard,
    set_ipu_shard,
    xpu_places,
)
from .compiled_program import CompiledProgram
from .executor import Executor
from .global_var import create_global_var
from .inference import (
    deserialize_persistables,
    deserialize_program,
    load_from_file,
    load_inference_model,
    normalize_program,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
)
from .metric import auc
from .moving_average import ExponentialMovingAverage
from .nn.control_flow import Assert
from .places import cpu_places, cuda_places, device_guard
from .printing import Print
from .py_func import py_func
from .saving import load, load_program_state, save, set_program_state
from .transpilers import FoldBatchNorm, QuantizeWeights, Transpiler
from .variable import Variable, setitem

__all__ = [
    "Assert",
    "Block",
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "FoldBatchNorm",
    "InputSpec",
    "IpuCompiledProgram",
    "IpuStrategy",
    "Operator",
    "Print",
    "Program",
    "QuantizeWeights",
    "Scope",
    "Transpiler",
    "Variable",
    "WeightNormParamAttr",
    "accuracy",
    "amp",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "ctr_metric_bundle",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "global_scope",
    "gradients",
    "ipu_shard_guard",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "py_func",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_ipu_shard",
    "set_program_state",
    "setitem",
    "surgery",
    "xpu_places",
]

"""Programs built and run by hand, as in Paddle's static mode. Source: paddle.static."""

from ..autodiff.append import append_backward, gradients
from ..eager.create_parameter import create_parameter
from ..ir.guard import data, default_main_program, default_startup_program, name_scope, program_guard
from ..ir.input_spec import InputSpec
from ..ir.program import Block, Operator, Program, Variable
from ..ops.accuracy import accuracy
from ..runtime.scope import Scope, global_scope, scope_guard
from ..runtime.strategy import BuildStrategy, ExecutionStrategy
from . import amp, nn
from .compiled_program import CompiledProgram
from .executor import Executor
from .global_var import create_global_var
from .metric import auc
from .moving_average import ExponentialMovingAverage
from .nn.control_flow import Assert
from .places import cpu_places, cuda_places, device_guard
from .printing import Print
from .py_func import py_func

__all__ = [
    "Assert",
    "Block",
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "Operator",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "accuracy",
    "amp",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "global_scope",
    "gradients",
    "name_scope",
    "nn",
    "program_guard",
    "py_func",
    "scope_guard",
]

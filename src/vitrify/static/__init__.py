"""Programs built and run by hand, as in Paddle's static mode. Source: paddle.static."""

from ..autodiff.append import append_backward, gradients
from ..eager.create_parameter import create_parameter
from ..ir.guard import data, default_main_program, default_startup_program, program_guard
from ..ir.input_spec import InputSpec
from ..ir.program import Block, Operator, Program, Variable
from ..runtime.scope import Scope, global_scope, scope_guard
from ..runtime.strategy import BuildStrategy, ExecutionStrategy
from . import amp
from .compiled_program import CompiledProgram
from .executor import Executor
from .global_var import create_global_var

__all__ = [
    "Block",
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "InputSpec",
    "Operator",
    "Program",
    "Scope",
    "Variable",
    "amp",
    "append_backward",
    "create_global_var",
    "create_parameter",
    "data",
    "default_main_program",
    "default_startup_program",
    "global_scope",
    "gradients",
    "program_guard",
    "scope_guard",
]

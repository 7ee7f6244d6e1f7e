"""`paddle.base`: what model code takes from the inner package that PaddlePaddle called `fluid` before.

Only names that exist elsewhere in the public API as well, gathered under the paths that repositories import them by.
"""

from ..autodiff.append import append_backward, gradients
from ..core.config import get_flags, set_flags
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..eager.param_attr import ParamAttr, WeightNormParamAttr
from ..ir.guard import default_main_program, default_startup_program, name_scope, program_guard
from ..ir.program import Program
from ..nn import initializer
from ..nn.initializer import set_global_initializer
from ..runtime.scope import Scope, global_scope, scope_guard
from ..runtime.strategy import BuildStrategy
from ..static import CompiledProgram, Executor, cpu_places, cuda_places, device_guard
from ..utils import require_version, unique_name
from . import core, data_feeder, dygraph, framework, param_attr
from .core import is_compiled_with_cinn, is_compiled_with_cuda, is_compiled_with_rocm, is_compiled_with_xpu
from .data_feeder import DataFeeder
from .framework import Variable, in_dygraph_mode, in_dynamic_or_pir_mode, in_pir_mode

__all__ = [
    "BuildStrategy",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CompiledProgram",
    "DataFeeder",
    "Executor",
    "ParamAttr",
    "Program",
    "Scope",
    "Variable",
    "WeightNormParamAttr",
    "append_backward",
    "core",
    "cpu_places",
    "cuda_places",
    "data_feeder",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "dygraph",
    "framework",
    "get_flags",
    "global_scope",
    "gradients",
    "in_dygraph_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "initializer",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "name_scope",
    "param_attr",
    "program_guard",
    "require_version",
    "scope_guard",
    "set_flags",
    "set_global_initializer",
    "unique_name",
]  # fmt: skip

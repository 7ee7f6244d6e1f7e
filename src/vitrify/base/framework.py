"""`paddle.base.framework`: modes, programs and dtypes under their inner names."""

from ..core.dispatch import in_dynamic_mode as in_dygraph_mode
from ..framework import (
    Block,
    EagerParamBase,
    Parameter,
    Program,
    _current_expected_place,
    _dygraph_tracer,
    convert_np_dtype_to_dtype_,
    dygraph_only,
    get_flags,
    in_dynamic_mode,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    set_flags,
    use_pir_api,
)
from ..framework.mode import non_static_only
from ..ir.guard import default_main_program, default_startup_program, program_guard
from ..ir.program import Operator
from ..static.variable import Variable

__all__ = [
    "Block", "EagerParamBase", "Operator", "Parameter", "Program", "Variable", "_current_expected_place",
    "_dygraph_tracer", "convert_np_dtype_to_dtype_", "default_main_program", "default_startup_program", "dygraph_only",
    "get_flags", "in_dygraph_mode", "in_dynamic_mode", "in_dynamic_or_pir_mode", "in_pir_mode", "non_static_only",
    "program_guard", "set_flags", "use_pir_api",
]  # fmt: skip

"""`paddle.framework`: saving and loading of objects, modes, and inner names that model code imports from here."""

from ..core.config import get_flags, set_flags
from ..core.dispatch import in_dynamic_mode
from ..core.dtype import as_dtype as convert_np_dtype_to_dtype_
from ..core.dtype import get_default_dtype, set_default_dtype
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..core.place import current_place as _current_expected_place
from ..core.place import current_place as _current_expected_place_
from ..core.rng import seed
from ..eager.autograd import grad
from ..eager.grad_mode import no_grad
from ..eager.param_attr import ParamAttr
from ..eager.parameter import Parameter
from ..eager.parameter import Parameter as EagerParamBase
from ..ir.guard import disable_static, enable_static
from ..ir.program import Block, Program
from . import core, io, random
from .mode import _no_check_dy2st_diff, dygraph_only, in_dynamic_or_pir_mode, in_pir_mode, use_pir_api
from .save_load import load, save
from .tracer import _dygraph_tracer

__all__ = [
    "Block", "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "EagerParamBase", "ParamAttr", "Parameter", "Program",
    "_current_expected_place", "_current_expected_place_", "_dygraph_tracer", "_no_check_dy2st_diff",
    "convert_np_dtype_to_dtype_", "core",
    "disable_static", "dygraph_only", "enable_static",
    "get_default_dtype", "get_flags", "grad", "in_dynamic_mode", "in_dynamic_or_pir_mode", "in_pir_mode", "io", "load",
    "no_grad", "random", "save", "seed", "set_default_dtype", "set_flags",
    "use_pir_api",
]  # fmt: skip

"""The names of the top level, which `vitrify` takes over when it is first asked for one of them."""

# ruff: noqa: F401, F403
# Public names are those that the op families list in `__all__`, and the ones below.

from math import e, inf, nan, pi
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import amp, autograd, jit, linalg, nn, regularizer
from .amp import autocast, get_autocast_cpu_dtype, get_autocast_dtype, get_autocast_gpu_dtype, is_autocast_enabled
from .core.config import get_flags, set_flags
from .core.dispatch import in_dynamic_mode
from .core.dtype import (
    DType as dtype,
)
from .core.dtype import (
    bfloat16,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .core.dtype import bool_ as bool
from .core.dtype import complex64 as cfloat
from .core.dtype import complex128 as cdouble
from .core.dtype import float16 as half
from .core.dtype import float32 as float
from .core.dtype import float64 as double
from .core.dtype import int16 as short
from .core.dtype import int32 as int
from .core.dtype import int64 as long
from .core.interrupts import disable_signal_handler
from .core.limits import finfo, iinfo
from .core.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    get_device,
    is_compiled_with_cuda,
    set_device,
)
from .core.rng import get_rng_state, seed, set_rng_state
from .core.rng import seed as manual_seed
from .core.size import Size
from .device import (
    Event,
    Stream,
    device_guard,
    get_cudnn_version,
    is_compiled_with_cinn,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from .eager.autograd import grad
from .eager.constructors import *
from .eager.create_parameter import create_parameter
from .eager.dlpack import from_dlpack, to_dlpack
from .eager.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .eager.lazy_init import LazyGuard
from .eager.param_attr import ParamAttr
from .eager.repr_ import set_printoptions
from .eager.tensor import Tensor, to_tensor
from .framework.generator import Generator, get_cuda_rng_state, set_cuda_rng_state
from .ir.guard import disable_static, enable_static
from .linalg import cholesky, eigvalsh, norm
from .nn.functional import adaptive_avg_pool1d, conv1d, conv2d, conv3d, group_norm, layer_norm, sigmoid
from .ops.activation import *
from .ops.arrange import *
from .ops.casting import *
from .ops.closeness import *
from .ops.compare import *
from .ops.complex_ import *
from .ops.contraction import *
from .ops.count import *
from .ops.creation import *
from .ops.cumulative import *
from .ops.decomposition import *
from .ops.diagonal import *
from .ops.differences import *
from .ops.distance import *
from .ops.einsum import *
from .ops.elementwise import *
from .ops.expand import *
from .ops.fill import *
from .ops.gather import *
from .ops.index import *
from .ops.inplace import *
from .ops.join import *
from .ops.like import *
from .ops.linalg import *
from .ops.masked import *
from .ops.matmul import *
from .ops.norms import *
from .ops.pad import *
from .ops.power import *
from .ops.put_along_axis import *
from .ops.quantile import *
from .ops.random import *
from .ops.random_fill import *
from .ops.reduce import *
from .ops.scatter import *
from .ops.search import *
from .ops.select import *
from .ops.shape import *
from .ops.sizes import *
from .ops.slicing import *
from .ops.softmax import *
from .ops.softmax import softmax_by_dim as softmax
from .ops.sort import *
from .ops.special import *
from .ops.split import *
from .ops.statistics import *
from .ops.tapers import *
from .ops.transpose import *
from .ops.trig import *
from .ops.unary import *
from .ops.unique import *
from .ops.windows import *

if _TYPE_CHECKING:
    from . import (
        audio,
        base,
        callbacks,
        distributed,
        distribution,
        fft,
        framework,
        geometric,
        hapi,
        hub,
        incubate,
        inference,
        io,
        metric,
        onnx,
        optimizer,
        profiler,
        quantization,
        signal,
        sparse,
        static,
        tensor,
        text,
        utils,
        version,
        vision,
    )
    from .framework.save_load import load, save
    from .hapi import Model, flops, summary
    from .utils import batch

newaxis = None

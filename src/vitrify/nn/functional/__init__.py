"""Functions that Layers are made of. Source: paddle.nn.functional."""

# ruff: noqa: F403

from typing import TYPE_CHECKING, Any

from ...ops.inplace import tanh_ as tanh_
from .activation import *
from .common import *
from .conv import *
from .distance import *
from .extension import *
from .flash_attention import flash_attn_qkvpacked as flash_attn_qkvpacked
from .flash_attention import flash_attn_varlen_qkvpacked as flash_attn_varlen_qkvpacked
from .flash_attention import flashmask_attention as flashmask_attention
from .input import *
from .loss import *
from .norm import *
from .pooling import *
from .sdpa import scaled_dot_product_attention as scaled_dot_product_attention
from .vision import *

if TYPE_CHECKING:  # the functions below come from tables that type checkers don't read

    def __getattr__(name: str) -> Any: ...

"""Functions that Layers are made of. Source: paddle.nn.functional."""

# ruff: noqa: F403

from typing import TYPE_CHECKING, Any

from ...ops import activation as _activation
from ...ops import softmax as _softmax
from ...ops.adaptive_pool import *
from ...ops.attention import *
from ...ops.batch_norm import *
from ...ops.conv import *
from ...ops.conv_transpose import *
from ...ops.creation import one_hot as one_hot
from ...ops.cross_entropy import *
from ...ops.diagonal import diag_embed as diag_embed
from ...ops.dropout import *
from ...ops.embedding import *
from ...ops.interpolate import *
from ...ops.linear import *
from ...ops.losses import *
from ...ops.margin_losses import *
from ...ops.normalization import *
from ...ops.pad import pad as pad
from ...ops.pad import zeropad2d as zeropad2d
from ...ops.patches import *
from ...ops.pool import *
from ...ops.rearrange import *
from ...ops.similarity import *
from ...ops.special import sigmoid as sigmoid
from ...ops.trig import tanh as tanh
from ...ops.unpool import *
from ...ops.vision import *

if TYPE_CHECKING:  # the functions below come from tables that type checkers don't read

    def __getattr__(name: str) -> Any: ...


globals().update({name: getattr(family, name) for family in (_activation, _softmax) for name in family.FUNCTIONAL})

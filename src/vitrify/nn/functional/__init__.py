"""Functions that Layers are made of. Source: paddle.nn.functional."""

# ruff: noqa: F403

from ...ops import activation as _activation
from ...ops import softmax as _softmax
from ...ops.adaptive_pool import *
from ...ops.batch_norm import *
from ...ops.conv import *
from ...ops.conv_transpose import *
from ...ops.creation import one_hot
from ...ops.cross_entropy import *
from ...ops.diagonal import diag_embed
from ...ops.dropout import *
from ...ops.embedding import *
from ...ops.interpolate import *
from ...ops.linear import *
from ...ops.losses import *
from ...ops.margin_losses import *
from ...ops.normalization import *
from ...ops.pad import pad, zeropad2d
from ...ops.patches import *
from ...ops.patches import *
from ...ops.pool import *
from ...ops.rearrange import *
from ...ops.similarity import *
from ...ops.special import sigmoid
from ...ops.trig import tanh
from ...ops.unpool import *

globals().update({name: getattr(family, name) for family in (_activation, _softmax) for name in family.FUNCTIONAL})

"""`paddle.nn`: Layers, containers, initializers, functions of neural networks, gradient clipping."""

# ruff: noqa: F403, F405
# The Layers are those that the modules of `layer` list in `__all__`.

from ..eager.layer import Layer
from ..eager.param_attr import ParamAttr
from ..eager.parameter import Parameter
from . import functional, init, initializer, quant, utils
from .clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from .decode import BeamSearchDecoder, dynamic_decode
from .layer import activation, class_loss, common, container, conv, loss, norm, padding, pooling, transformer, vision
from .layer.activation import *
from .layer.attention import MultiHeadAttention
from .layer.class_loss import *
from .layer.common import *
from .layer.container import *
from .layer.conv import *
from .layer.loss import *
from .layer.norm import *
from .layer.padding import *
from .layer.pooling import *
from .layer.rnn import GRU, LSTM, RNN, BiRNN, SimpleRNN
from .layer.rnn_cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from .layer.transformer import *
from .layer.vision import *

Module = Layer
ModuleList = LayerList
ModuleDict = LayerDict

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BeamSearchDecoder",
    "BiRNN",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "GRUCell",
    "LSTMCell",
    "Layer",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "ParamAttr",
    "Parameter",
    "RNNCellBase",
    "SimpleRNN",
    "SimpleRNNCell",
    "dynamic_decode",
    "functional",
    "init",
    "initializer",
    "quant",
    "utils",
]  # fmt: skip
__all__ += activation.__all__ + common.__all__ + container.__all__ + conv.__all__ + loss.__all__ + norm.__all__
__all__ += padding.__all__ + pooling.__all__ + transformer.__all__ + vision.__all__
__all__ += class_loss.__all__

"""The Layer classes of `paddle.nn`, one file for each kind."""

# ruff: noqa: F403

from ...eager.layer import Layer
from . import layers
from .activation import *
from .attention import MultiHeadAttention
from .class_loss import *
from .common import *
from .container import *
from .conv import *
from .loss import *
from .norm import *
from .padding import *
from .pooling import *
from .rnn import GRU, LSTM, RNN, BiRNN, SimpleRNN
from .rnn_cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from .transformer import *
from .vision import *

__all__ = [
    "GRU", "LSTM", "RNN", "BiRNN", "GRUCell", "LSTMCell", "Layer", "MultiHeadAttention", "RNNCellBase", "SimpleRNN",
    "SimpleRNNCell", "layers",
]  # fmt: skip

"""The Layer classes of `paddle.nn`, one file for each kind."""

from . import activation, attention, common, container, conv, loss, norm, padding, pooling, rnn, rnn_cells, transformer
from . import vision as distance_and_vision

__all__ = ["activation", "attention", "common", "container", "conv", "distance_and_vision", "loss", "norm", "padding",
           "pooling", "rnn", "rnn_cells", "transformer"]  # fmt: skip

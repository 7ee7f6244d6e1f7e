"""Layers: made with settings, given parameters that both frameworks share, called; with their texts and names."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance.spec import Row, each, index, row, t, unset

Call = Callable[..., Any]


def filled(layer: Any) -> Any:
    """Return the Layer with parameters that depend on their names and shapes alone."""
    for name, value in layer.state_dict().items():
        seed = zlib.crc32(repr((name, tuple(value.shape))).encode()) % 2**31
        numbers = np.random.RandomState(seed).uniform(-0.5, 0.5, tuple(value.shape))
        value.set_value((abs(numbers) + 0.5 if name.endswith("_variance") else numbers).astype("float32"))
    return layer


def made(name: str, evaluated: bool = False, **settings: Any) -> Call:
    """Return a call that makes the Layer, fills it and calls it: outputs, text, names and shapes, gradients."""

    def call(paddle: Any, *inputs: Any, **options: Any) -> Any:
        layer = filled(getattr(paddle.nn, name)(**settings, **options))
        if evaluated:
            layer.eval()
        text = repr(layer)  # now, for Paddle's batch norms show other settings after a call
        state = {key: list(value.shape) for key, value in layer.state_dict().items()}
        found = layer(*inputs)
        if name.endswith("Cell"):
            found = found[0]  # the states hold it once more
        return found, text, sorted(state.items()), [list(p.shape) for p in layer.parameters()]

    return call


def layer(name: str, *inputs: Any, options: dict[str, Any] | None = None, **settings: Any) -> Row:
    """Return the row of a Layer with fixed settings, and options that are choices."""
    return row(f"paddle.nn.{name}", *inputs, **(options or {})).through(made(name, **settings))


PLAIN = """ReLU ReLU6 ELU CELU SELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish
Sigmoid Silu Swish Softplus Softshrink Softsign Tanh Tanhshrink ThresholdedReLU Identity Flatten""".split()
SIZES = {1: (9,), 2: (6, 7), 3: (5, 6, 5)}
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def of_dimensions(n: int) -> list[Row]:
    """Return the rows of Layers over n spatial dimensions."""
    x, last = t(2, 4, *SIZES[n]), t(2, *SIZES[n], 4)
    conv = {"in_channels": 4, "out_channels": 6, "kernel_size": 3}
    geometry = {
        "stride": each(unset, 2),
        "padding": each(unset, 1),
        "dilation": each(unset, 2),
        "groups": each(unset, 2),
    }
    return [
        layer(f"Conv{n}D", x, options=geometry, **conv),
        layer(f"Conv{n}D", x, options={"padding": each("SAME", "VALID", [1] * n)}, **conv),
        layer(f"Conv{n}D", x, options={"padding_mode": each("reflect", "replicate", "circular")}, padding=1, **conv),
        layer(f"Conv{n}D", last, data_format=FORMATS[n][1], **conv),
        layer(f"Conv{n}DTranspose", x, options=geometry, **conv),
        layer(f"Conv{n}DTranspose", x, stride=2, output_padding=1, **conv),
        layer(f"MaxPool{n}D", x, options={"stride": each(unset, 1), "padding": each(unset, 1)}, kernel_size=3),
        layer(f"MaxPool{n}D", x, kernel_size=2, ceil_mode=True),
        layer(f"AvgPool{n}D", x, options={"exclusive": each(unset, False)}, kernel_size=3, stride=2, padding=1),
        layer(f"AdaptiveAvgPool{n}D", x, output_size=3),
        layer(f"AdaptiveMaxPool{n}D", x, options={"return_mask": each(unset, True)}, output_size=3),
        layer(f"BatchNorm{n}D", x, options={"momentum": each(unset, 0.5)}, num_features=4),
        row(f"paddle.nn.BatchNorm{n}D", x).through(made(f"BatchNorm{n}D", evaluated=True, num_features=4)),
        layer(f"InstanceNorm{n}D", x, options={"epsilon": each(unset, 0.1)}, num_features=4),
        layer(f"Pad{n}D", x, options={"mode": each("constant", "reflect", "replicate", "circular")}, padding=1),
    ]


def recurrent(name: str) -> list[Row]:
    """Return the rows of a recurrent Layer and its cell."""
    sizes = {"input_size": 4, "hidden_size": 6}
    kinds = {"num_layers": each(unset, 2), "direction": each(unset, "bidirect"), "time_major": each(unset, True)}
    return [layer(name, t(3, 5, 4), options=kinds, **sizes), layer(f"{name}Cell", t(3, 4), **sizes)]


WIDE = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "dropout": 0.0}
ROWS = [
    *(layer(name, t(2, 4, 4, 4)) for name in PLAIN),
    *(one for n in (1, 2, 3) for one in of_dimensions(n)),
    *(one for name in ("SimpleRNN", "GRU", "LSTM") for one in recurrent(name)),
    layer("Linear", t(2, 3), options={"bias_attr": each(unset, False)}, in_features=3, out_features=4),
    layer("Bilinear", t(2, 3), t(2, 4, seed=1), in1_features=3, in2_features=4, out_features=5),
    layer(
        "Embedding", index(3, 2, below=7), options={"padding_idx": each(unset, 2)}, num_embeddings=7, embedding_dim=4
    ),
    layer("LayerNorm", t(2, 3, 4), options={"weight_attr": each(unset, False)}, normalized_shape=[3, 4]),
    layer("GroupNorm", t(2, 4, 3, 3), options={"data_format": each(unset, "NHWC")}, num_groups=2, num_channels=4),
    layer("LocalResponseNorm", t(2, 4, 3, 3), options={"data_format": each(unset, "NHWC")}, size=3),
    layer(
        "BatchNorm", t(2, 4, 3, 3), options={"act": each(unset, "relu"), "is_test": each(unset, True)}, num_channels=4
    ),
    layer("PReLU", t(2, 4, 3), options={"num_parameters": each(unset, 4)}),
    layer("PixelShuffle", t(2, 4, 3, 3), upscale_factor=2),
    layer("PixelUnshuffle", t(2, 4, 6, 6), downscale_factor=2),
    layer("ChannelShuffle", t(2, 4, 3, 3), groups=2),
    layer("Unfold", t(2, 3, 5, 6), options={"strides": each(unset, 2), "paddings": each(unset, 1)}, kernel_sizes=2),
    layer("Fold", t(2, 12, 12), output_sizes=[4, 5], kernel_sizes=[2, 2]),
    layer("UpsamplingNearest2D", t(2, 3, 4, 4), scale_factor=2),
    layer("UpsamplingBilinear2D", t(2, 3, 4, 4), size=[7, 5]),
    layer("CosineSimilarity", t(2, 3), t(2, 3, seed=1), axis=1),
    layer("PairwiseDistance", t(2, 3), t(2, 3, seed=1), options={"p": each(unset, 1.0), "keepdim": each(unset, True)}),
    layer("MultiHeadAttention", t(2, 3, 8), options={"need_weights": each(unset, True)}, embed_dim=8, num_heads=2),
    layer("TransformerEncoderLayer", t(2, 3, 8), options={"normalize_before": each(unset, True)}, **WIDE),
    layer(
        "TransformerDecoderLayer", t(2, 3, 8), t(2, 4, 8, seed=1), options={"activation": each(unset, "gelu")}, **WIDE
    ),
]

"""Attributes of Layers that model code reads, though their names are private."""

import pytest

import vitrify as paddle
from vitrify import nn


@pytest.mark.parametrize(
    ("layer", "op_type", "channel_dim"),
    [
        (nn.Conv1D(4, 4, 3, groups=4, data_format="NLC"), "conv1d", 2),
        (nn.Conv2D(4, 8, 3, groups=4), "depthwise_conv2d", 1),
        (nn.Conv2DTranspose(4, 4, 3, data_format="NHWC"), "conv2d", 3),
        (nn.Conv3D(4, 4, 3, groups=4), "conv3d", 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_convolutions_say_their_operator_and_where_channels_are(layer, op_type, channel_dim):
    assert (layer._op_type, layer._channel_dim) == (op_type, channel_dim)


def test_an_embedding_says_its_size_and_padding():
    layer = nn.Embedding(4, 3, padding_idx=-1)
    assert (layer._size, layer.padding_idx, layer._padding_idx) == ([4, 3], -1, -1)


@pytest.mark.parametrize("kind", [nn.UpsamplingNearest2D, nn.UpsamplingBilinear2D])
def test_one_size_is_that_of_both_dimensions(kind):
    layer = kind(12)
    assert layer.size == [12, 12] and str(layer) == f"{kind.__name__}(size=[12, 12], data_format=NCHW)"
    assert layer(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 12, 12]


ATTRIBUTES = [
    (nn.Conv2D(2, 4, (3, 5), stride=2, padding=1), {
        "_in_channels": 2, "_out_channels": 4, "_kernel_size": [3, 5], "_stride": [2, 2], "_padding": 1, "_groups": 1,
        "_dilation": [1, 1], "_data_format": "NCHW", "_padding_mode": "zeros",
    }),
    (nn.BatchNorm(3), {"_momentum": 0.9, "_epsilon": 1e-5, "_data_layout": "NCHW", "_use_global_stats": False}),
    (nn.BatchNorm2D(3), {"_num_features": 3, "_momentum": 0.9, "_data_format": "NCHW", "_use_global_stats": None}),
    (nn.LayerNorm(3), {"_normalized_shape": [3], "_epsilon": 1e-5}),
    (nn.GroupNorm(1, 3), {"_num_groups": 1, "_num_channels": 3, "_data_format": "NCHW"}),
    (nn.Embedding(4, 3), {"_num_embeddings": 4, "_embedding_dim": 3, "_padding_idx": None, "_sparse": False}),
    (nn.MaxPool1D(2), {"kernel_size": 2, "stride": None}),
    (nn.MaxPool2D(2), {"ksize": 2, "stride": None, "padding": 0, "ceil_mode": False, "return_mask": False}),
    (nn.MaxPool3D(2), {"ksize": 2}),
    (nn.AvgPool2D(2, divisor_override=3), {"ksize": 2, "divisor": 3, "exclusive": True}),
    (nn.AvgPool3D(2), {"ksize": 2, "divisor": None}),
    (nn.MaxUnPool2D(2), {"ksize": 2}),
    (nn.LPPool2D(2.0, 2), {"ksize": 2, "norm_type": 2.0, "stride": 2}),
    (nn.LPPool1D(2.0, 2), {"kernel_size": 2, "stride": None}),
    (nn.AdaptiveAvgPool2D(2), {"_output_size": 2, "output_size": 2, "_data_format": "NCHW"}),
    (nn.AdaptiveMaxPool1D(2, True), {"return_mask": True, "return_indices": True}),
    (nn.GLU(1), {"_axis": 1, "dim": 1}),
    (nn.Hardshrink(0.3), {"_threshold": 0.3, "lambd": 0.3}),
    (nn.Softshrink(0.3), {"lambd": 0.3}),
    (nn.CosineSimilarity(axis=0), {"_axis": 0, "dim": 0}),
    (nn.Conv2D(2, 4, 3, padding=1), {"_updated_padding": [1, 1], "_padding_algorithm": "EXPLICIT"}),
    (nn.Conv2D(2, 4, 3, padding=(1, 2)), {"_updated_padding": (1, 2)}),
    (nn.Conv2D(2, 4, 3, padding="same"), {"_updated_padding": [0, 0], "_padding_algorithm": "SAME"}),
    (nn.LSTM(3, 4, 2, direction="bidirect"), {
        "mode": "LSTM", "state_components": 2, "num_layers": 2, "num_directions": 2, "time_major": False,
    }),
    (nn.GRU(3, 4), {"mode": "GRU", "state_components": 1, "input_size": 3, "hidden_size": 4}),
    (nn.SimpleRNN(3, 4), {"mode": "RNN_TANH", "state_components": 1}),
    (nn.SimpleRNNCell(3, 4, "relu"), {"activation": "relu", "_activation_fn": nn.functional.relu}),
    (nn.Dropout(0.3), {"p": 0.3, "axis": None, "mode": "upscale_in_train"}),
    (nn.MultiHeadAttention(4, 2), {"embed_dim": 4, "num_heads": 2, "head_dim": 2, "need_weights": False}),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "found"), ATTRIBUTES, ids=lambda value: type(value).__name__)
def test_attributes_have_the_names_of_paddles(layer, found):
    assert {name: getattr(layer, name) for name in found} == found

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

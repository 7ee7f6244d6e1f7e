"""One line for each Layer class: how it is made, what it is fed, how it prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitrify import nn

IMAGE = (2, 4, 6, 6)


@dataclass(frozen=True)
class Case:
    """A Layer and its inputs: a tuple of sizes for normal numbers, an array as it is."""

    make: Callable[[], Any]
    inputs: tuple[Any, ...]
    text: str | None
    trains: bool = True
    random: bool = False

    @property
    def id(self) -> str:
        return self.text or repr(self.make()).splitlines()[0]


def case(make: Callable[[], Any], *inputs: Any, text: str | None = None, **flags: bool) -> Case:
    return Case(make, inputs or (IMAGE,), text, **flags)


def labels(high: int, *shape: int) -> Any:
    return np.random.default_rng(1).integers(0, high, shape)


def between(*shape: int) -> Any:
    """Numbers inside (0, 1)."""
    return np.random.default_rng(1).uniform(0.1, 0.9, shape).astype("float32")


def signs(*shape: int) -> Any:
    return np.sign(np.random.default_rng(1).normal(size=shape)).astype("float32")


ACTIVATIONS = [
    case(lambda: nn.CELU(0.5), text="CELU(alpha=0.5)"),
    case(lambda: nn.ELU(), text="ELU(alpha=1.0)"),
    case(lambda: nn.GELU(), text="GELU(approximate=False)"),
    case(lambda: nn.GELU(True), text="GELU(approximate=True)"),
    case(lambda: nn.GLU(), text="GLU(axis=-1)"),
    case(lambda: nn.Hardshrink(), text="Hardshrink(threshold=0.5)"),
    case(lambda: nn.Hardsigmoid(), text="Hardsigmoid()"),
    case(lambda: nn.Hardswish(), text="Hardswish()"),
    case(lambda: nn.Hardtanh(-2.0, 1.5), text="Hardtanh(min=-2.0, max=1.5)"),
    case(lambda: nn.LeakyReLU(0.2, name="leak"), text="LeakyReLU(negative_slope=0.2, name=leak)"),
    case(lambda: nn.LogSigmoid(), text="LogSigmoid()"),
    case(lambda: nn.LogSoftmax(1), text="LogSoftmax(axis=1)"),
    case(lambda: nn.Maxout(2), text="Maxout(groups=2, axis=1)"),
    case(lambda: nn.Mish(), text="Mish()"),
    case(lambda: nn.PReLU(), text="PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32)"),
    case(lambda: nn.PReLU(4, 0.1), text="PReLU(num_parameters=4, data_format=NCHW, init=0.1, dtype=float32)"),
    case(lambda: nn.ReLU(), text="ReLU()"),
    case(lambda: nn.ReLU6(), text="ReLU6()"),
    case(
        lambda: nn.RReLU(),
        text="RReLU(lower=0.125, upper=0.3333333333333333, training=True, dtype=float32)",
        random=True,
    ),
    case(lambda: nn.SELU(), text="SELU(scale=1.0507009873554805, alpha=1.6732632423543772)"),
    case(lambda: nn.SELU(2.0, 1), text="SELU(scale=2.0000000000000000, alpha=1.0000000000000000)"),
    case(lambda: nn.Sigmoid(), text="Sigmoid()"),
    case(lambda: nn.Silu(), text="Silu(inplace=False)"),
    case(lambda: nn.Softmax(), text="Softmax(axis=-1)"),
    case(lambda: nn.Softmax2D(), text="Softmax2D()"),
    case(lambda: nn.Softplus(2, 1.0), text="Softplus(beta=2, threshold=1.0)"),
    case(lambda: nn.Softshrink(), text="Softshrink(threshold=0.5)"),
    case(lambda: nn.Softsign(), text="Softsign()"),
    case(lambda: nn.Swish(), text="Swish()"),
    case(lambda: nn.Tanh(), text="Tanh()"),
    case(lambda: nn.Tanhshrink(), text="Tanhshrink()"),
    case(lambda: nn.ThresholdedReLU(), text="ThresholdedReLU(threshold=1.0, value=0.0)"),
]

COMMON = [
    case(lambda: nn.Identity(1, any=2), text="Identity()"),
    case(lambda: nn.Linear(6, 3), text="Linear(in_features=6, out_features=3, dtype=float32)"),
    case(
        lambda: nn.Linear(6, 3, bias_attr=False, name="fc"),
        text="Linear(in_features=6, out_features=3, dtype=float32, name=fc)",
    ),
    case(
        lambda: nn.Bilinear(3, 4, 5),
        (2, 3),
        (2, 4),
        text="Bilinear(in1_features=3, in2_features=4, out_features=5, dtype=float32)",
    ),
    case(
        lambda: nn.Embedding(7, 4, padding_idx=-1),
        labels(7, 3, 5),
        text="Embedding(7, 4, padding_idx=-1, sparse=False, scale_grad_by_freq=False)",
    ),
    case(lambda: nn.Flatten(), text="Flatten()"),
    case(lambda: nn.Unflatten(1, [2, 2]), text="Unflatten(axis=1, shape=[2, 2])"),
    case(lambda: nn.Dropout(), text="Dropout(p=0.5, axis=None, mode=upscale_in_train, inplace=False)", random=True),
    case(
        lambda: nn.Dropout(0.3, axis=1, name="d"),
        text="Dropout(p=0.3, axis=1, mode=upscale_in_train, name=d, inplace=False)",
        random=True,
    ),
    case(lambda: nn.Dropout2D(), text="Dropout2D(p=0.5, data_format=NCHW)", random=True),
    case(lambda: nn.Dropout3D(), (2, 3, 4, 4, 4), text="Dropout3D(p=0.5, data_format=NCDHW)", random=True),
    case(lambda: nn.AlphaDropout(0.2), text="AlphaDropout(p=0.2)", random=True),
    case(lambda: nn.FeatureAlphaDropout(), text="FeatureAlphaDropout(p=0.5)", random=True),
    case(lambda: nn.CosineSimilarity(), (3, 4), (3, 4), text="CosineSimilarity(axis=1, eps=1e-08)"),
    case(lambda: nn.PairwiseDistance(), (3, 4), (3, 4), text="PairwiseDistance(p=2.0)"),
    case(
        lambda: nn.PairwiseDistance(1.0, 1e-3, True, "x"),
        (3, 4),
        (3, 4),
        text="PairwiseDistance(p=1.0, epsilon=0.001, keepdim=True, name=x)",
    ),
    case(lambda: nn.Fold([4, 5], 2), (2, 8, 12), text="Fold(kernel_size=2, dilation=1, padding=0, stride=1)"),
    case(lambda: nn.Unfold(2, 1, 1, 2), text="Unfold(kernel_size=2, dilation=1, padding=1, stride=2)"),
]

VISION = [
    case(lambda: nn.PixelShuffle(2), text="PixelShuffle(upscale_factor=2)"),
    case(lambda: nn.PixelUnshuffle(2), text="PixelUnshuffle(downscale_factor=2)"),
    case(lambda: nn.ChannelShuffle(2), text="ChannelShuffle(groups=2)"),
    case(
        lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
        text="Upsample(scale_factor=2, mode=bilinear, align_corners=False, align_mode=0, data_format=None)",
    ),
    case(
        lambda: nn.Upsample([5, 7], name="u"),
        text="Upsample(size=[5, 7], mode=nearest, align_corners=False, align_mode=0, data_format=None, name=u)",
    ),
    case(lambda: nn.UpsamplingNearest2D(scale_factor=2), text="UpsamplingNearest2D(scale_factor=2, data_format=NCHW)"),
    case(lambda: nn.UpsamplingBilinear2D([8, 8]), text="UpsamplingBilinear2D(size=[8, 8], data_format=NCHW)"),
    case(lambda: nn.Pad1D(1), (2, 3, 4), text="Pad1D(padding=[1, 1], mode=constant, value=0.0, data_format=NCL)"),
    case(
        lambda: nn.Pad2D([1, 2, 3, 1], "reflect", name="p"),
        text="Pad2D(padding=[1, 2, 3, 1], mode=reflect, value=0.0, data_format=NCHW, name=p)",
    ),
    case(
        lambda: nn.Pad3D(1),
        (1, 2, 3, 3, 3),
        text="Pad3D(padding=[1, 1, 1, 1, 1, 1], mode=constant, value=0.0, data_format=NCDHW)",
    ),
    case(lambda: nn.ZeroPad2D(1), text="ZeroPad2D(padding=[1, 1, 1, 1], mode=constant, value=0.0, data_format=NCHW)"),
    case(
        lambda: nn.ConstantPad2D([1, 0, 2, 1], 3.0),
        text="ConstantPad2D(padding=[1, 0, 2, 1], mode=constant, value=3.0, data_format=NCHW)",
    ),
    case(
        lambda: nn.CircularPad2D(1),
        text="CircularPad2D(padding=[1, 1, 1, 1], mode=circular, value=0.0, data_format=NCHW)",
    ),
    case(
        lambda: nn.ReflectionPad1D(1),
        (2, 3, 4),
        text="ReflectionPad1D(padding=[1, 1], mode=reflect, value=0.0, data_format=NCL)",
    ),
    case(
        lambda: nn.ReplicationPad2D(1),
        text="ReplicationPad2D(padding=[1, 1, 1, 1], mode=replicate, value=0.0, data_format=NCHW)",
    ),
]

CONVOLUTIONS = [
    case(lambda: nn.Conv1D(4, 6, 3), (2, 4, 8), text="Conv1D(4, 6, kernel_size=[3], data_format=NCL)"),
    case(lambda: nn.Conv2D(4, 6, 3), text="Conv2D(4, 6, kernel_size=[3, 3], data_format=NCHW)"),
    case(
        lambda: nn.Conv2D(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, padding_mode="reflect"),
        text="Conv2D(4, 6, kernel_size=[3, 3], stride=[2, 2], padding=1, padding_mode=reflect, dilation=[2, 2], "
        "groups=2, data_format=NCHW)",
    ),
    case(
        lambda: nn.Conv2D(4, 4, 3, padding="same", bias=False),
        text="Conv2D(4, 4, kernel_size=[3, 3], padding=same, data_format=NCHW)",
    ),
    case(
        lambda: nn.Conv3D(2, 3, [3, 2, 1]),
        (1, 2, 4, 4, 4),
        text="Conv3D(2, 3, kernel_size=[3, 2, 1], data_format=NCDHW)",
    ),
    case(
        lambda: nn.Conv1DTranspose(4, 6, 3, 2),
        (2, 4, 8),
        text="Conv1DTranspose(4, 6, kernel_size=[3], stride=[2], data_format=NCL)",
    ),
    case(
        lambda: nn.Conv2DTranspose(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        text="Conv2DTranspose(4, 6, kernel_size=[3, 3], stride=[2, 2], padding=1, output_padding=1, groups=2, "
        "data_format=NCHW)",
    ),
    case(
        lambda: nn.Conv3DTranspose(2, 3, 2),
        (1, 2, 4, 4, 4),
        text="Conv3DTranspose(2, 3, kernel_size=[2, 2, 2], data_format=NCDHW)",
    ),
]

POOLS = [
    case(lambda: nn.AvgPool1D(2), (2, 3, 8), text="AvgPool1D(kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.AvgPool2D(3, 2, 1), text="AvgPool2D(kernel_size=3, stride=2, padding=1)"),
    case(lambda: nn.AvgPool3D(2), (1, 2, 4, 4, 4), text="AvgPool3D(kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.MaxPool1D(2), (2, 3, 8), text="MaxPool1D(kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.MaxPool2D(2), text="MaxPool2D(kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.MaxPool3D(2), (1, 2, 4, 4, 4), text="MaxPool3D(kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.AdaptiveAvgPool1D(2), (2, 3, 8), text="AdaptiveAvgPool1D(output_size=2)"),
    case(lambda: nn.AdaptiveAvgPool2D([2, 3]), text="AdaptiveAvgPool2D(output_size=[2, 3])"),
    case(lambda: nn.AdaptiveAvgPool3D(2), (1, 2, 4, 4, 4), text="AdaptiveAvgPool3D(output_size=2)"),
    case(lambda: nn.AdaptiveMaxPool1D(2), (2, 3, 8), text="AdaptiveMaxPool1D(output_size=2, return_mask=False)"),
    case(lambda: nn.AdaptiveMaxPool2D(2), text="AdaptiveMaxPool2D(output_size=2, return_mask=False)"),
    case(lambda: nn.AdaptiveMaxPool3D(2), (1, 2, 4, 4, 4), text="AdaptiveMaxPool3D(output_size=2, return_mask=False)"),
    case(lambda: nn.LPPool1D(2.0, 2), (2, 3, 8), text="LPPool1D(norm_type=2.0, kernel_size=2, stride=None, padding=0)"),
    case(lambda: nn.LPPool2D(2.0, 2), text="LPPool2D(norm_type=2.0, kernel_size=2, stride=2, padding=0)"),
    case(lambda: nn.FractionalMaxPool2D(2, random_u=0.3), text="FractionalMaxPool2D(output_size=2, return_mask=False)"),
]

NORMS = [
    case(
        lambda: nn.BatchNorm1D(4),
        (5, 4, 3),
        text="BatchNorm1D(num_features=4, momentum=0.9, epsilon=1e-05, data_format=NCL)",
    ),
    case(lambda: nn.BatchNorm2D(4), text="BatchNorm2D(num_features=4, momentum=0.9, epsilon=1e-05)"),
    case(
        lambda: nn.BatchNorm3D(2),
        (2, 2, 3, 3, 3),
        text="BatchNorm3D(num_features=2, momentum=0.9, epsilon=1e-05, data_format=NCDHW)",
    ),
    case(lambda: nn.SyncBatchNorm(4), text="SyncBatchNorm(num_features=4, momentum=0.9, epsilon=1e-05)"),
    case(lambda: nn.BatchNorm(4, act="relu"), text="BatchNorm()"),
    case(lambda: nn.InstanceNorm1D(4), (2, 4, 5), text="InstanceNorm1D(num_features=4, epsilon=1e-05)"),
    case(lambda: nn.InstanceNorm2D(4), text="InstanceNorm2D(num_features=4, epsilon=1e-05)"),
    case(lambda: nn.InstanceNorm3D(2), (2, 2, 3, 3, 3), text="InstanceNorm3D(num_features=2, epsilon=1e-05)"),
    case(lambda: nn.LayerNorm([6, 6]), text="LayerNorm(normalized_shape=[6, 6], epsilon=1e-05)"),
    case(lambda: nn.GroupNorm(2, 4), text="GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)"),
    case(lambda: nn.LocalResponseNorm(3), text="LocalResponseNorm(size=3, alpha=0.0001, beta=0.75, k=1.0)"),
    case(lambda: nn.SpectralNorm([4, 6], dim=1), (4, 6), text="SpectralNorm()"),
]

LOSSES = [
    case(lambda: nn.BCELoss(), between(3, 4), between(3, 4), text="BCELoss()"),
    case(lambda: nn.BCEWithLogitsLoss(), (3, 4), between(3, 4), text="BCEWithLogitsLoss()"),
    case(lambda: nn.CosineEmbeddingLoss(0.2), (3, 4), (3, 4), signs(3), text="CosineEmbeddingLoss()"),
    case(lambda: nn.CrossEntropyLoss(label_smoothing=0.1), (3, 5), labels(5, 3), text="CrossEntropyLoss()"),
    case(lambda: nn.GaussianNLLLoss(), (3, 4), (3, 4), between(3, 4), text="GaussianNLLLoss()"),
    case(lambda: nn.HingeEmbeddingLoss(), (3, 4), signs(3, 4), text="HingeEmbeddingLoss()"),
    case(lambda: nn.KLDivLoss(), (3, 4), between(3, 4), text="KLDivLoss()"),
    case(lambda: nn.L1Loss(), (3, 4), (3, 4), text="L1Loss()"),
    case(lambda: nn.MSELoss(), (3, 4), (3, 4), text="MSELoss()"),
    case(lambda: nn.MarginRankingLoss(0.3), (3, 4), (3, 4), signs(3, 4), text="MarginRankingLoss()"),
    case(lambda: nn.MultiLabelSoftMarginLoss(), (3, 4), signs(3, 4) * 0.5 + 0.5, text="MultiLabelSoftMarginLoss()"),
    case(lambda: nn.MultiMarginLoss(), (3, 5), labels(5, 3), text="MultiMarginLoss()"),
    case(lambda: nn.NLLLoss(), (3, 5), labels(5, 3), text="NLLLoss()"),
    case(lambda: nn.PoissonNLLLoss(), (3, 4), between(3, 4), text="PoissonNLLLoss()"),
    case(lambda: nn.SmoothL1Loss(), (3, 4), (3, 4), text="SmoothL1Loss()"),
    case(lambda: nn.SoftMarginLoss(), (3, 4), signs(3, 4), text="SoftMarginLoss()"),
    case(lambda: nn.TripletMarginLoss(), (3, 4), (3, 4), (3, 4), text="TripletMarginLoss()"),
    case(lambda: nn.TripletMarginWithDistanceLoss(), (3, 4), (3, 4), (3, 4), text="TripletMarginWithDistanceLoss()"),
]

NETWORKS = [
    case(lambda: nn.LSTM(3, 4), (2, 5, 3)),
    case(lambda: nn.GRU(3, 4, direction="bidirect"), (2, 5, 3)),
    case(lambda: nn.SimpleRNN(3, 4, num_layers=2), (2, 5, 3)),
    case(lambda: nn.RNN(nn.GRUCell(3, 4)), (2, 5, 3)),
    case(lambda: nn.LSTMCell(3, 4), (2, 3), text="LSTMCell(3, 4)"),
    case(lambda: nn.MultiHeadAttention(8, 2), (2, 5, 8)),
    case(lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0), (2, 5, 8)),
    case(lambda: nn.Transformer(8, 2, 1, 1, 16, 0.0), (2, 5, 8), (2, 3, 8)),
]

CASES = [*ACTIVATIONS, *COMMON, *VISION, *CONVOLUTIONS, *POOLS, *NORMS, *LOSSES, *NETWORKS]

"""MobileNetV2. Source: Sandler et al. 2018; paddle.vision.models.mobilenetv2."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...ops.shape import flatten
from ..ops import ConvNormActivation
from ._common import divisible, no_download

# How much wider inside, channels out, blocks, stride of the first.
_STAGES = [
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
]  # fmt: skip


class InvertedResidual(nn.Layer):
    """Wide inside, narrow outside: 1x1, 3x3 channel by channel, 1x1 without activation, and what came in."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = nn.BatchNorm2D) -> None:
        super().__init__()
        self.stride = stride
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        layers: list[nn.Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, hidden, 1, norm_layer=norm_layer, activation_layer=nn.ReLU6))
        layers += [
            ConvNormActivation(
                hidden, hidden, stride=stride, groups=hidden, norm_layer=norm_layer, activation_layer=nn.ReLU6
            ),
            nn.Conv2D(hidden, oup, 1, 1, 0, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """x: [N, inp, H, W] -> [N, oup, H / stride, W / stride]."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    """MobileNetV2 with `scale` times the channels. Source: paddle.vision.models.MobileNetV2.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.MobileNetV2(0.5, num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels = divisible(32 * scale)
        self.last_channel = divisible(1280 * max(1.0, scale))
        features: list[nn.Layer] = [ConvNormActivation(3, channels, stride=2, activation_layer=nn.ReLU6)]
        for ratio, wanted, count, stride in _STAGES:
            out = divisible(wanted * scale)
            for i in range(count):
                features.append(InvertedResidual(channels, out, stride if i == 0 else 1, ratio))
                channels = out
        features.append(ConvNormActivation(channels, self.last_channel, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(self.last_channel, num_classes))

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2. Source: paddle.vision.models.mobilenet_v2.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.mobilenet_v2()
        >>> sum(p.size for p in net.parameters())
        3538984
    """
    no_download(pretrained, "mobilenet_v2")
    return MobileNetV2(scale=scale, **kwargs)


__all__ = ["MobileNetV2", "mobilenet_v2"]

"""MobileNet. Source: Howard et al. 2017; paddle.vision.models.mobilenetv1."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...ops.shape import flatten
from ..ops import ConvNormActivation
from ._common import no_download

# Name, channels in and out, stride.
_BLOCKS = [
    ("conv2_1", 32, 64, 1), ("conv2_2", 64, 128, 2), ("conv3_1", 128, 128, 1), ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1), ("conv4_2", 256, 512, 2), *[(f"conv5_{i}", 512, 512, 1) for i in range(1, 6)],
    ("conv5_6", 512, 1024, 2), ("conv6", 1024, 1024, 1),
]  # fmt: skip


class DepthwiseSeparable(nn.Layer):
    """A 3x3 convolution of each channel by itself, then a 1x1 one across channels."""

    def __init__(self, inputs: int, outputs: int, stride: int, scale: float) -> None:
        super().__init__()
        inner = int(inputs * scale)
        self._depthwise_conv = ConvNormActivation(inner, inner, 3, stride, 1, groups=inner)
        self._pointwise_conv = ConvNormActivation(inner, int(outputs * scale), 1, 1, 0)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, outputs * scale, H / stride, W / stride]."""
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(nn.Layer):
    """MobileNet with `scale` times the channels. Source: paddle.vision.models.MobileNetV1.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.MobileNetV1(0.25, num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2, 1)
        self.dwsl: list[Any] = []
        for name, inputs, outputs, stride in _BLOCKS:
            self.dwsl.append(self.add_sublayer(name, DepthwiseSeparable(inputs, outputs, stride, scale)))
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.conv1(x)
        for block in self.dwsl:
            x = block(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet. Source: paddle.vision.models.mobilenet_v1.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.mobilenet_v1()
        >>> sum(p.size for p in net.parameters())
        4253864
    """
    no_download(pretrained, "mobilenet_v1")
    return MobileNetV1(scale=scale, **kwargs)


__all__ = ["MobileNetV1", "mobilenet_v1"]

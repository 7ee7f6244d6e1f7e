"""MobileNetV3. Source: Howard et al. 2019; paddle.vision.models.mobilenetv3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ... import nn
from ...ops.shape import flatten
from ..ops import ConvNormActivation
from ._common import divisible, no_download

# Channels in, kernel, channels inside, channels out, whether channels are weighed, activation, stride.
_SMALL = [
    (16, 3, 16, 16, True, "relu", 2), (16, 3, 72, 24, False, "relu", 2), (24, 3, 88, 24, False, "relu", 1),
    (24, 5, 96, 40, True, "hardswish", 2), (40, 5, 240, 40, True, "hardswish", 1),
    (40, 5, 240, 40, True, "hardswish", 1), (40, 5, 120, 48, True, "hardswish", 1),
    (48, 5, 144, 48, True, "hardswish", 1), (48, 5, 288, 96, True, "hardswish", 2),
    (96, 5, 576, 96, True, "hardswish", 1), (96, 5, 576, 96, True, "hardswish", 1),
]  # fmt: skip
_LARGE = [
    (16, 3, 16, 16, False, "relu", 1), (16, 3, 64, 24, False, "relu", 2), (24, 3, 72, 24, False, "relu", 1),
    (24, 5, 72, 40, True, "relu", 2), (40, 5, 120, 40, True, "relu", 1), (40, 5, 120, 40, True, "relu", 1),
    (40, 3, 240, 80, False, "hardswish", 2), (80, 3, 200, 80, False, "hardswish", 1),
    (80, 3, 184, 80, False, "hardswish", 1), (80, 3, 184, 80, False, "hardswish", 1),
    (80, 3, 480, 112, True, "hardswish", 1), (112, 3, 672, 112, True, "hardswish", 1),
    (112, 5, 672, 160, True, "hardswish", 2), (160, 5, 960, 160, True, "hardswish", 1),
    (160, 5, 960, 160, True, "hardswish", 1),
]  # fmt: skip
_ACTIVATIONS = {"relu": nn.ReLU, "hardswish": nn.Hardswish}


class SqueezeExcitation(nn.Layer):
    """Weighs channels by what two layers make of their means."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Any = nn.ReLU,
        scale_activation: Any = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Any) -> Any:
        """input: [N, C, H, W] -> the same."""
        scale = self.fc2(self.activation(self.fc1(self.avgpool(input))))
        return self.scale_activation(scale) * input


class InvertedResidual(nn.Layer):
    """Wide inside, narrow outside, with or without weighed channels, and what came in."""

    def __init__(
        self,
        in_channels: int,
        expanded_channels: int,
        out_channels: int,
        filter_size: int,
        stride: int,
        use_se: bool,
        activation_layer: Any,
        norm_layer: Any,
    ) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and in_channels == out_channels
        self.use_se = use_se
        self.expand = in_channels != expanded_channels
        block = partial(ConvNormActivation, norm_layer=norm_layer, activation_layer=activation_layer)
        if self.expand:
            self.expand_conv = block(in_channels, expanded_channels, 1, 1, 0)
        self.bottleneck_conv = block(
            expanded_channels, expanded_channels, filter_size, stride, (filter_size - 1) // 2, expanded_channels
        )
        if use_se:
            self.mid_se = SqueezeExcitation(
                expanded_channels, divisible(expanded_channels // 4), scale_activation=nn.Hardsigmoid
            )
        self.linear_conv = ConvNormActivation(
            expanded_channels, out_channels, 1, 1, 0, norm_layer=norm_layer, activation_layer=None
        )

    def forward(self, x: Any) -> Any:
        """x: [N, in_channels, H, W] -> [N, out_channels, H / stride, W / stride]."""
        out = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        if self.use_se:
            out = self.mid_se(out)
        out = self.linear_conv(out)
        return x + out if self.use_res_connect else out


class MobileNetV3(nn.Layer):
    """A first convolution, the blocks of a table, a last convolution and two linear layers."""

    def __init__(
        self,
        config: Sequence[Any],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        self.scale = scale
        self.last_channel = last_channel
        self.num_classes = num_classes
        self.with_pool = with_pool
        norm = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
        block = partial(ConvNormActivation, norm_layer=norm, activation_layer=nn.Hardswish)
        self.firstconv_in_channels = divisible(config[0][0] * scale)
        self.lastconv_in_channels = divisible(config[-1][3] * scale)
        self.lastconv_out_channels = self.lastconv_in_channels * 6
        self.conv = block(3, self.firstconv_in_channels, 3, 2, 1)
        self.blocks = nn.Sequential(
            *[
                InvertedResidual(
                    divisible(inputs * scale), divisible(inside * scale), divisible(outputs * scale), kernel, stride,
                    use_se, _ACTIVATIONS[activation], norm,
                )
                for inputs, kernel, inside, outputs, use_se, activation, stride in config
            ]
        )  # fmt: skip
        self.lastconv = block(self.lastconv_in_channels, self.lastconv_out_channels, 1, 1, 0)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(self.lastconv_out_channels, last_channel),
                nn.Hardswish(),
                nn.Dropout(p=0.2),
                nn.Linear(last_channel, num_classes),
            )

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


class MobileNetV3Small(MobileNetV3):
    """The small MobileNetV3. Source: paddle.vision.models.MobileNetV3Small.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.MobileNetV3Small(0.5, num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The large MobileNetV3. Source: paddle.vision.models.MobileNetV3Large.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.MobileNetV3Large(0.5, num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """The small MobileNetV3. Source: paddle.vision.models.mobilenet_v3_small.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.mobilenet_v3_small()
        >>> sum(p.size for p in net.parameters())
        2554968
    """
    no_download(pretrained, "mobilenet_v3_small")
    return MobileNetV3Small(scale=scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """The large MobileNetV3. Source: paddle.vision.models.mobilenet_v3_large.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.mobilenet_v3_large()
        >>> sum(p.size for p in net.parameters())
        5507432
    """
    no_download(pretrained, "mobilenet_v3_large")
    return MobileNetV3Large(scale=scale, **kwargs)


__all__ = ["MobileNetV3Large", "MobileNetV3Small", "mobilenet_v3_large", "mobilenet_v3_small"]

"""ShuffleNetV2. Source: Ma et al. 2018; paddle.vision.models.shufflenetv2."""

from __future__ import annotations

from functools import partial
from typing import Any

from ... import nn
from ...core.errors import ArgumentError
from ...ops.join import concat
from ...ops.rearrange import channel_shuffle
from ...ops.shape import flatten
from ..ops import ConvNormActivation
from ._common import no_download

# Channels of the first convolution, of the three stages, and of the last convolution.
_PLANS = {
    0.25: (24, 24, 48, 96, 512),
    0.33: (24, 32, 64, 128, 512),
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 224, 488, 976, 2048),
}
_REPEATS = (4, 8, 4)
_ACTIVATIONS = {"relu": nn.ReLU, "swish": nn.Swish}


class InvertedResidual(nn.Layer):
    """Half the channels pass, the other half are convolved; then they are shuffled."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, activation_layer: Any = nn.ReLU) -> None:
        super().__init__()
        half = out_channels // 2
        block = partial(ConvNormActivation, activation_layer=activation_layer)
        self._conv_pw = block(in_channels // 2, half, 1, 1, 0)
        self._conv_dw = ConvNormActivation(half, half, 3, stride, 1, groups=half, activation_layer=None)
        self._conv_linear = block(half, half, 1, 1, 0)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, C, H, W] -> the same."""
        half = inputs.shape[1] // 2
        kept, changed = inputs[:, :half], inputs[:, half:]
        changed = self._conv_linear(self._conv_dw(self._conv_pw(changed)))
        return channel_shuffle(concat([kept, changed], 1), 2)


class InvertedResidualDS(nn.Layer):
    """Two branches that halve the size; then their channels are shuffled."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, activation_layer: Any = nn.ReLU) -> None:
        super().__init__()
        half = out_channels // 2
        block = partial(ConvNormActivation, activation_layer=activation_layer)
        plain = partial(ConvNormActivation, activation_layer=None)
        self._conv_dw_1 = plain(in_channels, in_channels, 3, stride, 1, groups=in_channels)
        self._conv_linear_1 = block(in_channels, half, 1, 1, 0)
        self._conv_pw_2 = block(in_channels, half, 1, 1, 0)
        self._conv_dw_2 = plain(half, half, 3, stride, 1, groups=half)
        self._conv_linear_2 = block(half, half, 1, 1, 0)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, in_channels, H, W] -> [N, out_channels, H / stride, W / stride]."""
        first = self._conv_linear_1(self._conv_dw_1(inputs))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(concat([first, second], 1), 2)


class ShuffleNetV2(nn.Layer):
    """ShuffleNetV2 of scale 0.25, 0.33, 0.5, 1, 1.5 or 2. Source: paddle.vision.models.ShuffleNetV2.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.shufflenet_v2_x0_25(num_classes=10)
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        if scale not in _PLANS:
            raise ArgumentError(f"ShuffleNetV2: scale must be one of {', '.join(map(str, _PLANS))}, got {scale}")
        if act is not None and act not in _ACTIVATIONS:
            raise ArgumentError(f"ShuffleNetV2: act must be one of {', '.join(_ACTIVATIONS)}, got {act!r}")
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        activation = None if act is None else _ACTIVATIONS[act]
        channels, *stages, last = _PLANS[scale]
        self._conv1 = ConvNormActivation(3, channels, 3, 2, 1, activation_layer=activation)
        self._max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._block_list: list[Any] = []
        for number, (repeats, out) in enumerate(zip(_REPEATS, stages), 2):
            for i in range(repeats):
                block = (
                    InvertedResidual(out, out, 1, activation) if i else InvertedResidualDS(channels, out, 2, activation)
                )
                self._block_list.append(self.add_sublayer(f"{number}_{i + 1}", block))
            channels = out
        self._last_conv = ConvNormActivation(channels, last, 1, 1, 0, activation_layer=activation)
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, 3, H, W] -> [N, num_classes]."""
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        return self._fc(flatten(x, 1)) if self.num_classes > 0 else x


def _shufflenet(arch: str, scale: float, act: str, pretrained: bool, **kwargs: Any) -> ShuffleNetV2:
    no_download(pretrained, arch)
    return ShuffleNetV2(scale=scale, act=act, **kwargs)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.25. Source: paddle.vision.models.shufflenet_v2_x0_25.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x0_25()
        >>> sum(p.size for p in net.parameters())
        607712
    """
    return _shufflenet("shufflenet_v2_x0_25", 0.25, "relu", pretrained, **kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.33. Source: paddle.vision.models.shufflenet_v2_x0_33.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x0_33()
        >>> sum(p.size for p in net.parameters())
        652264
    """
    return _shufflenet("shufflenet_v2_x0_33", 0.33, "relu", pretrained, **kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.5. Source: paddle.vision.models.shufflenet_v2_x0_5.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x0_5()
        >>> sum(p.size for p in net.parameters())
        1374744
    """
    return _shufflenet("shufflenet_v2_x0_5", 0.5, "relu", pretrained, **kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1. Source: paddle.vision.models.shufflenet_v2_x1_0.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x1_0()
        >>> sum(p.size for p in net.parameters())
        2294784
    """
    return _shufflenet("shufflenet_v2_x1_0", 1.0, "relu", pretrained, **kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1.5. Source: paddle.vision.models.shufflenet_v2_x1_5.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x1_5()
        >>> sum(p.size for p in net.parameters())
        3527064
    """
    return _shufflenet("shufflenet_v2_x1_5", 1.5, "relu", pretrained, **kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 2. Source: paddle.vision.models.shufflenet_v2_x2_0.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_x2_0()
        >>> sum(p.size for p in net.parameters())
        7399952
    """
    return _shufflenet("shufflenet_v2_x2_0", 2.0, "relu", pretrained, **kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1 with swish. Source: paddle.vision.models.shufflenet_v2_swish.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.shufflenet_v2_swish()
        >>> sum(p.size for p in net.parameters())
        2294784
    """
    return _shufflenet("shufflenet_v2_swish", 1.0, "swish", pretrained, **kwargs)


__all__ = [
    "ShuffleNetV2", "shufflenet_v2_swish", "shufflenet_v2_x0_5", "shufflenet_v2_x0_25", "shufflenet_v2_x0_33",
    "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0",
]  # fmt: skip

"""SqueezeNet. Source: Iandola et al. 2016; paddle.vision.models.squeezenet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...core.errors import ArgumentError
from ...nn import functional as F
from ...ops.join import concat
from ...ops.shape import squeeze
from ._common import no_download

# Channels into each fire module, through its squeeze, and out of each of its two branches.
_FIRES = [
    (16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256),
]  # fmt: skip
_POOL_AFTER = {"1.0": (3, 7), "1.1": (2, 4)}


class MakeFireConv(nn.Layer):
    """A convolution and ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, padding=padding)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, outputs, H, W]."""
        return F.relu(self._conv(x))


class MakeFire(nn.Layer):
    """A 1x1 convolution to few channels, then 1x1 and 3x3 ones side by side."""

    def __init__(self, inputs: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(inputs, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, expanded, 1)
        self._conv_path2 = MakeFireConv(squeezed, expanded, 3, 1)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, C, H, W] -> [N, 2 * expanded, H, W]."""
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], 1)


class SqueezeNet(nn.Layer):
    """SqueezeNet, version "1.0" or "1.1". Source: paddle.vision.models.SqueezeNet.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.squeezenet1_1(num_classes=10)
        >>> net(paddle.ones([1, 3, 64, 64])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in _POOL_AFTER:
            raise ArgumentError(f"SqueezeNet: version must be one of {', '.join(_POOL_AFTER)}, got {version!r}")
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels = 96 if version == "1.0" else 64
        kernel, padding = (7, 0) if version == "1.0" else (3, 1)
        self._conv = nn.Conv2D(3, channels, kernel, stride=2, padding=padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        for i, (squeezed, expanded) in enumerate(_FIRES, 1):
            setattr(self, f"_conv{i}", MakeFire(channels, squeezed, expanded))
            channels = 2 * expanded
        self._drop = nn.Dropout(p=0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(512, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, 3, H, W] -> [N, num_classes]."""
        x = self._pool(F.relu(self._conv(inputs)))
        for i in range(1, 9):
            x = getattr(self, f"_conv{i}")(x)
            if i in _POOL_AFTER[self.version]:
                x = self._pool(x)
        if self.num_classes > 0:
            x = F.relu(self._conv9(self._drop(x)))
        if self.with_pool:
            x = squeeze(self._avg_pool(x), [2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0. Source: paddle.vision.models.squeezenet1_0.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.squeezenet1_0()
        >>> sum(p.size for p in net.parameters())
        1248424
    """
    no_download(pretrained, "squeezenet1_0")
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1. Source: paddle.vision.models.squeezenet1_1.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.squeezenet1_1()
        >>> sum(p.size for p in net.parameters())
        1235496
    """
    no_download(pretrained, "squeezenet1_1")
    return SqueezeNet("1.1", **kwargs)


__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

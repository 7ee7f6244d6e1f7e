"""VGG. Source: Simonyan, Zisserman 2014; paddle.vision.models.vgg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ...ops.shape import flatten
from ._common import no_download

# Channels of the convolutions; 0 is a pooling.
_PLANS = {
    11: [64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0],
    13: [64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0],
    16: [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0],
    19: [64, 64, 0, 128, 128, 0, 256, 256, 256, 256, 0, 512, 512, 512, 512, 0, 512, 512, 512, 512, 0],
}


class VGG(nn.Layer):
    """`features`, 7x7 means of them, and three linear layers. Source: paddle.vision.models.VGG.

    Example:
        >>> import vitrify as paddle
        >>> features = paddle.nn.Sequential(paddle.nn.Conv2D(3, 512, 3, padding=1), paddle.nn.MaxPool2D(2))
        >>> net = paddle.vision.models.VGG(features, num_classes=10)
        >>> net(paddle.ones([1, 3, 14, 14])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def make_layers(cfg: Sequence[Any], batch_norm: bool = False) -> nn.Layer:
    """The convolutions with the given channels; 0 and "M" are poolings."""
    layers: list[nn.Layer] = []
    channels = 3
    for wanted in cfg:
        if wanted in (0, "M"):
            layers.append(nn.MaxPool2D(kernel_size=2, stride=2))
            continue
        norm = [nn.BatchNorm2D(wanted)] if batch_norm else []
        layers += [nn.Conv2D(channels, wanted, kernel_size=3, padding=1), *norm, nn.ReLU()]
        channels = wanted
    return nn.Sequential(*layers)


def _vgg(depth: int, batch_norm: bool, pretrained: bool, **kwargs: Any) -> VGG:
    no_download(pretrained, f"vgg{depth}")
    return VGG(make_layers(_PLANS[depth], batch_norm), **kwargs)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers. Source: paddle.vision.models.vgg11.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.vgg11()
        >>> sum(p.size for p in net.parameters())
        132863336
    """
    return _vgg(11, batch_norm, pretrained, **kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers. Source: paddle.vision.models.vgg13.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.vgg13()
        >>> sum(p.size for p in net.parameters())
        133047848
    """
    return _vgg(13, batch_norm, pretrained, **kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers. Source: paddle.vision.models.vgg16.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.vgg16()
        >>> sum(p.size for p in net.parameters())
        138357544
    """
    return _vgg(16, batch_norm, pretrained, **kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers. Source: paddle.vision.models.vgg19.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.vgg19()
        >>> sum(p.size for p in net.parameters())
        143667240
    """
    return _vgg(19, batch_norm, pretrained, **kwargs)


__all__ = ["VGG", "vgg11", "vgg13", "vgg16", "vgg19"]

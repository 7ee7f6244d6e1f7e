"""AlexNet. Source: Krizhevsky, Sutskever, Hinton 2012; paddle.vision.models.alexnet."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...nn import functional as F
from ...nn.initializer import Uniform
from ...ops.shape import flatten
from ._common import no_download


def _uniform(fan_in: int) -> nn.ParamAttr:
    bound = 1 / math.sqrt(fan_in)
    return nn.ParamAttr(initializer=Uniform(-bound, bound))


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0) -> nn.Layer:
    attr = [_uniform(inputs * kernel * kernel) for _ in range(2)]
    return nn.Conv2D(inputs, outputs, kernel, stride, padding, weight_attr=attr[0], bias_attr=attr[1])


def _linear(inputs: int, outputs: int) -> nn.Layer:
    return nn.Linear(inputs, outputs, _uniform(inputs), _uniform(inputs))


class ConvPoolLayer(nn.Layer):
    """A convolution, ReLU and a maximum over 3x3."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self._conv = _conv(inputs, outputs, kernel, stride, padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, C, H, W] -> [N, outputs, H', W']."""
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(nn.Layer):
    """Five convolutions and three linear layers, for 224x224 images. Source: paddle.vision.models.AlexNet.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.AlexNet(num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 224, 224])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _conv(192, 384, 3, 1, 1)
        self._conv4 = _conv(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = _linear(256 * 6 * 6, 4096)
            self._drop2 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = _linear(4096, 4096)
            self._fc8 = _linear(4096, num_classes)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, 3, 224, 224] -> [N, num_classes]."""
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(F.relu(self._conv4(F.relu(self._conv3(x)))))
        if self.num_classes > 0:
            x = self._drop1(flatten(x, 1))
            x = self._drop2(F.relu(self._fc6(x)))
            x = self._fc8(F.relu(self._fc7(x)))
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet. Source: paddle.vision.models.alexnet.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.alexnet()
        >>> sum(p.size for p in net.parameters())
        61100840
    """
    no_download(pretrained, "alexnet")
    return AlexNet(**kwargs)


__all__ = ["AlexNet", "alexnet"]

"""GoogLeNet. Source: Szegedy et al. 2015; paddle.vision.models.googlenet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...nn import functional as F
from ...ops.join import concat
from ...ops.shape import flatten, squeeze
from ._common import no_download

# Name, channels in, and of the branches: 1x1, before 3x3, 3x3, before 5x5, 5x5, after pooling.
_BLOCKS: list[tuple[Any, ...]] = [
    ("3a", 192, 64, 96, 128, 16, 32, 32), ("3b", 256, 128, 128, 192, 32, 96, 64),
    ("4a", 480, 192, 96, 208, 16, 48, 64), ("4b", 512, 160, 112, 224, 24, 64, 64),
    ("4c", 512, 128, 128, 256, 24, 64, 64), ("4d", 512, 112, 144, 288, 32, 64, 64),
    ("4e", 528, 256, 160, 320, 32, 128, 128), ("5a", 832, 256, 160, 320, 32, 128, 128),
    ("5b", 832, 384, 192, 384, 48, 128, 128),
]  # fmt: skip


class ConvLayer(nn.Layer):
    """A convolution without bias that keeps the size at stride 1."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, stride, padding=(kernel - 1) // 2, bias_attr=False)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, C, H, W] -> [N, outputs, H / stride, W / stride]."""
        return self._conv(inputs)


class Inception(nn.Layer):
    """Four branches side by side."""

    def __init__(self, inputs: int, one: int, reduce3: int, three: int, reduce5: int, five: int, pooled: int) -> None:
        super().__init__()
        self._conv1 = ConvLayer(inputs, one, 1)
        self._conv3r = ConvLayer(inputs, reduce3, 1)
        self._conv3 = ConvLayer(reduce3, three, 3)
        self._conv5r = ConvLayer(inputs, reduce5, 1)
        self._conv5 = ConvLayer(reduce5, five, 5)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=1, padding=1)
        self._convprj = ConvLayer(inputs, pooled, 1)

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, C, H, W] -> [N, sum of the branches, H, W]."""
        branches = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return F.relu(concat(branches, 1))


class GoogLeNet(nn.Layer):
    """GoogLeNet with its two side outputs. Source: paddle.vision.models.GoogLeNet.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.GoogLeNet(num_classes=10)
        >>> _ = net.eval()
        >>> [out.shape for out in net(paddle.ones([1, 3, 224, 224]))]
        [paddle.Size([1, 10]), paddle.Size([1, 10]), paddle.Size([1, 10])]
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, *channels in _BLOCKS:
            setattr(self, f"_ince{name}", Inception(*channels))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(kernel_size=5, stride=3)
            self._pool_o2 = nn.AvgPool2D(kernel_size=5, stride=3)
        if num_classes > 0:
            self._drop = nn.Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes)
            for side, inputs in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{side}", ConvLayer(inputs, 128, 1))
                setattr(self, f"_fc_o{side}", nn.Linear(1152, 1024))
                setattr(self, f"_drop_o{side}", nn.Dropout(p=0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{side}", nn.Linear(1024, num_classes))

    def forward(self, inputs: Any) -> Any:
        """inputs: [N, 3, 224, 224] -> three of [N, num_classes]: the output, and the two on the way."""
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = self._ince4a(x)
        second = self._ince4d(self._ince4c(self._ince4b(first)))
        x = self._ince5b(self._ince5a(self._pool(self._ince4e(second))))
        if self.with_pool:
            x, first, second = self._pool_5(x), self._pool_o1(first), self._pool_o2(second)
        if self.num_classes > 0:
            x = self._fc_out(squeeze(self._drop(x), [2, 3]))
            first = self._out1(self._drop_o1(F.relu(self._fc_o1(flatten(self._conv_o1(first), 1)))))
            second = self._out2(self._drop_o2(self._fc_o2(flatten(self._conv_o2(second), 1))))
        return [x, first, second]


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet. Source: paddle.vision.models.googlenet.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.googlenet()
        >>> sum(p.size for p in net.parameters())
        11535736
    """
    no_download(pretrained, "googlenet")
    return GoogLeNet(**kwargs)


__all__ = ["GoogLeNet", "googlenet"]

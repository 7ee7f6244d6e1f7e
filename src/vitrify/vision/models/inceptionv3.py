"""InceptionV3. Source: Szegedy et al. 2016; paddle.vision.models.inceptionv3."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...ops.join import concat
from ...ops.shape import flatten
from ..ops import ConvNormActivation
from ._common import no_download

_A = ((192, 32), (256, 64), (288, 64))
_C = ((768, 128), (768, 160), (768, 160), (768, 192))
_WIDE: dict[str, Any] = {"kernel_size": (1, 7), "padding": (0, 3)}
_HIGH: dict[str, Any] = {"kernel_size": (7, 1), "padding": (3, 0)}


def _conv(inputs: int, outputs: int, kernel_size: Any = 1, stride: int = 1, padding: Any = 0) -> nn.Layer:
    return ConvNormActivation(inputs, outputs, kernel_size, stride, padding)


class InceptionStem(nn.Layer):
    """The convolutions in front of the blocks: to an eighth of the size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _conv(3, 32, 3, 2)
        self.conv_2a_3x3 = _conv(32, 32, 3)
        self.conv_2b_3x3 = _conv(32, 64, 3, padding=1)
        self.max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        self.conv_3b_1x1 = _conv(64, 80)
        self.conv_4a_3x3 = _conv(80, 192, 3)

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, 192, about H / 8, about W / 8]."""
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionA(nn.Layer):
    """1x1, 5x5, twice 3x3, and pooling, side by side."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 64)
        self.branch5x5_1 = _conv(num_channels, 48)
        self.branch5x5_2 = _conv(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _conv(num_channels, 64)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, padding=1)
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, pool_features)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, 224 + pool_features, H, W]."""
        branches = [
            self.branch1x1(x),
            self.branch5x5_2(self.branch5x5_1(x)),
            self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, 1)


class InceptionB(nn.Layer):
    """3x3, twice 3x3, and pooling, to half the size."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3 = _conv(num_channels, 384, 3, 2)
        self.branch3x3dbl_1 = _conv(num_channels, 64)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, 2)
        self.branch_pool = nn.MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, C + 480, about H / 2, about W / 2]."""
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([self.branch3x3(x), double, self.branch_pool(x)], 1)


class InceptionC(nn.Layer):
    """1x1, 7x7 and twice 7x7 as rows and columns, and pooling."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        inner = channels_7x7
        self.branch1x1 = _conv(num_channels, 192)
        self.branch7x7_1 = _conv(num_channels, inner)
        self.branch7x7_2 = _conv(inner, inner, **_WIDE)
        self.branch7x7_3 = _conv(inner, 192, **_HIGH)
        self.branch7x7dbl_1 = _conv(num_channels, inner)
        self.branch7x7dbl_2 = _conv(inner, inner, **_HIGH)
        self.branch7x7dbl_3 = _conv(inner, inner, **_WIDE)
        self.branch7x7dbl_4 = _conv(inner, inner, **_HIGH)
        self.branch7x7dbl_5 = _conv(inner, 192, **_WIDE)
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, 768, H, W]."""
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        branches = [
            self.branch1x1(x),
            self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x))),
            self.branch7x7dbl_5(self.branch7x7dbl_4(double)),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, 1)


class InceptionD(nn.Layer):
    """3x3, 7x7 with 3x3, and pooling, to half the size."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = _conv(num_channels, 192)
        self.branch3x3_2 = _conv(192, 320, 3, 2)
        self.branch7x7x3_1 = _conv(num_channels, 192)
        self.branch7x7x3_2 = _conv(192, 192, **_WIDE)
        self.branch7x7x3_3 = _conv(192, 192, **_HIGH)
        self.branch7x7x3_4 = _conv(192, 192, 3, 2)
        self.branch_pool = nn.MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, C + 512, about H / 2, about W / 2]."""
        seven = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        return concat([self.branch3x3_2(self.branch3x3_1(x)), self.branch7x7x3_4(seven), self.branch_pool(x)], 1)


class InceptionE(nn.Layer):
    """1x1, 3x3 and twice 3x3 with rows beside columns, and pooling."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(num_channels, 320)
        self.branch3x3_1 = _conv(num_channels, 384)
        self.branch3x3_2a = _conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = _conv(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = _conv(num_channels, 448)
        self.branch3x3dbl_2 = _conv(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = _conv(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _conv(num_channels, 192)

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, 2048, H, W]."""
        single, double = self.branch3x3_1(x), self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        branches = [
            self.branch1x1(x),
            self.branch3x3_2a(single),
            self.branch3x3_2b(single),
            self.branch3x3dbl_3a(double),
            self.branch3x3dbl_3b(double),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, 1)


class InceptionV3(nn.Layer):
    """InceptionV3, for images of at least 75x75. Source: paddle.vision.models.InceptionV3.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.InceptionV3(num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 96, 96])).shape
        paddle.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem = InceptionStem()
        blocks: list[nn.Layer] = [InceptionA(*channels) for channels in _A]
        blocks += [InceptionB(288), *[InceptionC(*channels) for channels in _C]]
        blocks += [InceptionD(768), InceptionE(1280), InceptionE(2048)]
        self.inception_block_list = nn.LayerList(blocks)
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(p=0.2, mode="downscale_in_infer")
            self.fc = nn.Linear(2048, num_classes)

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        return self.fc(self.dropout(flatten(x, 1))) if self.num_classes > 0 else x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """InceptionV3. Source: paddle.vision.models.inception_v3.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.inception_v3()
        >>> sum(p.size for p in net.parameters())
        23869000
    """
    no_download(pretrained, "inception_v3")
    return InceptionV3(**kwargs)


__all__ = ["InceptionV3", "inception_v3"]

"""ResNet, ResNeXt and wide ResNet. Sources: He et al. 2015; Xie et al. 2017; Zagoruyko, Komodakis 2016;
paddle.vision.models.resnet.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ... import nn
from ...ops.shape import flatten
from ._common import no_download

_DEPTHS = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}


class BasicBlock(nn.Layer):
    """Two 3x3 convolutions and what came in."""

    expansion: ClassVar[int] = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """x: [N, inplanes, H, W] -> [N, planes, H / stride, W / stride]."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """A 3x3 convolution between two 1x1 ones, and what came in."""

    expansion: ClassVar[int] = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2D(
            width, width, 3, padding=dilation, stride=stride, groups=groups, dilation=dilation, bias_attr=False
        )
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """x: [N, inplanes, H, W] -> [N, 4 * planes, H / stride, W / stride]."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Layer):
    """The residual network of `depth` layers made of `block`. Source: paddle.vision.models.ResNet.

    width: of a group of the 3x3 convolutions. num_classes: 0 leaves out the last layer; with_pool: the mean before it.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.vision.models.resnet import BasicBlock
        >>> net = paddle.vision.models.ResNet(BasicBlock, 18, num_classes=10)
        >>> net.fc.weight.shape
        paddle.Size([512, 10])
    """

    def __init__(
        self,
        block: Any,
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        counts = _DEPTHS[depth]
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._norm_layer = nn.BatchNorm2D
        self.inplanes = 64
        self.dilation = 1
        self.conv1 = nn.Conv2D(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, counts[0])
        self.layer2 = self._make_layer(block, 128, counts[1], stride=2)
        self.layer3 = self._make_layer(block, 256, counts[2], stride=2)
        self.layer4 = self._make_layer(block, 512, counts[3], stride=2)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> Any:
        downsample, norm, before = None, self._norm_layer, self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, planes * block.expansion, 1, stride=stride, bias_attr=False),
                norm(planes * block.expansion),
            )
        width = (self.groups, self.base_width)
        layers = [block(self.inplanes, planes, stride, downsample, *width, before, norm)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes, 1, None, *width, 1, norm) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """x: [N, 3, H, W] -> [N, num_classes]."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(flatten(x, 1))
        return x


def _resnet(arch: str, block: Any, depth: int, pretrained: bool, **kwargs: Any) -> ResNet:
    no_download(pretrained, arch)
    return ResNet(block, depth, **kwargs)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 18 layers. Source: paddle.vision.models.resnet18.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnet18()
        >>> sum(p.size for p in net.parameters())
        11699112
    """
    return _resnet("resnet18", BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 34 layers. Source: paddle.vision.models.resnet34.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnet34()
        >>> sum(p.size for p in net.parameters())
        21814696
    """
    return _resnet("resnet34", BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers. Source: paddle.vision.models.resnet50.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnet50()
        >>> sum(p.size for p in net.parameters())
        25610152
    """
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers. Source: paddle.vision.models.resnet101.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnet101()
        >>> sum(p.size for p in net.parameters())
        44654504
    """
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 152 layers. Source: paddle.vision.models.resnet152.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnet152()
        >>> sum(p.size for p in net.parameters())
        60344232
    """
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, **kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 32 groups of width 4. Source: paddle.vision.models.resnext50_32x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext50_32x4d()
        >>> sum(p.size for p in net.parameters())
        25097128
    """
    return _resnet("resnext50_32x4d", BottleneckBlock, 50, pretrained, groups=32, width=4, **kwargs)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 64 groups of width 4. Source: paddle.vision.models.resnext50_64x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext50_64x4d()
        >>> sum(p.size for p in net.parameters())
        45290920
    """
    return _resnet("resnext50_64x4d", BottleneckBlock, 50, pretrained, groups=64, width=4, **kwargs)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 32 groups of width 4. Source: paddle.vision.models.resnext101_32x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext101_32x4d()
        >>> sum(p.size for p in net.parameters())
        44315560
    """
    return _resnet("resnext101_32x4d", BottleneckBlock, 101, pretrained, groups=32, width=4, **kwargs)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 64 groups of width 4. Source: paddle.vision.models.resnext101_64x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext101_64x4d()
        >>> sum(p.size for p in net.parameters())
        83658152
    """
    return _resnet("resnext101_64x4d", BottleneckBlock, 101, pretrained, groups=64, width=4, **kwargs)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 32 groups of width 4. Source: paddle.vision.models.resnext152_32x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext152_32x4d()
        >>> sum(p.size for p in net.parameters())
        60150696
    """
    return _resnet("resnext152_32x4d", BottleneckBlock, 152, pretrained, groups=32, width=4, **kwargs)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 64 groups of width 4. Source: paddle.vision.models.resnext152_64x4d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.resnext152_64x4d()
        >>> sum(p.size for p in net.parameters())
        115266984
    """
    return _resnet("resnext152_64x4d", BottleneckBlock, 152, pretrained, groups=64, width=4, **kwargs)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers, twice as wide inside. Source: paddle.vision.models.wide_resnet50_2.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.wide_resnet50_2()
        >>> sum(p.size for p in net.parameters())
        68951464
    """
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, width=128, **kwargs)


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers, twice as wide inside. Source: paddle.vision.models.wide_resnet101_2.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.wide_resnet101_2()
        >>> sum(p.size for p in net.parameters())
        127024552
    """
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, width=128, **kwargs)


__all__ = [
    "ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext50_64x4d",
    "resnext101_32x4d", "resnext101_64x4d", "resnext152_32x4d", "resnext152_64x4d", "wide_resnet50_2",
    "wide_resnet101_2",
]  # fmt: skip

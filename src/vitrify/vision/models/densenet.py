"""DenseNet. Source: Huang et al. 2017; paddle.vision.models.densenet."""

from __future__ import annotations

import math
from typing import Any

from ... import nn
from ...core.errors import ArgumentError
from ...nn.initializer import Uniform
from ...ops.join import concat
from ...ops.shape import flatten
from ._common import no_download

# Channels of the first convolution, of each layer, and layers of each block.
_PLANS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(nn.Layer):
    """A norm with activation, then a convolution."""

    def __init__(self, inputs: int, outputs: int, kernel: int, padding: int = 0) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm(inputs, act="relu")
        self._conv = nn.Conv2D(inputs, outputs, kernel, padding=padding, bias_attr=False)

    def forward(self, input: Any) -> Any:
        """input: [N, inputs, H, W] -> [N, outputs, H, W]."""
        return self._conv(self._batch_norm(input))


class ConvBNLayer(nn.Layer):
    """A convolution, then a norm with activation."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, padding: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, stride, padding, bias_attr=False)
        self._batch_norm = nn.BatchNorm(outputs, act="relu")

    def forward(self, input: Any) -> Any:
        """input: [N, inputs, H, W] -> [N, outputs, H / stride, W / stride]."""
        return self._batch_norm(self._conv(input))


class DenseLayer(nn.Layer):
    """What came in, and `growth_rate` more channels."""

    def __init__(self, inputs: int, growth_rate: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(inputs, bn_size * growth_rate, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth_rate, growth_rate, 3, 1)
        if dropout:
            self.dropout_func = nn.Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, input: Any) -> Any:
        """input: [N, C, H, W] -> [N, C + growth_rate, H, W]."""
        found = self.bn_ac_func2(self.bn_ac_func1(input))
        return concat([input, self.dropout_func(found) if self.dropout else found], 1)


class DenseBlock(nn.Layer):
    """Several dense layers."""

    def __init__(self, inputs: int, layers: int, bn_size: int, growth_rate: int, dropout: float, name: str) -> None:
        super().__init__()
        self.dense_layer_func: list[Any] = []
        for i in range(layers):
            layer = DenseLayer(inputs + i * growth_rate, growth_rate, bn_size, dropout)
            self.dense_layer_func.append(self.add_sublayer(f"{name}_{i + 1}", layer))

    def forward(self, input: Any) -> Any:
        """input: [N, C, H, W] -> [N, C + layers * growth_rate, H, W]."""
        for layer in self.dense_layer_func:
            input = layer(input)
        return input


class TransitionLayer(nn.Layer):
    """Half the channels, half the size."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(inputs, outputs, 1)
        self.pool2d_avg = nn.AvgPool2D(kernel_size=2, stride=2, padding=0)

    def forward(self, input: Any) -> Any:
        """input: [N, inputs, H, W] -> [N, outputs, H / 2, W / 2]."""
        return self.pool2d_avg(self.conv_ac_func(input))


class DenseNet(nn.Layer):
    """DenseNet with 121, 161, 169, 201 or 264 layers. Source: paddle.vision.models.DenseNet.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.vision.models.DenseNet(121, num_classes=10)
        >>> _ = net.eval()
        >>> net(paddle.ones([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    """

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if layers not in _PLANS:
            raise ArgumentError(f"DenseNet: layers must be one of {', '.join(map(str, _PLANS))}, got {layers}")
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, growth, counts = _PLANS[layers]
        self.conv1_func = ConvBNLayer(3, channels, 7, 2, 3)
        self.pool2d_max = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self.block_config = counts
        self.dense_block_func_list: list[Any] = []
        self.transition_func_list: list[Any] = []
        for i, count in enumerate(counts):
            block = DenseBlock(channels, count, bn_size, growth, dropout, f"conv{i + 2}")
            self.dense_block_func_list.append(self.add_sublayer(f"db_conv_{i + 2}", block))
            channels += count * growth
            if i < len(counts) - 1:
                transition = TransitionLayer(channels, channels // 2)
                self.transition_func_list.append(self.add_sublayer(f"tr_conv{i + 2}_blk", transition))
                channels //= 2
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(channels)
            self.out = nn.Linear(channels, num_classes, nn.ParamAttr(initializer=Uniform(-bound, bound)))

    def forward(self, input: Any) -> Any:
        """input: [N, 3, H, W] -> [N, num_classes]."""
        x = self.pool2d_max(self.conv1_func(input))
        for i, block in enumerate(self.dense_block_func_list):
            x = block(x)
            if i < len(self.transition_func_list):
                x = self.transition_func_list[i](x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.out(flatten(x, 1)) if self.num_classes > 0 else x


def _densenet(layers: int, pretrained: bool, **kwargs: Any) -> DenseNet:
    no_download(pretrained, f"densenet{layers}")
    return DenseNet(layers=layers, **kwargs)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers. Source: paddle.vision.models.densenet121.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.densenet121()
        >>> sum(p.size for p in net.parameters())
        8062504
    """
    return _densenet(121, pretrained, **kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers. Source: paddle.vision.models.densenet161.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.densenet161()
        >>> sum(p.size for p in net.parameters())
        28900936
    """
    return _densenet(161, pretrained, **kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers. Source: paddle.vision.models.densenet169.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.densenet169()
        >>> sum(p.size for p in net.parameters())
        14307880
    """
    return _densenet(169, pretrained, **kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers. Source: paddle.vision.models.densenet201.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.densenet201()
        >>> sum(p.size for p in net.parameters())
        20242984
    """
    return _densenet(201, pretrained, **kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 264 layers. Source: paddle.vision.models.densenet264.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.vision.models.densenet264()
        >>> sum(p.size for p in net.parameters())
        33736232
    """
    return _densenet(264, pretrained, **kwargs)


__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "densenet264"]

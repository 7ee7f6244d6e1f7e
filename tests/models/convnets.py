"""Classifiers in the style of PaddleClas: RepVGG with re-parameterization, ConvNeXt, PP-LCNet, HRNet."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, normal
from vitrify import ParamAttr, nn
from vitrify.nn.initializer import Constant, KaimingNormal, TruncatedNormal
from vitrify.regularizer import L2Decay

trunc_normal_ = TruncatedNormal(std=0.02)
zeros_, ones_ = Constant(value=0.0), Constant(value=1.0)


class RepVGGBlock(nn.Layer):
    def __init__(self, in_channels, out_channels, stride=1, groups=1):
        super().__init__()
        self.in_channels, self.groups, self.stride = in_channels, groups, stride
        self.nonlinearity = nn.ReLU()
        identity = out_channels == in_channels and stride == 1
        self.rbr_identity = nn.BatchNorm2D(num_features=in_channels) if identity else None
        self.rbr_dense = self.conv_bn(in_channels, out_channels, 3, stride, 1, groups)
        self.rbr_1x1 = self.conv_bn(in_channels, out_channels, 1, stride, 0, groups)

    def conv_bn(self, in_channels, out_channels, kernel_size, stride, padding, groups):
        conv = nn.Conv2D(in_channels, out_channels, kernel_size, stride, padding, groups=groups, bias_attr=False)
        return nn.Sequential(("conv", conv), ("bn", nn.BatchNorm2D(num_features=out_channels)))

    def forward(self, inputs):
        id_out = 0 if self.rbr_identity is None else self.rbr_identity(inputs)
        return self.nonlinearity(self.rbr_dense(inputs) + self.rbr_1x1(inputs) + id_out)

    def reparameterized(self, inputs):
        kernel, bias = self.get_equivalent_kernel_bias()
        return self.nonlinearity(F.conv2d(inputs, kernel, bias, self.stride, 1, groups=self.groups))

    def get_equivalent_kernel_bias(self):
        kernel3x3, bias3x3 = self._fuse_bn_tensor(self.rbr_dense)
        kernel1x1, bias1x1 = self._fuse_bn_tensor(self.rbr_1x1)
        kernelid, biasid = self._fuse_bn_tensor(self.rbr_identity)
        return kernel3x3 + F.pad(kernel1x1, [1, 1, 1, 1]) + kernelid, bias3x3 + bias1x1 + biasid

    def _fuse_bn_tensor(self, branch):
        if branch is None:
            return 0, 0
        if isinstance(branch, nn.Sequential):
            kernel, bn = branch.conv.weight, branch.bn
        else:
            assert isinstance(branch, nn.BatchNorm2D)
            input_dim = self.in_channels // self.groups
            kernel_value = np.zeros((self.in_channels, input_dim, 3, 3), dtype=np.float32)
            for i in range(self.in_channels):
                kernel_value[i, i % input_dim, 1, 1] = 1
            kernel, bn = paddle.to_tensor(kernel_value), branch
        std = (bn._variance + bn._epsilon).sqrt()
        return kernel * (bn.weight / std).reshape((-1, 1, 1, 1)), bn.bias - bn._mean * bn.weight / std


class RepVGG(nn.Layer):
    def __init__(self, class_num=3):
        super().__init__()
        self.stages = nn.Sequential(RepVGGBlock(3, 8, stride=2), RepVGGBlock(8, 8, groups=2), RepVGGBlock(8, 12, 2))
        self.gap = nn.AdaptiveAvgPool2D(output_size=1)
        self.linear = nn.Linear(12, class_num)

    def forward(self, x):
        return self.linear(paddle.flatten(self.gap(self.stages(x)), start_axis=1))

    def deployed(self, x):
        for stage in self.stages:
            x = stage.reparameterized(x)
        return self.linear(paddle.flatten(self.gap(x), start_axis=1))


class ChannelsFirstLayerNorm(nn.Layer):
    def __init__(self, normalized_shape, epsilon=1e-5):
        super().__init__()
        self.weight = self.create_parameter(shape=[normalized_shape], default_initializer=ones_)
        self.bias = self.create_parameter(shape=[normalized_shape], default_initializer=zeros_)
        self.epsilon = epsilon

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / paddle.sqrt(s + self.epsilon)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class ConvNeXtBlock(nn.Layer):
    def __init__(self, dim, layer_scale_init_value=1e-6):
        super().__init__()
        self.dwconv = nn.Conv2D(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, epsilon=1e-6)
        self.pwconv1, self.act, self.pwconv2 = nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)
        self.gamma = self.create_parameter([dim], default_initializer=Constant(value=layer_scale_init_value))

    def forward(self, x):
        y = self.norm(self.dwconv(x).transpose([0, 2, 3, 1]))
        y = self.gamma * self.pwconv2(self.act(self.pwconv1(y)))
        return x + y.transpose([0, 3, 1, 2])


class ConvNeXt(nn.Layer):
    def __init__(self, depths=(1, 1), dims=(8, 12), class_num=3):
        super().__init__()
        self.downsample_layers = nn.LayerList()
        self.downsample_layers.append(nn.Sequential(nn.Conv2D(3, dims[0], 4, 4), ChannelsFirstLayerNorm(dims[0], 1e-6)))
        for i in range(len(dims) - 1):
            down = nn.Conv2D(dims[i], dims[i + 1], kernel_size=2, stride=2)
            self.downsample_layers.append(nn.Sequential(ChannelsFirstLayerNorm(dims[i], epsilon=1e-6), down))
        self.stages = nn.LayerList()
        for depth, dim in zip(depths, dims):
            self.stages.append(nn.Sequential(*[ConvNeXtBlock(dim, 0.5) for _ in range(depth)]))
        self.norm, self.head = nn.LayerNorm(dims[-1], epsilon=1e-6), nn.Linear(dims[-1], class_num)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, (nn.Conv2D, nn.Linear)):
            trunc_normal_(m.weight)
            if m.bias is not None:
                zeros_(m.bias)

    def forward(self, x):
        for downsample, stage in zip(self.downsample_layers, self.stages):
            x = stage(downsample(x))
        return self.head(self.norm(x.mean([-2, -1])))


class ConvBNLayer(nn.Layer):
    def __init__(self, num_channels, num_filters, filter_size, stride=1, num_groups=1, act="hardswish"):
        super().__init__()
        self.conv = nn.Conv2D(
            num_channels, num_filters, filter_size, stride=stride, padding=(filter_size - 1) // 2, groups=num_groups,
            weight_attr=ParamAttr(initializer=KaimingNormal(), learning_rate=1.0), bias_attr=False,
        )  # fmt: skip
        decay = ParamAttr(regularizer=L2Decay(0.0))
        self.bn = nn.BatchNorm2D(num_filters, weight_attr=decay, bias_attr=decay)
        self.act = {"hardswish": nn.Hardswish, "relu": nn.ReLU, None: nn.Identity}[act]()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class SEModule(nn.Layer):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.avg_pool, self.relu, self.hardsigmoid = nn.AdaptiveAvgPool2D(1), nn.ReLU(), nn.Hardsigmoid()
        self.conv1 = nn.Conv2D(channel, channel // reduction, 1)
        self.conv2 = nn.Conv2D(channel // reduction, channel, 1)

    def forward(self, x):
        return paddle.multiply(x=x, y=self.hardsigmoid(self.conv2(self.relu(self.conv1(self.avg_pool(x))))))


class PPLCNet(nn.Layer):
    def __init__(self, class_num=3, class_expand=16):
        super().__init__()
        self.conv1 = ConvBNLayer(3, 8, 3, 2)
        config = {"blocks2": (3, 8, 8, 1, False), "blocks6": (5, 8, 16, 2, True)}
        for name, (k, in_c, out_c, s, use_se) in config.items():
            se = [SEModule(in_c)] if use_se else []
            block = [ConvBNLayer(in_c, in_c, k, s, num_groups=in_c), *se, ConvBNLayer(in_c, out_c, 1)]
            setattr(self, name, nn.Sequential(*block))
        self.avg_pool, self.hardswish = nn.AdaptiveAvgPool2D(1), nn.Hardswish()
        self.last_conv = nn.Conv2D(16, class_expand, 1, bias_attr=False)
        self.dropout = nn.Dropout(p=0.2, mode="downscale_in_infer")
        self.flatten, self.fc = nn.Flatten(start_axis=1, stop_axis=-1), nn.Linear(class_expand, class_num)

    def forward(self, x):
        x = self.blocks6(self.blocks2(self.conv1(x)))
        x = self.dropout(self.hardswish(self.last_conv(self.avg_pool(x))))
        return self.fc(self.flatten(x))


class HRNet(nn.Layer):
    """Two resolutions that exchange what they see."""

    def __init__(self, class_num=3):
        super().__init__()
        self.stem = ConvBNLayer(3, 8, 3, 2, act="relu")
        self.high, self.low = ConvBNLayer(8, 8, 3, act="relu"), ConvBNLayer(8, 12, 3, 2, act="relu")
        self.residual_func_list = []
        for name, layer in (("up", ConvBNLayer(12, 8, 1, act=None)), ("down", ConvBNLayer(8, 12, 3, 2, act=None))):
            self.residual_func_list.append(self.add_sublayer(f"residual_{name}", layer))
        self.out = nn.Linear(12 + 8, class_num)

    def forward(self, x):
        x = self.stem(x)
        high, low = self.high(x), self.low(x)
        up = F.upsample(self.residual_func_list[0](low), scale_factor=2, mode="nearest")
        fused = [F.relu(paddle.add(x=high, y=up)), F.relu(paddle.add(low, self.residual_func_list[1](high)))]
        return self.out(paddle.concat([paddle.mean(y, axis=[2, 3]) for y in fused], axis=1))


def images(n=16):
    return normal(3, n, n)


def smoothed(logits, label):
    target = F.label_smooth(F.one_hot(label, 3), epsilon=0.1)
    return paddle.sum(-F.log_softmax(logits, axis=-1) * target, axis=-1).mean()


CASES = [
    Case(
        name="RepVGG", build=RepVGG, inputs=images(), labels=integers(3), loss=F.cross_entropy,
        calls=(Call("deployed", images()),),
    ),
    Case(name="ConvNeXt", build=ConvNeXt, inputs=images(), labels=integers(3), loss=smoothed),
    Case(name="PP-LCNet", build=PPLCNet, inputs=images(), labels=integers(3), loss=F.cross_entropy),
    Case(name="HRNet", build=HRNet, inputs=images(), labels=integers(3), loss=F.cross_entropy),
]  # fmt: skip

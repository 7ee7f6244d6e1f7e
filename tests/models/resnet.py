"""ResNet: blocks by class attribute, shortcuts, an initialization loop over the sublayers."""

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers, normal
from vitrify import nn


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    return nn.Conv2D(
        in_planes, out_planes, kernel_size=3, stride=stride, padding=dilation, groups=groups, bias_attr=False,
        dilation=dilation,
    )  # fmt: skip


class BasicBlock(nn.Layer):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2D
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU()
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class Bottleneck(nn.Layer):
    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2D
        self.conv1 = nn.Conv2D(inplanes, planes, 1, bias_attr=False)
        self.bn1 = norm_layer(planes)
        self.conv2 = conv3x3(planes, planes, stride)
        self.bn2 = norm_layer(planes)
        self.conv3 = nn.Conv2D(planes, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(paddle.add(out, identity))


class ResNet(nn.Layer):
    def __init__(self, block, depth, width=4, num_classes=5, with_pool=True):
        super().__init__()
        layers = {18: [2, 2, 2, 2], 50: [3, 4, 6, 3]}[depth]
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inplanes = width
        self.conv1 = nn.Conv2D(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(self.inplanes)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for i, n in enumerate(layers):
            stage = self._make_layer(block, width * 2**i, n, stride=1 if i == 0 else 2)
            setattr(self, f"layer{i + 1}", stage)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(width * 8 * block.expansion, num_classes)
        self._init_weights()

    def _init_weights(self):
        for m in self.sublayers():
            if isinstance(m, nn.Conv2D):
                n = m._kernel_size[0] * m._kernel_size[1] * m._out_channels
                m.weight.set_value(paddle.normal(std=(2.0 / n) ** 0.5, shape=m.weight.shape))
            elif isinstance(m, (nn.BatchNorm2D, nn.GroupNorm)):
                nn.initializer.Constant(1.0)(m.weight)
                nn.initializer.Constant(0.0)(m.bias)
        for m in self.sublayers():  # as "zero_init_residual", but each gradient shall be there
            if isinstance(m, (Bottleneck, BasicBlock)):
                last = m.bn3 if m.__class__.__name__ == "Bottleneck" else m.bn2
                nn.initializer.Constant(0.2)(last.weight)

    def _make_layer(self, block, planes, blocks, stride=1):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, planes * block.expansion, 1, stride=stride, bias_attr=False),
                nn.BatchNorm2D(planes * block.expansion),
            )
        layers = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            layers.append(block(self.inplanes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for i in range(4):
            x = getattr(self, f"layer{i + 1}")(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = paddle.flatten(x, 1)
            x = self.fc(x)
        return x


CASES = [
    Case(
        "ResNet-18", lambda: ResNet(BasicBlock, 18), normal(3, 64, 64), F.cross_entropy, integers(5),
        specs=((None, 3, None, None),), sizes=(4, 5),
    ),
    Case(
        "ResNet-50", lambda: ResNet(Bottleneck, 50), normal(3, 64, 64), F.cross_entropy, integers(5),
        sizes=(4, 5), slow=True,
    ),
]  # fmt: skip

"""MobileNetV3 in the style of PaddleClas: a config table, squeeze and excitation; and Paddle's own."""

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers, normal
from vitrify import ParamAttr, nn
from vitrify.nn.initializer import KaimingNormal
from vitrify.regularizer import L2Decay
from vitrify.vision.models import mobilenet_v3_small

# k, exp, c, se, act, s
NET_CONFIG = {
    "tiny": [
        [3, 16, 16, True, "relu", 2],
        [3, 72, 24, False, "relu", 2],
        [3, 88, 24, False, "relu", 1],
        [5, 96, 40, True, "hardswish", 2],
        [5, 240, 40, True, "hardswish", 1],
    ],
}
MODEL_STAGES_PATTERN = {"MobileNetV3": ["blocks[0]", "blocks[2]", "blocks[4]"]}


def _make_divisible(v, divisor=8, min_value=None):
    if min_value is None:
        min_value = divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    if new_v < 0.9 * v:
        new_v += divisor
    return new_v


def _create_act(act):
    if act == "hardswish":
        return nn.Hardswish()
    elif act == "relu":
        return nn.ReLU()
    elif act is None:
        return None
    else:
        raise RuntimeError(f"The activation function is not supported: {act}")


class ConvBNLayer(nn.Layer):
    def __init__(self, in_c, out_c, filter_size, stride, padding, num_groups=1, if_act=True, act=None):
        super().__init__()
        self.conv = nn.Conv2D(in_c, out_c, filter_size, stride, padding, groups=num_groups, bias_attr=False)
        self.bn = nn.BatchNorm(
            num_channels=out_c,
            act=None,
            param_attr=ParamAttr(regularizer=L2Decay(0.0)),
            bias_attr=ParamAttr(regularizer=L2Decay(0.0)),
        )
        self.if_act = if_act
        self.act = _create_act(act)

    def forward(self, x):
        x = self.conv(x)
        x = self.bn(x)
        if self.if_act:
            x = self.act(x)
        return x


class Hardsigmoid(nn.Layer):
    def __init__(self, slope=0.2, offset=0.5):
        super().__init__()
        self.slope = slope
        self.offset = offset

    def forward(self, x):
        return F.hardsigmoid(x, slope=self.slope, offset=self.offset)


class SEModule(nn.Layer):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.conv1 = nn.Conv2D(channel, channel // reduction, 1)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(channel // reduction, channel, 1)
        self.hardsigmoid = Hardsigmoid(slope=0.2, offset=0.5)

    def forward(self, x):
        identity = x
        x = self.avg_pool(x)
        x = self.conv2(self.relu(self.conv1(x)))
        x = self.hardsigmoid(x)
        return paddle.multiply(x=identity, y=x)


class ResidualUnit(nn.Layer):
    def __init__(self, in_c, mid_c, out_c, filter_size, stride, use_se, act=None):
        super().__init__()
        self.if_shortcut = stride == 1 and in_c == out_c
        self.if_se = use_se
        self.expand_conv = ConvBNLayer(in_c, mid_c, 1, 1, 0, if_act=True, act=act)
        self.bottleneck_conv = ConvBNLayer(
            mid_c, mid_c, filter_size, stride, int((filter_size - 1) // 2), num_groups=mid_c, if_act=True, act=act
        )
        if self.if_se:
            self.mid_se = SEModule(mid_c)
        self.linear_conv = ConvBNLayer(mid_c, out_c, 1, 1, 0, if_act=False, act=None)

    def forward(self, x):
        identity = x
        x = self.expand_conv(x)
        x = self.bottleneck_conv(x)
        if self.if_se:
            x = self.mid_se(x)
        x = self.linear_conv(x)
        if self.if_shortcut:
            x = paddle.add(identity, x)
        return x


class MobileNetV3(nn.Layer):
    def __init__(
        self, config, stages_pattern, scale=0.5, class_num=5, inplanes=16, dropout_prob=0.2, return_stages=None
    ):
        super().__init__()
        self.cfg = config
        self.scale = scale
        self.conv = ConvBNLayer(3, _make_divisible(inplanes * scale), 3, 2, 1, 1, True, "hardswish")
        self.blocks = nn.Sequential(
            *[
                ResidualUnit(
                    in_c=_make_divisible(inplanes * scale if i == 0 else self.cfg[i - 1][2] * scale),
                    mid_c=_make_divisible(scale * exp),
                    out_c=_make_divisible(scale * c),
                    filter_size=k,
                    stride=s,
                    use_se=se,
                    act=act,
                )
                for i, (k, exp, c, se, act, s) in enumerate(self.cfg)
            ]
        )
        self.last_second_conv = ConvBNLayer(
            _make_divisible(self.cfg[-1][2] * scale),
            _make_divisible(scale * self.cfg[-1][1]),
            1,
            1,
            0,
            1,
            True,
            "hardswish",
        )
        self.avg_pool = nn.AdaptiveAvgPool2D(1)
        self.last_conv = nn.Conv2D(
            _make_divisible(scale * self.cfg[-1][1]),
            32,
            1,
            weight_attr=ParamAttr(initializer=KaimingNormal()),
            bias_attr=False,
        )
        self.hardswish = nn.Hardswish()
        self.dropout = nn.Dropout(p=dropout_prob, mode="downscale_in_infer") if dropout_prob is not None else None
        self.flatten = nn.Flatten(start_axis=1, stop_axis=-1)
        self.fc = nn.Linear(32, class_num)
        self.return_patterns = [stages_pattern[i] for i in return_stages or []]

    def forward(self, x):
        x = self.conv(x)
        stages = {}
        for i, block in enumerate(self.blocks):
            x = block(x)
            if f"blocks[{i}]" in self.return_patterns:
                stages[f"blocks[{i}]"] = x
        x = self.last_second_conv(x)
        x = self.avg_pool(x)
        x = self.hardswish(self.last_conv(x))
        if self.dropout is not None:
            x = self.dropout(x)
        x = self.fc(self.flatten(x))
        if stages:
            stages["logits"] = x
            return stages
        return x


def build(**kwargs):
    return MobileNetV3(config=NET_CONFIG["tiny"], stages_pattern=MODEL_STAGES_PATTERN["MobileNetV3"], **kwargs)


def loss_of_stages(outputs, labels):
    return F.cross_entropy(outputs["logits"], labels) + 0.1 * paddle.mean(outputs["blocks[2]"] ** 2)


CASES = [
    Case("MobileNetV3", build, normal(3, 64, 64), F.cross_entropy, integers(5), sizes=(4, 5)),
    Case(
        "MobileNetV3 with stages", lambda: build(return_stages=[0, 1]), normal(3, 32, 32), loss_of_stages, integers(5),
        slow=True,
    ),
    Case(
        "MobileNetV3 of paddle.vision", lambda: mobilenet_v3_small(scale=0.25, num_classes=4), normal(3, 64, 64),
        F.cross_entropy, integers(4), sizes=(4, 6), rate=0.002, slow=True,
    ),
]  # fmt: skip

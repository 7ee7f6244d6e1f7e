"""Segmentation in the style of PaddleSeg: U-Net, and DeepLab with atrous pyramid pooling and an auxiliary head."""

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, normal
from vitrify import nn


class Registry(dict):
    def add(self, cls):
        self[cls.__name__] = cls
        return cls


MODELS = Registry()
BACKBONES = Registry()


class ConvBNReLU(nn.Layer):
    def __init__(self, in_channels, out_channels, kernel_size, padding="same", **kwargs):
        super().__init__()
        self._conv = nn.Conv2D(in_channels, out_channels, kernel_size, padding=padding, **kwargs)
        if "data_format" in kwargs:
            data_format = kwargs["data_format"]
        else:
            data_format = "NCHW"
        self._batch_norm = nn.BatchNorm2D(out_channels, data_format=data_format)
        self._relu = nn.ReLU()

    def forward(self, x):
        return self._relu(self._batch_norm(self._conv(x)))


class Encoder(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.double_conv = nn.Sequential(ConvBNReLU(3, width, 3), ConvBNReLU(width, width, 3))
        down_channels = [[width, 2 * width], [2 * width, 2 * width]]
        self.down_sample_list = nn.LayerList([self.down_sampling(channel[0], channel[1]) for channel in down_channels])

    def down_sampling(self, in_channels, out_channels):
        modules = []
        modules.append(nn.MaxPool2D(kernel_size=2, stride=2))
        modules.append(ConvBNReLU(in_channels, out_channels, 3))
        modules.append(ConvBNReLU(out_channels, out_channels, 3))
        return nn.Sequential(*modules)

    def forward(self, x):
        short_cuts = []
        x = self.double_conv(x)
        for down_sample in self.down_sample_list:
            short_cuts.append(x)
            x = down_sample(x)
        return x, short_cuts


class UpSampling(nn.Layer):
    def __init__(self, in_channels, out_channels, align_corners, use_deconv=False):
        super().__init__()
        self.align_corners = align_corners
        self.use_deconv = use_deconv
        if self.use_deconv:
            self.deconv = nn.Conv2DTranspose(in_channels, out_channels // 2, kernel_size=2, stride=2, padding=0)
            in_channels = in_channels + out_channels // 2
        else:
            in_channels *= 2
        self.double_conv = nn.Sequential(
            ConvBNReLU(in_channels, out_channels, 3), ConvBNReLU(out_channels, out_channels, 3)
        )

    def forward(self, x, short_cut):
        if self.use_deconv:
            x = self.deconv(x)
        else:
            x = F.interpolate(x, paddle.shape(short_cut)[2:], mode="bilinear", align_corners=self.align_corners)
        x = paddle.concat([x, short_cut], axis=1)
        return self.double_conv(x)


class Decoder(nn.Layer):
    def __init__(self, width, align_corners, use_deconv=False):
        super().__init__()
        up_channels = [[2 * width, width], [width, width]]
        self.up_sample_list = nn.LayerList([UpSampling(c[0], c[1], align_corners, use_deconv) for c in up_channels])

    def forward(self, x, short_cuts):
        for i in range(len(short_cuts)):
            x = self.up_sample_list[i](x, short_cuts[-(i + 1)])
        return x


@MODELS.add
class UNet(nn.Layer):
    def __init__(self, num_classes, width=4, align_corners=False, use_deconv=False):
        super().__init__()
        self.encode = Encoder(width)
        self.decode = Decoder(width, align_corners, use_deconv=use_deconv)
        self.cls = self.conv = nn.Conv2D(
            in_channels=width, out_channels=num_classes, kernel_size=3, stride=1, padding=1
        )

    def forward(self, x):
        logit_list = []
        x, short_cuts = self.encode(x)
        x = self.decode(x, short_cuts)
        logit = self.cls(x)
        logit_list.append(logit)
        return logit_list

    @paddle.no_grad()
    def predict(self, x):
        logits = self.forward(x)[0]
        pred = paddle.argmax(logits, axis=1, keepdim=True, dtype="int32")
        return pred, F.softmax(logits, axis=1).max(axis=1)


@BACKBONES.add
class TinyBackbone(nn.Layer):
    def __init__(self, width=4):
        super().__init__()
        self.stem = ConvBNReLU(3, width, 3, padding=1, stride=2)
        self.stages = nn.LayerList(
            [ConvBNReLU(width * 2**i, width * 2 ** (i + 1), 3, padding=1, stride=2 if i < 2 else 1) for i in range(3)]
        )
        self.feat_channels = [width * 2 ** (i + 1) for i in range(3)]

    def forward(self, x):
        x = self.stem(x)
        feats = []
        for stage in self.stages:
            x = stage(x)
            feats.append(x)
        return feats


class ASPPModule(nn.Layer):
    def __init__(self, aspp_ratios, in_channels, out_channels, align_corners, use_sep_conv=False, image_pooling=False):
        super().__init__()
        self.align_corners = align_corners
        self.aspp_blocks = nn.LayerList()
        for ratio in aspp_ratios:
            block = ConvBNReLU(
                in_channels=in_channels,
                out_channels=out_channels,
                kernel_size=1 if ratio == 1 else 3,
                dilation=ratio,
                padding=0 if ratio == 1 else ratio,
            )
            self.aspp_blocks.append(block)
        out_size = len(self.aspp_blocks)
        if image_pooling:
            self.global_avg_pool = nn.Sequential(
                nn.AdaptiveAvgPool2D(output_size=(1, 1)), nn.Conv2D(in_channels, out_channels, 1, bias_attr=False)
            )
            out_size += 1
        self.image_pooling = image_pooling
        self.conv_bn_relu = ConvBNReLU(in_channels=out_channels * out_size, out_channels=out_channels, kernel_size=1)
        self.dropout = nn.Dropout(p=0.1)

    def forward(self, x):
        outputs = []
        interpolate_shape = paddle.shape(x)[2:]
        for block in self.aspp_blocks:
            y = block(x)
            outputs.append(y)
        if self.image_pooling:
            img_avg = self.global_avg_pool(x)
            img_avg = F.interpolate(img_avg, interpolate_shape, mode="bilinear", align_corners=self.align_corners)
            outputs.append(img_avg)
        x = paddle.concat(outputs, axis=1)
        return self.dropout(self.conv_bn_relu(x))


class AuxHead(nn.Layer):
    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.block = nn.Sequential(
            ("conv_bn", ConvBNReLU(in_channels, in_channels // 2, 3, padding=1)),
            ("cls", nn.Conv2D(in_channels // 2, num_classes, 1)),
        )

    def forward(self, x):
        return self.block(x)


@MODELS.add
class DeepLabV3P(nn.Layer):
    def __init__(self, num_classes, backbone, backbone_indices=(0, -1), aspp_ratios=(1, 2, 3), out_channels=8):
        super().__init__()
        self.backbone = BACKBONES[backbone.pop("type")](**backbone)
        self.backbone_indices = backbone_indices
        channels = [self.backbone.feat_channels[i] for i in backbone_indices]
        self.aspp = ASPPModule(aspp_ratios, channels[-1], out_channels, align_corners=False, image_pooling=True)
        self.low = ConvBNReLU(channels[0], 4, 1)
        self.head = nn.Sequential(
            ConvBNReLU(out_channels + 4, out_channels, 3, padding=1), nn.Conv2D(out_channels, num_classes, 1)
        )
        self.aux = AuxHead(self.backbone.feat_channels[1], num_classes)
        self.init_weight()

    def init_weight(self):
        for sublayer in self.sublayers():
            if isinstance(sublayer, nn.Conv2D):
                nn.initializer.KaimingNormal()(sublayer.weight)
            elif isinstance(sublayer, (nn.BatchNorm, nn.BatchNorm2D, nn.SyncBatchNorm)):
                nn.initializer.Constant(1.0)(sublayer.weight)
                nn.initializer.Constant(0.0)(sublayer.bias)

    def forward(self, x):
        feat_list = self.backbone(x)
        low_level_feat, deep = [feat_list[i] for i in self.backbone_indices]
        y = self.aspp(deep)
        low = self.low(low_level_feat)
        y = F.interpolate(y, paddle.shape(low)[2:], mode="bilinear", align_corners=False)
        logit_list = [self.head(paddle.concat([y, low], axis=1))]
        if self.training:
            logit_list.append(self.aux(feat_list[1]))
        return [F.interpolate(logit, paddle.shape(x)[2:], mode="bilinear", align_corners=False) for logit in logit_list]


class MixedLoss(nn.Layer):
    def __init__(self, losses, coef):
        super().__init__()
        self.losses = losses
        self.coef = coef

    def forward(self, logits, labels):
        loss_list = []
        for i, loss in enumerate(self.losses):
            output = loss(logits, labels)
            loss_list.append(output * self.coef[i])
        return sum(loss_list)


class DiceLoss(nn.Layer):
    def forward(self, logits, labels):
        num_class = logits.shape[1]
        probs = F.softmax(logits, axis=1)
        one_hot = F.one_hot(labels, num_class).transpose([0, 3, 1, 2])
        dice = paddle.zeros([])
        for c in range(num_class):
            p, t = probs[:, c].flatten(1), one_hot[:, c].flatten(1)
            dice += 1 - ((2 * (p * t).sum(1) + 1e-5) / ((p * p).sum(1) + t.sum(1) + 1e-5)).mean()
        return dice / num_class


class OhemCrossEntropyLoss(nn.Layer):
    """Hard examples only: those below a threshold, at least so many."""

    def __init__(self, thresh=0.5, min_kept=20, ignore_index=255):
        super().__init__()
        self.thresh, self.min_kept, self.ignore_index = thresh, min_kept, ignore_index

    def forward(self, logit, label):
        n, c, h, w = logit.shape
        label = label.reshape((-1, 1)).astype("int64")
        valid_mask = (label != self.ignore_index).astype("int64")
        num_valid = valid_mask.sum()
        label = label * valid_mask
        prob = F.softmax(logit, axis=1).transpose((1, 0, 2, 3)).reshape((c, -1))
        if self.min_kept < num_valid and num_valid > 0:
            valid = valid_mask.reshape((-1,)).astype("float32")
            prob = prob + (1 - valid)
            label_onehot = F.one_hot(label.squeeze(-1), c).transpose((1, 0))
            picked = (prob * label_onehot).sum(axis=0)
            threshold = self.thresh
            if self.min_kept > 0:
                index = paddle.argsort(picked)
                threshold_index = index[min(len(index), self.min_kept) - 1]
                if picked[threshold_index] > self.thresh:
                    threshold = picked[threshold_index]
                kept_mask = (picked < threshold).astype("int64").unsqueeze(-1)
                label = label * kept_mask
                valid_mask = valid_mask * kept_mask
        label = (label + (1 - valid_mask) * self.ignore_index).reshape((n, h, w))
        valid_mask = valid_mask.reshape((n, h, w)).astype("float32")
        loss = F.cross_entropy(logit, label, ignore_index=self.ignore_index, reduction="none", axis=1)
        loss = loss.squeeze() * valid_mask
        avg_loss = paddle.mean(loss) / (paddle.mean(valid_mask) + 1e-4)
        label.stop_gradient = True
        return avg_loss


def mixed(outputs, labels):
    losses = [MixedLoss([nn.CrossEntropyLoss(axis=1), DiceLoss()], [0.8, 0.2]), OhemCrossEntropyLoss()]
    return sum(loss(logits, labels) * weight for logits, loss, weight in zip(outputs, losses, (1.0, 0.4)))


def deeplab():
    cfg = {"type": "DeepLabV3P", "num_classes": 3, "backbone": {"type": "TinyBackbone", "width": 4}}
    return MODELS[cfg.pop("type")](**cfg)


CASES = [
    Case(
        "U-Net", lambda: MODELS["UNet"](num_classes=3), normal(3, 16, 16), mixed, integers(3, 16, 16),
        specs=((None, 3, None, None),), calls=(Call("predict", normal(3, 16, 16)),),
    ),
    Case(
        "U-Net transposed", lambda: UNet(num_classes=3, use_deconv=True), normal(3, 16, 16), mixed, integers(3, 16, 16),
        slow=True,
    ),
    Case("DeepLabV3+", deeplab, normal(3, 32, 32), mixed, integers(3, 32, 32)),
]  # fmt: skip

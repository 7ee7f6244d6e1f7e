"""Text recognition in the style of PaddleOCR: CRNN with CTC, label decoding, greedy and beam search over paths."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, normal
from vitrify import ParamAttr, nn
from vitrify.regularizer import L2Decay


class ConvBNLayer(nn.Layer):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, act=None, name=None):
        super().__init__()
        self.conv = nn.Conv2D(
            in_channels, out_channels, kernel_size, stride=stride, padding=(kernel_size - 1) // 2,
            weight_attr=ParamAttr(regularizer=L2Decay(1e-4)), bias_attr=False,
        )  # fmt: skip
        self.bn = nn.BatchNorm2D(out_channels)
        self.act = getattr(F, act) if act else (lambda x: x)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Im2Seq(nn.Layer):
    def __init__(self, in_channels, **kwargs):
        super().__init__()
        self.out_channels = in_channels

    def forward(self, x):
        B, C, H, W = x.shape
        assert H == 1
        x = x.squeeze(axis=2)
        return x.transpose([0, 2, 1])


class EncoderWithRNN(nn.Layer):
    def __init__(self, in_channels, hidden_size):
        super().__init__()
        self.out_channels = hidden_size * 2
        self.lstm = nn.LSTM(in_channels, hidden_size, direction="bidirectional", num_layers=1)

    def forward(self, x):
        x, _ = self.lstm(x)
        return x


class SequenceEncoder(nn.Layer):
    support_encoder_dict = {"reshape": None, "rnn": EncoderWithRNN}

    def __init__(self, in_channels, encoder_type, hidden_size=8, **kwargs):
        super().__init__()
        self.encoder_reshape = Im2Seq(in_channels)
        self.out_channels = self.encoder_reshape.out_channels
        self.only_reshape = encoder_type == "reshape"
        if not self.only_reshape:
            assert encoder_type in self.support_encoder_dict, (
                f"{encoder_type} must in {list(self.support_encoder_dict)}"
            )
            self.encoder = self.support_encoder_dict[encoder_type](self.encoder_reshape.out_channels, hidden_size)
            self.out_channels = self.encoder.out_channels

    def forward(self, x):
        x = self.encoder_reshape(x)
        if not self.only_reshape:
            x = self.encoder(x)
        return x


class CTCHead(nn.Layer):
    def __init__(self, in_channels, out_channels, mid_channels=None, return_feats=False):
        super().__init__()
        if mid_channels is None:
            self.fc = nn.Linear(in_channels, out_channels)
        else:
            self.fc1, self.fc2 = nn.Linear(in_channels, mid_channels), nn.Linear(mid_channels, out_channels)
        self.mid_channels = mid_channels
        self.return_feats = return_feats

    def forward(self, x, targets=None):
        predicts = self.fc(x) if self.mid_channels is None else self.fc2(self.fc1(x))
        result = (x, predicts) if self.return_feats else predicts
        if not self.training:
            predicts = F.softmax(predicts, axis=2)
            result = predicts
        return result


class CTCLoss(nn.Layer):
    def __init__(self, use_focal_loss=False, **kwargs):
        super().__init__()
        self.loss_func = nn.CTCLoss(blank=0, reduction="none")
        self.use_focal_loss = use_focal_loss

    def forward(self, predicts, batch):
        if isinstance(predicts, (list, tuple)):
            predicts = predicts[-1]
        predicts = predicts.transpose((1, 0, 2))
        N, B, _ = predicts.shape
        preds_lengths = paddle.full([B], N, dtype="int64")
        labels = batch[1].astype("int32")
        label_lengths = batch[2].astype("int64")
        loss = self.loss_func(predicts, labels, preds_lengths, label_lengths)
        if self.use_focal_loss:
            weight = paddle.exp(-loss)
            weight = paddle.square(paddle.subtract(paddle.to_tensor([1.0]), weight))
            loss = paddle.multiply(loss, weight)
        return {"loss": loss.mean()}


class BaseModel(nn.Layer):
    def __init__(self, config):
        super().__init__()
        width = config["Backbone"]["width"]
        in_c = 1
        layers = []
        for i, (stride, act) in enumerate([((2, 1), "relu"), ((2, 2), "hardswish"), ((2, 1), None)]):
            layers.append(ConvBNLayer(in_c, width * (i + 1), 3, stride=stride, act=act))
            in_c = width * (i + 1)
        self.backbone = nn.Sequential(*layers)
        self.neck = SequenceEncoder(in_c, **config["Neck"])
        config["Head"]["in_channels"] = self.neck.out_channels
        self.use_neck = "Neck" in config and config["Neck"] is not None
        self.head = CTCHead(**config["Head"])

    def forward(self, x, data=None):
        y = dict()
        x = self.backbone(x)
        y["backbone_out"] = x
        if self.use_neck:
            x = self.neck(x)
        y["neck_out"] = x
        x = self.head(x, targets=data)
        if isinstance(x, dict):
            y.update(x)
        else:
            y["head_out"] = x
        return y if self.training else x

    @paddle.no_grad()
    def greedy(self, image):
        """Each image's symbols, blanks and repeats left out, filled up with -1; and how sure it is of them."""
        probs = self.forward(image)
        index, prob = probs.argmax(axis=2), probs.max(axis=2)
        selection = paddle.ones_like(index).astype("bool")
        selection[:, 1:] = index[:, 1:] != index[:, :-1]
        selection = selection & (index != 0)
        texts, scores = [], []
        for i in range(index.shape[0]):
            chars = paddle.masked_select(index[i], selection[i])
            conf = prob[i][selection[i]]
            if len(chars) == 0:
                score = paddle.zeros([1])
            else:
                score = conf.mean().reshape([1])
            texts.append(F.pad(chars, [0, index.shape[1] - chars.shape[0]], value=-1))
            scores.append(score)
        return paddle.stack(texts), paddle.concat(scores)

    @paddle.no_grad()
    def beam(self, image, beam_size=3):
        """The most likely paths, time by time."""
        log_probs = paddle.log(self.forward(image) + 1e-9)
        B, T, C = log_probs.shape
        scores, paths = log_probs[:, 0].topk(beam_size)
        paths = paths.unsqueeze(-1)
        for t in range(1, T):
            joint = (scores.unsqueeze(-1) + log_probs[:, t].unsqueeze(1)).reshape([B, -1])
            scores, best = paddle.topk(joint, beam_size, axis=-1)
            source = paddle.floor_divide(best, paddle.full_like(best, C))
            previous = paddle.take_along_axis(paths, source.unsqueeze(-1).expand([-1, -1, t]), axis=1)
            paths = paddle.concat([previous, paddle.mod(best, paddle.full_like(best, C)).unsqueeze(-1)], axis=-1)
        return paths, scores


def config(**head):
    return {
        "Backbone": {"width": 4},
        "Neck": {"encoder_type": "rnn", "hidden_size": 6},
        "Head": {"out_channels": 6, **head},
    }


def lengths(rng, n):
    return (np.full((n,), 3, "int64"),)


def labels(rng, n):
    return *integers(6, 3, low=1)(rng, n), *lengths(rng, n)


def ctc(outputs, label, length):
    return CTCLoss(use_focal_loss=True)(outputs["head_out"], [None, label, length])["loss"]


IMAGE = normal(1, 8, 24)
CASES = [
    Case(
        "CRNN with CTC", lambda: BaseModel(config(mid_channels=8)), IMAGE, ctc, labels,
        calls=(Call("greedy", IMAGE), Call("beam", IMAGE)), rate=0.02, specs=((None, 1, 8, None),),
        slow=True,
    )
]  # fmt: skip

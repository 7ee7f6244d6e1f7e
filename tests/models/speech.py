"""Speech in the style of PaddleSpeech: a Conformer with relative positions and CTC, the HiFi-GAN vocoder."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, normal, together
from vitrify import nn
from vitrify.nn import initializer as I
from vitrify.nn.utils import remove_weight_norm, weight_norm


class RelPositionMultiHeadedAttention(nn.Layer):
    def __init__(self, n_head, n_feat):
        super().__init__()
        self.h, self.d_k = n_head, n_feat // n_head
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(n_feat, n_feat) for _ in range(4))
        self.linear_pos = nn.Linear(n_feat, n_feat, bias_attr=False)
        pos_bias_u = self.create_parameter([self.h, self.d_k], default_initializer=I.XavierUniform())
        self.add_parameter("pos_bias_u", pos_bias_u)
        pos_bias_v = self.create_parameter((self.h, self.d_k), default_initializer=I.XavierUniform())
        self.add_parameter("pos_bias_v", pos_bias_v)

    def heads(self, x):
        return x.reshape([x.shape[0], -1, self.h, self.d_k])

    def forward(self, x, pos_emb, mask):
        q = self.heads(self.linear_q(x))
        k = self.heads(self.linear_k(x)).transpose([0, 2, 1, 3])
        v = self.heads(self.linear_v(x)).transpose([0, 2, 1, 3])
        p = self.heads(self.linear_pos(pos_emb)).transpose([0, 2, 1, 3])
        matrix_ac = paddle.matmul((q + self.pos_bias_u).transpose([0, 2, 1, 3]), k.transpose([0, 1, 3, 2]))
        matrix_bd = paddle.matmul((q + self.pos_bias_v).transpose([0, 2, 1, 3]), p.transpose([0, 1, 3, 2]))
        scores = (matrix_ac + matrix_bd) / math.sqrt(self.d_k)
        mask = mask.unsqueeze(1).logical_not()
        scores = paddle.where(mask, paddle.full_like(scores, -float("inf")), scores)
        attn = F.softmax(scores, axis=-1)
        attn = paddle.where(mask, paddle.zeros_like(attn), attn)
        x = paddle.matmul(attn, v).transpose([0, 2, 1, 3])
        return self.linear_out(x.reshape([x.shape[0], -1, self.h * self.d_k]))


class ConvolutionModule(nn.Layer):
    def __init__(self, channels, kernel_size=5):
        super().__init__()
        self.pointwise_conv1 = nn.Conv1D(channels, 2 * channels, 1)
        self.depthwise_conv = nn.Conv1D(channels, channels, kernel_size, padding=kernel_size // 2, groups=channels)
        self.norm = nn.BatchNorm1D(channels)
        self.pointwise_conv2 = nn.Conv1D(channels, channels, 1)

    def forward(self, x, mask_pad):
        x = x.transpose([0, 2, 1])
        x = paddle.where(mask_pad, x, paddle.zeros_like(x))
        x = F.glu(self.pointwise_conv1(x), axis=1)
        x = self.pointwise_conv2(F.swish(self.norm(self.depthwise_conv(x))))
        return paddle.where(mask_pad, x, paddle.zeros_like(x)).transpose([0, 2, 1])


class Conformer(nn.Layer):
    def __init__(self, d_model=8, vocab_size=5):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2D(1, d_model, 3, 2), nn.ReLU(), nn.Conv2D(d_model, d_model, 3, 2), nn.ReLU())
        self.out = nn.Linear(d_model * 2, d_model)
        self.self_attn, self.conv_module = RelPositionMultiHeadedAttention(2, d_model), ConvolutionModule(d_model)
        self.norm_ff, self.norm_mha, self.norm_conv = (nn.LayerNorm(d_model, epsilon=1e-12) for _ in range(3))
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 16), nn.Swish(), nn.Dropout(0.1), nn.Linear(16, d_model))
        self.ctc_lo = nn.Linear(d_model, vocab_size)
        position = paddle.arange(0, 32, dtype="float32").unsqueeze(1)
        div_term = paddle.exp(paddle.arange(0, d_model, 2, dtype="float32") * -(math.log(10000.0) / d_model))
        pe = paddle.zeros([32, d_model])
        pe[:, 0::2], pe[:, 1::2] = paddle.sin(position * div_term), paddle.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0), persistable=False)

    def forward(self, xs, lengths):
        x = self.conv(xs.unsqueeze(1))
        b, c, t, f = x.shape
        x = self.out(x.transpose([0, 2, 1, 3]).reshape([b, -1, c * f])) * math.sqrt(8)
        encoded = ((lengths - 1) // 2 - 1) // 2
        mask = (paddle.arange(t, dtype=lengths.dtype).unsqueeze(0) < encoded.unsqueeze(-1)).unsqueeze(1)
        x = x + 0.5 * self.feed_forward(self.norm_ff(x))
        x = x + self.self_attn(self.norm_mha(x), self.pe[:, :t], mask)
        x = x + self.conv_module(self.norm_conv(x), mask)
        return self.ctc_lo(x), encoded

    def greedy(self, xs, lengths):
        logits, encoded = self(xs, lengths)
        best = paddle.argmax(logits, axis=2)
        t = best.shape[1]
        keep = paddle.arange(t).unsqueeze(0) < encoded.unsqueeze(-1)
        return paddle.where(keep, best, paddle.zeros_like(best)), F.log_softmax(logits, -1).max(-1).sum(-1)


LRELU_SLOPE = 0.1


class ResidualBlock(nn.Layer):
    def __init__(self, channels, kernel_size=3, dilations=(1, 3)):
        super().__init__()
        self.convs1, self.convs2 = nn.LayerList(), nn.LayerList()
        for d in dilations:
            padding = (kernel_size - 1) // 2
            act = nn.LeakyReLU(LRELU_SLOPE)
            dilated = nn.Conv1D(channels, channels, kernel_size, dilation=d, padding=padding * d)
            self.convs1.append(nn.Sequential(act, dilated))
            self.convs2.append(nn.Sequential(act, nn.Conv1D(channels, channels, kernel_size, padding=padding)))

    def forward(self, x):
        for first, second in zip(self.convs1, self.convs2):
            x = second(first(x)) + x
        return x


class HiFiGANGenerator(nn.Layer):
    def __init__(self, in_channels=5, channels=8, scales=(2, 2)):
        super().__init__()
        self.input_conv = nn.Conv1D(in_channels, channels, 7, padding=3)
        self.upsamples, self.blocks = nn.LayerList(), nn.LayerList()
        for i, scale in enumerate(scales):
            now, later = channels // 2**i, channels // 2 ** (i + 1)
            up = nn.Conv1DTranspose(now, later, scale * 2, stride=scale, padding=scale // 2 + scale % 2)
            self.upsamples.append(nn.Sequential(nn.LeakyReLU(LRELU_SLOPE), up))
            self.blocks.append(ResidualBlock(later))
        self.output_conv = nn.Sequential(nn.LeakyReLU(), nn.Conv1D(channels // 4, 1, 7, padding=3), nn.Tanh())
        self.apply_weight_norm()

    def apply_weight_norm(self):
        def _apply_weight_norm(layer):
            if isinstance(layer, (nn.Conv1D, nn.Conv1DTranspose)):
                weight_norm(layer)

        self.apply(_apply_weight_norm)

    def remove_weight_norm(self):
        def _remove_weight_norm(layer):
            try:
                remove_weight_norm(layer)
            except ValueError:
                pass

        self.apply(_remove_weight_norm)

    def forward(self, c):
        c = self.input_conv(c)
        for up, block in zip(self.upsamples, self.blocks):
            c = block(up(c))
        return self.output_conv(c)


def utterances(rng, n):
    return (rng.normal(size=(n, 23, 11)).astype("float32"), np.array([23, 19, 21][:n], "int64"))


def ctc(outputs, labels):
    logits, lengths = outputs
    log_probs = F.log_softmax(logits, axis=2).transpose([1, 0, 2])
    target_lengths = paddle.full([labels.shape[0]], 2, dtype="int64")
    return F.ctc_loss(log_probs, labels.astype("int32"), lengths, target_lengths, blank=0, reduction="sum")


def multi_resolution_stft(wave, target):
    losses = F.l1_loss(wave, target)
    for n_fft, hop in ((8, 2), (16, 4)):
        window = paddle.audio.functional.get_window("hann", n_fft, dtype="float32")
        spectra = [paddle.signal.stft(y.squeeze(1), n_fft, hop, window=window) for y in (wave, target)]
        x, y = (paddle.sqrt(paddle.clip(s.real() ** 2 + s.imag() ** 2, min=1e-7)) for s in spectra)
        losses = losses + paddle.norm(y - x) / paddle.norm(y) + F.l1_loss(paddle.log(x), paddle.log(y))
    return losses


CASES = [
    Case(
        name="Conformer", build=Conformer, inputs=utterances, labels=integers(5, 2, low=1), loss=ctc,
        specs=((None, 23, 11), (None,)), calls=(Call("greedy", together(utterances)),),
    ),
    Case(
        name="HiFi-GAN", build=HiFiGANGenerator, inputs=normal(5, 6), labels=normal(1, 24), loss=multi_resolution_stft,
    ),
]  # fmt: skip

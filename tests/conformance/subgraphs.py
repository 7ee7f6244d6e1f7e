"""Sub-graphs of models as their repositories write them: each makes a Layer of the framework that it is given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tests.conformance.tables.layers import filled


@dataclass(frozen=True)
class Subgraph:
    """Calls the Layer that a function of this module makes. A value, so that cases can travel."""

    name: str

    def __call__(self, paddle: Any, *inputs: Any) -> Any:
        """Return the outputs; the parameters are those that both frameworks share."""
        layer = filled(globals()[self.name](getattr(paddle, "itself", paddle)))
        return paddle.called(layer, *inputs) if hasattr(paddle, "called") else layer(*inputs)


def conv_bn_act(paddle: Any) -> Any:
    """As extracted from a model: parameters by number, functions by the modules that define them."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            sizes = [8, 4, 3, 3], [8], [8], [8], [8], [8]
            for number, size in enumerate(sizes):
                setattr(self, f"parameter_{number}", self.create_parameter(shape=size, dtype=paddle.float32))

        def forward(self, var_0):
            var_1 = paddle.nn.functional.conv._conv_nd(
                var_0, self.parameter_0, bias=self.parameter_1, stride=[2, 2], padding=[1, 1],
                padding_algorithm="EXPLICIT", dilation=[1, 1], groups=1, data_format="NCHW", channel_dim=1,
                op_type="conv2d", use_cudnn=True,
            )  # fmt: skip
            var_2 = paddle.nn.functional.norm.batch_norm(
                var_1, self.parameter_2, self.parameter_3 ** 2 + 1.0, weight=self.parameter_4, bias=self.parameter_5,
                training=False, momentum=0.9, epsilon=1e-05, data_format="NCHW", use_global_stats=None,
            )  # fmt: skip
            var_3 = paddle.nn.functional.activation.hardsigmoid(var_2, slope=0.2, offset=0.5)
            var_4 = paddle.tensor.manipulation.concat([var_2, var_3], axis=1)
            return var_4, paddle.tensor.attribute.shape(var_4)

    return Net()


def attention(paddle: Any) -> Any:
    """Heads, a scale and a mask from sizes that only a run knows."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.qkv = paddle.nn.Linear(8, 24)

        def forward(self, x):
            b, n, _ = x.shape
            q, k, v = self.qkv(x).reshape([b, n, 3, 2, 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
            scores = paddle.matmul(q * q.shape[-1] ** -0.5, k, transpose_y=True) / math.sqrt(n)
            causal = paddle.tensor.triu(paddle.ones([n, n]) * -1e4, 1)
            probs = paddle.nn.functional.softmax(scores + causal.unsqueeze([0, 1]))
            return paddle.matmul(probs, v).transpose([0, 2, 1, 3]).reshape([b, n, -1]) * n**-0.25

    return Net()


def shifted_windows(paddle: Any) -> Any:
    """Padding to whole windows, a cyclic shift, and back."""

    class Net(paddle.nn.Layer):
        def forward(self, x):
            b, h, w, c = x.shape
            high, wide = math.ceil(h / 4) * 4, math.ceil(w / 4) * 4
            padded = paddle.nn.functional.pad(x.transpose([0, 3, 1, 2]), [0, wide - w, 0, high - h])
            shifted = paddle.roll(padded.transpose([0, 2, 3, 1]), shifts=(-2, -2), axis=(1, 2))
            windows = shifted.reshape([b, high // 4, 4, wide // 4, 4, c]).transpose([0, 1, 3, 2, 4, 5])
            mixed = windows.reshape([-1, 16, c]).mean(1, keepdim=True) + windows.reshape([-1, 16, c])
            back = mixed.reshape([b, high // 4, wide // 4, 4, 4, c]).transpose([0, 1, 3, 2, 4, 5])
            return paddle.roll(back.reshape([b, high, wide, c]), shifts=(2, 2), axis=(1, 2))[:, :h, :w]

    return Net()


def feature_pyramid(paddle: Any) -> Any:
    """Laterals added from the top down; sizes as a tensor."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.laterals = paddle.nn.LayerList([paddle.nn.Conv2D(c, 4, 1) for c in (3, 6)])

        def forward(self, fine, coarse):
            levels = [conv(x) for conv, x in zip(self.laterals, (fine, coarse))]
            size = paddle.shape(levels[0])[2:]
            levels[0] += paddle.nn.functional.interpolate(levels[1], size=size, mode="bilinear", align_corners=False)
            levels.append(paddle.nn.functional.max_pool2d(levels[-1], 1, stride=2))
            return {f"p{number}": level for number, level in enumerate(levels)}

    return Net()


def anchors_decoded(paddle: Any) -> Any:
    """Anchors of a grid moved by what a head says, and those kept that are large enough."""

    class Net(paddle.nn.Layer):
        def forward(self, deltas, features):
            h, w = features.shape[-2:]
            y, x = paddle.meshgrid(paddle.arange(h, dtype="float32") + 0.5, paddle.arange(w, dtype="float32") + 0.5)
            centers = paddle.stack([x.flatten(), y.flatten()], axis=-1) * 8
            size = paddle.exp(deltas[:, 2:].clip(max=math.log(1000.0 / 16))) * 16.0
            moved = centers + deltas[:, 0:2] * 16.0
            boxes = paddle.concat([moved - size / 2, moved + size / 2], axis=-1).clip(0, 32)
            keep = paddle.nonzero((boxes[:, 2:] - boxes[:, :2]).prod(-1) > 40.0).flatten()
            return paddle.gather(boxes, keep)

    return Net()


def recurrent_head(paddle: Any) -> Any:
    """A column of features read by a bidirectional LSTM; probabilities in evaluation."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.lstm = paddle.nn.LSTM(3, 4, direction="bidirectional")
            self.fc = paddle.nn.Linear(8, 5)

        def forward(self, x):
            out, (hidden, _) = self.lstm(x.squeeze(axis=2).transpose([0, 2, 1]))
            return self.fc(out), hidden

    return Net()


def focal_loss(paddle: Any) -> Any:
    """Labels with a weight for each class and an ignored one, over pixels."""

    class Net(paddle.nn.Layer):
        def forward(self, logits, labels):
            weight = paddle.to_tensor([0.5, 1.0, 2.0], dtype="float32")
            loss = paddle.nn.functional.cross_entropy(
                logits.transpose([0, 2, 3, 1]), labels, weight=weight, ignore_index=1, reduction="none"
            )
            focal = (1 - paddle.exp(-loss)) ** 2 * loss
            return focal.sum() / (labels != 1).astype("float32").sum().clip(min=1.0)

    return Net()


def diffusion_step(paddle: Any) -> Any:
    """Sines of the time step scale and shift normalized features."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm, self.time = paddle.nn.GroupNorm(2, 4), paddle.nn.Linear(6, 8)

        def forward(self, x, steps):
            rates = paddle.exp(-math.log(10000) * paddle.arange(0, 3, dtype="float32") / 3)
            angles = steps[:, None].cast("float32") * rates[None, :]
            sines = paddle.concat([paddle.sin(angles), paddle.cos(angles)], axis=-1)
            scale, shift = paddle.chunk(self.time(sines)[:, :, None, None], 2, axis=1)
            return paddle.nn.functional.silu(self.norm(x) * (1 + scale) + shift)

    return Net()


def second_derivative(paddle: Any) -> Any:
    """What a network that knows physics is trained by."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = paddle.nn.Linear(1, 6), paddle.nn.Linear(6, 1)

        def forward(self, x):
            u = self.out(paddle.tanh(self.hidden(x)))
            (first,) = paddle.grad(u.sum(), x, create_graph=True)
            (second,) = paddle.grad(first.sum(), x, create_graph=True)
            return second + u * first

    return Net()


def messages(paddle: Any) -> Any:
    """Attention along the edges of a graph."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = paddle.nn.Linear(3, 4)

        def forward(self, x, source, target):
            h = self.fc(x)
            alike = (paddle.gather(h, source) * paddle.gather(h, target)).sum(-1)
            score = paddle.exp(paddle.nn.functional.leaky_relu(alike))
            total = paddle.scatter_nd_add(paddle.zeros([x.shape[0]]), target.unsqueeze(-1), score)
            weighted = paddle.gather(h, source) * (score / paddle.gather(total, target)).unsqueeze(-1)
            return paddle.index_add(paddle.zeros_like(h), target, 0, weighted)

    return Net()

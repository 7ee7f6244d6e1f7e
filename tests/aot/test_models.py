"""Models as native programs compute what they compute eagerly, for every size left open."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.aot import load
from vitrify.core.pytree import flatten
from vitrify.nn import functional as F
from vitrify.static import InputSpec

RNG = np.random.default_rng(0)
TOLERANCE = 2e-5


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


def checked(model, specs, inputs, path):
    """Save the model, run it for each tuple of arrays, and compare with eager outputs."""
    if isinstance(model, nn.Layer):
        model.eval()
    paddle.jit.save(model, str(path / "model"), input_spec=specs, format="native")
    program = load(str(path / "model"))
    for arrays in inputs:
        leaves = []
        flatten(model(*map(paddle.to_tensor, arrays)), leaves)
        found = program(*arrays)
        assert len(found) == len(leaves)
        for ours, wanted in zip(found, leaves):
            assert ours.dtype == wanted.numpy().dtype
            assert list(ours.shape) == wanted.shape
            np.testing.assert_allclose(ours, wanted.numpy(), TOLERANCE, TOLERANCE)


class LeNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))

    def forward(self, x):
        return self.fc(paddle.flatten(self.features(x), 1))


class Residual(nn.Layer):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.a = nn.Conv2D(channels, out, 3, stride, 1, bias_attr=False)
        self.b = nn.Conv2D(out, out, 3, 1, 1, bias_attr=False)
        self.norms = nn.LayerList([nn.BatchNorm2D(out), nn.BatchNorm2D(out), nn.BatchNorm2D(out)])
        self.short = nn.Conv2D(channels, out, 1, stride, bias_attr=False)

    def forward(self, x):
        y = self.norms[1](self.b(F.relu(self.norms[0](self.a(x)))))
        return F.relu(y + self.norms[2](self.short(x)))


def resnet():
    return nn.Sequential(
        nn.Conv2D(3, 8, 7, 2, 3), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(3, 2, 1), Residual(8, 8, 1),
        Residual(8, 16, 2), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(16, 10),
    )  # fmt: skip


class GPT(nn.Layer):
    def __init__(self, vocabulary=50, d=32, heads=4, length=16):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, d), nn.Embedding(length, d)
        self.norms = nn.LayerList([nn.LayerNorm(d), nn.LayerNorm(d)])
        self.qkv, self.out, self.head = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, vocabulary)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(0.1))
        self.heads = heads

    def forward(self, ids):
        batch, length = ids.shape
        x = self.words(ids) + self.places(paddle.arange(length))
        y = self.qkv(self.norms[0](x)).reshape([batch, length, 3, self.heads, -1]).transpose([2, 0, 3, 1, 4])
        scores = paddle.matmul(y[0], y[1], transpose_y=True) / y.shape[-1] ** 0.5
        mask = paddle.triu(paddle.full([length, length], -1e9), 1)
        mixed = paddle.matmul(F.softmax(scores + mask, -1), y[2])
        x = x + self.out(mixed.transpose([0, 2, 1, 3]).reshape([batch, length, -1]))
        return self.head(x + self.mlp(self.norms[1](x)))


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.fc(y[:, -1]), {"h": h, "c": c}


def newton(x):
    """Square roots, until nothing changes any more."""
    y, change = paddle.ones_like(x), paddle.to_tensor(1.0)
    while change > 1e-6:
        new = (y + x / y) / 2
        change, y = (new - y).abs().max(), new
    if y.sum() > 4:
        return y
    return -y


MODELS = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10), nn.Softmax()),
        [InputSpec([None, 20])],
        [(floats(n, 20),) for n in (1, 2, 3, 64, 300)],
    ),
    "lenet": (LeNet, [InputSpec([None, 1, 28, 28])], [(floats(n, 1, 28, 28),) for n in (1, 5)]),
    "resnet": (resnet, [InputSpec([None, 3, 32, 32])], [(floats(n, 3, 32, 32),) for n in (1, 3)]),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1),
        [InputSpec([None, None, 16])],
        [(floats(*sizes, 16),) for sizes in ((1, 1), (2, 7), (5, 3))],
    ),
    "gpt of fixed sizes": (GPT, [InputSpec([2, 16], "int64")], [(RNG.integers(0, 50, (2, 16)),)]),
    "gpt": (GPT, [InputSpec([None, 16], "int64")], [(RNG.integers(0, 50, (n, 16)),) for n in (1, 4)]),
    "lstm": (Recurrent, [InputSpec([None, 5, 8])], [(floats(n, 5, 8),) for n in (1, 3)]),
    "newton": (lambda: newton, [InputSpec([None])], [(np.abs(floats(n)) + 0.1,) for n in (1, 9, 100)]),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_model(name, tmp_path):
    make, specs, inputs = MODELS[name]
    paddle.seed(3)
    checked(make(), specs, inputs, tmp_path)


IMAGE = floats(2, 4, 11, 9)
FUNCTIONS = {
    "max_pool ceil": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "max_pool 1d": lambda x: F.max_pool1d(x[:, :, 0], 2, 2),
    "max_pool NHWC": lambda x: F.max_pool2d(x.transpose([0, 2, 3, 1]), 2, 2, data_format="NHWC"),
    "max_pool places": lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True),
    "max_pool places, equal ones": lambda x: F.max_pool2d(x.round(), [3, 2], 1, return_mask=True, ceil_mode=True),
    "max_pool places, padding alone": lambda x: F.max_pool1d(x[:, 0], 1, 2, 0, return_mask=True, ceil_mode=True),
    "max_pool places of bodies": lambda x: F.max_pool3d(x.unsqueeze(1), 2, return_mask=True),
    "avg_pool": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "avg_pool inclusive": lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False),
    "avg_pool divisor": lambda x: F.avg_pool2d(x, 2, 2, divisor_override=3),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, [3, 2]),
    "pad": lambda x: F.pad(x, [1, 2, 0, 1], value=3.0),
    "pad less": lambda x: F.pad(x, [-1, 2, 0, -2]),
    "argmax": lambda x: (paddle.argmax(x, 1), paddle.argmin(x, -1, keepdim=True), paddle.argmax(x, 2, dtype="int32")),
    "concat, split": lambda x: (paddle.concat([x, x * 2], 1), *paddle.split(x, 2, 1)),
    "stack, unstack": lambda x: (paddle.stack([x, x + 1], -1), *paddle.unstack(x[:, :2], 1)),
    "slices": lambda x: (x[:, ::2, 1:-1], x[..., ::-1], x[:, 1]),
    "means": lambda x: (x.mean(), x.mean(0), x.sum([1, 3]), x.max(-1), x.mean() * x.shape[0]),
    "softmax": lambda x: (F.softmax(x, 1), F.log_softmax(x, -1)),
    "statistics": lambda x: (x.std(-1), F.layer_norm(x, [9]), x / x.square().sum(-1, keepdim=True).sqrt()),
    "where": lambda x: paddle.where(x > 0, x, paddle.exp(x)),
    "integers": lambda x: ((x * 10).astype("int64") * 3 - 1, (x > 0).astype("int32").sum(-1)),
    "gather": lambda x: paddle.gather(x, paddle.to_tensor([2, 0, 0]), axis=1),
    "norms": lambda x: (F.group_norm(x, 2, weight=paddle.arange(4, dtype="float32")), F.instance_norm(x)),
    "tile": lambda x: (paddle.tile(x, [2, 1, 1, 3]), paddle.tile(x, [3, 1, 2]), paddle.expand(x, [2, *x.shape])),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "same": lambda x: (x, x, x.reshape([-1, 36])),
    "transposed": lambda x: paddle.matmul(x, x, transpose_x=True),
    "double": lambda x: paddle.matmul(x.astype("float64"), x.astype("float64"), transpose_y=True).sum(-1),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("batch", [None, 2], ids=["any batch", "batch of 2"])
def test_function(name, batch, tmp_path):
    inputs = [(IMAGE,)] if batch else [(IMAGE,), (IMAGE[:1],), (floats(7, 4, 11, 9),)]
    checked(FUNCTIONS[name], [InputSpec([batch, 4, 11, 9])], inputs, tmp_path)


CONVOLUTIONS = {
    "groups": lambda: nn.Conv2D(4, 8, 3, padding=1, groups=2),
    "depthwise": lambda: nn.Conv2D(4, 4, 3, padding=2, dilation=2, groups=4),
    "points": lambda: nn.Conv2D(4, 6, 1),
    "same": lambda: nn.Conv2D(4, 6, (3, 2), stride=(2, 1), padding="SAME"),
    "uneven": lambda: nn.Conv2D(4, 6, 3, padding=[1, 0, 2, 1]),
    "reflected": lambda: nn.Sequential(nn.Pad2D(1), nn.Conv2D(4, 40, 3, 3)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name, tmp_path):
    inputs = [(IMAGE,), (IMAGE[:1],)]
    checked(CONVOLUTIONS[name](), [InputSpec([None, 4, 11, 9])], inputs, tmp_path)


def test_other_dimensions(tmp_path):
    net = nn.Sequential(nn.Conv3D(2, 3, 2), nn.ReLU())
    checked(net, [InputSpec([None, 2, 4, 5, 3])], [(floats(2, 2, 4, 5, 3),)], tmp_path)
    checked(nn.Conv1D(4, 5, 3, padding=1), [InputSpec([None, 4, 9])], [(floats(2, 4, 9),)], tmp_path)


def test_channels_last(tmp_path):
    net = nn.Conv2D(4, 6, 3, padding=1, data_format="NHWC")
    checked(net, [InputSpec([None, 11, 9, 4])], [(floats(2, 11, 9, 4),)], tmp_path)


def test_numbers_without_dimensions(tmp_path):
    def total(x, n):
        found, i = paddle.zeros([3]), paddle.to_tensor(0)
        while i < n:
            found, i = found + x * i.astype("float32"), i + 1
        return found, i

    inputs = [(floats(3), np.array(n)) for n in (0, 1, 20)]
    checked(total, [InputSpec([3]), InputSpec([], "int64")], inputs, tmp_path)


def test_two_arguments_of_one_size(tmp_path):
    inputs = [(floats(n, 3), floats(n, 4)) for n in (1, 6)]
    specs = [InputSpec([None, 3]), InputSpec([None, 4])]
    checked(lambda x, y: paddle.concat([x, y], 1), specs, inputs, tmp_path)


def test_sizes_of_their_own(tmp_path):
    specs = [InputSpec([None, 3], name="x"), InputSpec([None, 3], name="y")]
    axes = {"y": {0: "others"}}
    paddle.jit.save(
        lambda x, y: paddle.concat([x, y]), str(tmp_path / "m"), input_spec=specs, format="native", dynamic_axes=axes
    )
    x, y = floats(2, 3), floats(5, 3)
    np.testing.assert_array_equal(load(str(tmp_path / "m"))(x, y)[0], np.concatenate([x, y]))

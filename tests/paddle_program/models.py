"""Models whose files by PaddlePaddle are kept in tests/data/paddle_program, for whichever framework runs this."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np

paddle = import_module("vitrify" if find_spec("vitrify") else "paddle")
nn, F, S = paddle.nn, paddle.nn.functional, paddle.static.InputSpec


class TinyConv(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2D(4)
        self.pool = nn.MaxPool2D(2, 2)
        self.conv2 = nn.Conv2D(4, 6, 3, groups=2, bias_attr=False)
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        y = self.pool(F.relu(self.bn(self.conv(x))))
        y = F.adaptive_avg_pool2d(F.relu(self.conv2(y)), 1)
        return F.softmax(self.fc(paddle.flatten(y, 1)), axis=-1)


class TinyTransformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.places = nn.Embedding(16, 8)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation="gelu"), 2)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 11)

    def forward(self, ids):
        n = paddle.shape(ids)[1]
        h = self.tokens(ids) + self.places(paddle.arange(n, dtype="int64"))
        mask = paddle.triu(paddle.full([n, n], -1e9, "float32"), 1)
        return self.head(self.norm(self.blocks(h, mask)))


class Branches(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x, n):
        if x.sum() > 0:
            y = self.a(x)
        else:
            y = self.b(x) - 1
        i = paddle.zeros([1], "int64")
        while i < n:
            y = y * 0.5 + x
            i = i + 1
        return y


def models():
    """name -> (class, its specs, its inputs)."""
    rng = np.random.default_rng(1)
    image = rng.standard_normal((2, 1, 8, 8)).astype("float32")
    ids = rng.integers(0, 11, (2, 5))
    x = rng.standard_normal((2, 3)).astype("float32")
    return {
        "tiny_conv": (TinyConv, [S([None, 1, 8, 8], "float32", "image")], [image]),
        "tiny_transformer": (TinyTransformer, [S([None, None], "int64", "ids")], [ids]),
        "branches": (Branches, [S([None, 3], "float32", "x"), S([1], "int64", "n")], [x, np.array([3])]),
    }

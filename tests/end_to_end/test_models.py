"""Whole models, eager and compiled side by side: losses, parameters, buffers, batch sizes, evaluation, saving."""

import copy

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn


class Convolutional(nn.Layer):
    """Convolution, batch norm, dropout, and a refinement loop that a tensor stops."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.drop = nn.Dropout(0.3)
        self.pool = nn.MaxPool2D(2, 2)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        h = self.pool(nn.functional.relu(self.norm(self.conv(x))))
        y = self.out(self.drop(h.flatten(1)))
        for _ in range(3):
            y = y * 0.9 + nn.functional.gelu(y)
            if y.abs().max() > 3:
                break
        return y


class Recurrent(nn.Layer):
    """An LSTM cell in a Python loop over time."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 5)
        self.out = nn.Linear(5, 2)

    def forward(self, x):
        states = None
        for t in range(x.shape[1]):
            y, states = self.cell(x[:, t], states)
        return self.out(y)


class Attending(nn.Layer):
    """Embedding and a transformer layer with dropout."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)

    def forward(self, ids):
        return self.layer(self.embed(ids))


RNG = np.random.default_rng(0)
MODELS = {
    Convolutional: lambda n: RNG.normal(size=(n, 1, 8, 8)).astype("float32"),
    Recurrent: lambda n: RNG.normal(size=(n, 6, 4)).astype("float32"),
    Attending: lambda n: RNG.integers(0, 10, (n, 5)),
}


def step(net, optimizer, x):
    paddle.seed(5)
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss.item()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_training_equals_eager(model, tmp_path):
    eager = model()
    static = paddle.jit.to_static(copy.deepcopy(eager))
    nets = [(net, paddle.optimizer.AdamW(1e-2, parameters=net.parameters())) for net in (eager, static)]
    for size in (4, 6, 3, 4):
        x = paddle.to_tensor(MODELS[model](size))
        assert np.allclose(*[step(net, optimizer, x) for net, optimizer in nets], rtol=1e-4)
    assert len(static.forward.program_cache) == 2
    for name, value in eager.state_dict().items():
        assert np.allclose(value.numpy(), static.state_dict()[name].numpy(), atol=1e-4), name
    eager.eval()
    static.eval()
    assert np.allclose(eager(x).numpy(), static(x).numpy(), atol=1e-5)
    path = str(tmp_path / "model")
    paddle.jit.save(static, path)
    assert np.allclose(paddle.jit.load(path)(x).numpy(), eager(x).numpy(), atol=1e-5)

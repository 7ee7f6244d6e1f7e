"""Makes the golden files of our own format, in a folder for its version. Files of older versions are kept as they are.

In tests/ir, by a relative path, so that the files name no folder of the machine:
python -c "import runpy, sys; sys.argv[1:] = ['../data/native/v1']
runpy.run_path('make_native_golden.py', None, '__main__')"
"""

import sys
from pathlib import Path

import numpy as np

import vitrify as paddle
from vitrify import nn

SPEC = paddle.static.InputSpec


class Net(nn.Layer):
    """Parameters, buffers, training mode, a second method, structures."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2D(2)
        self.fc = nn.Linear(8, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, scale=2.0):
        h = nn.functional.max_pool2d(nn.functional.relu(self.norm(self.conv(x))), 2)
        y = self.fc(self.drop(h.flatten(1)))
        return {"y": y * scale, "parts": [y.argmax(-1), (x, None, "text")]}

    @paddle.jit.to_static(input_spec=[SPEC([None, 8], name="h")])
    def head(self, h):
        return self.fc(h)


def control(x, n):
    """Branches, loops with lists, recursion."""
    if x.sum() > 0:
        y = x * 2
    else:
        y = -x
    parts = []
    i = paddle.zeros([], "int64")
    while i < n:
        parts.append(y * i.astype("float32"))
        i = i + 1
    return paddle.stack(parts).sum(0), power(x, n)


def power(x, n):
    if n <= 1:
        return x
    return x * power(x, n - 1)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paddle.seed(1)
    net = Net()
    net.norm._mean.set_value(paddle.to_tensor([0.1, -0.2]))
    net.eval()
    x = np.random.default_rng(0).standard_normal((2, 1, 4, 4)).astype("float32")
    paddle.jit.save(net, folder / "net", input_spec=[SPEC([None, 1, 4, 4], name="x")])
    np.save(folder / "net.npy", net(paddle.to_tensor(x))["y"].numpy())
    specs = [SPEC([None], name="x"), SPEC([], "int64", name="n")]
    paddle.jit.save(paddle.jit.to_static(control), folder / "control", input_spec=specs)
    state = {
        name: paddle.to_tensor(np.arange(6).reshape(2, 3).astype(name)) for name in ("float32", "int8", "bfloat16")
    }
    state.update(half=paddle.to_tensor(np.float16(1.5)), flags=paddle.to_tensor([True, False]), nested=[(1, None), 2.5])
    state["complex"] = paddle.to_tensor(np.array([1 + 2j], "complex64"))
    state["empty"] = paddle.zeros([0, 3])
    paddle.save(state, str(folder / "state.pdparams"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

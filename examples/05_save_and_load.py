"""A compiled function is saved as a program with its parameters: who loads it needs no source."""

import tempfile
from pathlib import Path

import vitrify as paddle
from vitrify import nn

paddle.seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
model = paddle.jit.to_static(model, input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
x = paddle.randn([3, 4])

with tempfile.TemporaryDirectory() as folder:
    paddle.jit.save(model, str(Path(folder, "model")))
    print(sorted(path.name for path in Path(folder).iterdir()))
    loaded = paddle.jit.load(str(Path(folder, "model")))

assert (loaded(x) - model(x)).abs().max().item() < 1e-6
assert loaded(paddle.randn([7, 4])).shape == [7, 2]  # None in the spec: any number of rows

"""Makes tests/data/onnx and onnx_external: small models in ONNX, as this version of vitrify writes them.

`python -m tests.onnx.make_golden`. The files are for damaging (tests/fuzz/damage.py) and for later versions to read.
"""

from pathlib import Path

import numpy as np

import vitrify as paddle
from tests.paddle_program.models import models

DATA = Path(__file__).parent.parent / "data" / "onnx"
BESIDE = DATA.parent / "onnx_external"


def main() -> None:
    """Write a file and the outputs for each model."""
    DATA.mkdir(exist_ok=True)
    for name, (make, specs, given) in models().items():
        paddle.seed(3)
        net = make()
        net.eval()
        paddle.jit.save(net, str(DATA / name), input_spec=specs, format="onnx")
        np.save(DATA / f"{name}.npy", net(*map(paddle.to_tensor, given)).numpy())


def beside() -> None:
    """Write a model whose tensors lie in a file of their own."""
    BESIDE.mkdir(exist_ok=True)
    paddle.seed(3)
    net = paddle.nn.Sequential(paddle.nn.Linear(32, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 32))
    specs = [paddle.static.InputSpec([None, 32])]
    paddle.onnx.export(net, BESIDE / "model", specs, external_data=True)
    np.save(BESIDE / "model.npy", net(paddle.ones([1, 32])).numpy())


if __name__ == "__main__":
    main()
    beside()

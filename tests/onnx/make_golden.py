"""Makes tests/data/onnx: small models in ONNX, as this version of vitrify writes them.

`python -m tests.onnx.make_golden`. The files are for damaging (tests/fuzz/damage.py) and for later versions to read.
"""

from pathlib import Path

import numpy as np

import vitrify as paddle
from tests.paddle_program.models import models

DATA = Path(__file__).parent.parent / "data" / "onnx"


def main() -> None:
    """Write a file and the outputs for each model."""
    DATA.mkdir(exist_ok=True)
    for name, (make, specs, given) in models().items():
        paddle.seed(3)
        net = make()
        net.eval()
        paddle.jit.save(net, str(DATA / name), input_spec=specs, format="onnx")
        np.save(DATA / f"{name}.npy", net(*map(paddle.to_tensor, given)).numpy())


if __name__ == "__main__":
    main()

"""Makes tests/data/paddle_written: small models in Paddle's formats, as this version of vitrify writes them.

`python -m tests.paddle_program.make_written`. The files are for damaging (tests/fuzz/damage.py) and for later versions
to read.
"""

from pathlib import Path

import numpy as np

import vitrify as paddle
from tests.paddle_program.models import models

DATA = Path(__file__).parent.parent / "data" / "paddle_written"
FORMATS = {"json": "paddle3", "pdmodel": "paddle"}


def main() -> None:
    """Write the files and the outputs for each model and format."""
    DATA.mkdir(exist_ok=True)
    for name in ("tiny_conv", "branches"):
        make, specs, given = models()[name]
        paddle.seed(3)
        net = make()
        net.eval()
        for ending, kind in FORMATS.items():
            paddle.jit.save(net, str(DATA / f"{name}_{ending}"), input_spec=specs, format=kind)
        np.save(DATA / f"{name}.npy", net(*map(paddle.to_tensor, given)).numpy())


if __name__ == "__main__":
    main()

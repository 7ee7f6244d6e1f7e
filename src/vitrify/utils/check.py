"""`paddle.utils.run_check`: whether training works here."""

from __future__ import annotations

import numpy as np

from ..core.place import get_device
from ..eager.tensor import Tensor, to_tensor
from ..jit.api import to_static


def _loss(x: Tensor, w: Tensor) -> Tensor:
    total: Tensor = (x @ w).sum()
    return total


def run_check() -> None:
    """Compute a gradient, eagerly and in a program, and print that it works. Source: paddle.utils.run_check.

    Example:
        >>> import vitrify as paddle
        >>> paddle.utils.run_check()
        Running verify vitrify program ...
        vitrify works well on cpu.
    """
    print("Running verify vitrify program ...")
    x = to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    for function in (_loss, to_static(_loss, full_graph=True)):
        w = to_tensor(np.ones((3, 1), "float32"), stop_gradient=False)
        function(x, w).backward()
        np.testing.assert_array_equal(w.grad.numpy(), [[3.0], [5.0], [7.0]])
    print(f"vitrify works well on {get_device()}.")

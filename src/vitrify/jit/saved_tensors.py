"""What saving and loading share: the names of programs of training mode, and what a file holds of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..eager.tensor import Tensor

TRAIN = "@train"
"""Ends the name of a method's program in training mode."""


def elements(tensor: Tensor) -> Any:
    """What a tensor holds, in C order: where it lies in the host's memory no copy of it, for models may be large."""
    data = tensor._data
    array = data if isinstance(data, np.ndarray) else tensor.numpy()
    return np.ascontiguousarray(array).reshape(tensor.shape)

"""The same inputs and weights for every framework."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def floats(*shape: int, seed: int = 0) -> Floats:
    """Return normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def labels(*shape: int, classes: int, seed: int = 1) -> Ints:
    """Return class numbers below `classes`."""
    return np.random.default_rng(seed).integers(0, classes, shape)


def weight(*shape: int, seed: int = 2) -> Floats:
    """Return a weight whose products neither grow nor vanish: scaled by one over the root of its fan-in."""
    fan_in = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
    return floats(*shape, seed=seed) / np.float32(np.sqrt(fan_in))


def zeros(*shape: int) -> Floats:
    """Return a bias of zeros."""
    return np.zeros(shape, np.float32)


def mlp(*sizes: int) -> list[Floats]:
    """Return weight [in, out] and bias of each linear layer from the first size to the last."""
    pairs = zip(sizes[:-1], sizes[1:], strict=True)
    return [array for i, (n, m) in enumerate(pairs) for array in (weight(n, m, seed=i), zeros(m))]

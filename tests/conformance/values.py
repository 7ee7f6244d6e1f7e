"""What the tensors of cases hold: the same in both frameworks, from the stand-in alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance.spec import T

Generator = np.random.Generator


def values_of(tensor: T, dtype: str) -> np.ndarray[Any, Any]:
    """Return the values; bfloat16 comes as float32."""
    dtype = tensor.dtype or dtype
    kind = "float32" if dtype == "bfloat16" else dtype
    if tensor.literal is not None:
        return np.array(tensor.literal).astype(kind)
    generator = np.random.default_rng(zlib.crc32(f"{tensor.shape} {tensor.values} {tensor.seed}".encode()))
    with np.errstate(invalid="ignore"):  # integers have no inf and no NaN
        return np.asarray(_filled(generator, tensor, np.dtype(kind))).astype(kind)


def _filled(generator: Generator, tensor: T, dtype: np.dtype[Any]) -> Any:
    name, _, rest = tensor.values.partition(" ")
    if name == "below":
        return generator.integers(0, int(rest), tensor.shape)
    if name in SPECIAL:
        return SPECIAL[name](generator, tensor.shape)
    if dtype.kind == "b":
        return generator.random(tensor.shape) > 0.5
    if dtype.kind == "u":
        return generator.integers(1 if name in ("positive", "nonzero") else 0, 6, tensor.shape)
    if dtype.kind == "i":
        found = generator.integers(1 if name == "positive" else -4, 6, tensor.shape)
        return np.where(found == 0, 3, found) if name == "nonzero" else found
    if dtype.kind == "c":
        return REAL[name](generator, tensor.shape) + 1j * REAL[name](generator, tensor.shape)
    return REAL[name](generator, tensor.shape)


def _positive_definite(generator: Generator, shape: tuple[int, ...]) -> Any:
    x = generator.uniform(-1, 1, shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return x  # no square matrix, in a case of what is refused
    return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])


def _regular(generator: Generator, shape: tuple[int, ...]) -> Any:
    x = generator.uniform(-1, 1, shape)
    return x if len(shape) < 2 else x + 2 * np.eye(shape[-2], shape[-1])


def _holes(generator: Generator, shape: tuple[int, ...]) -> Any:
    x = generator.uniform(-2, 2, shape).ravel()
    x[::5] = np.nan
    x[1::7] = np.inf
    x[3::7] = -np.inf
    return x.reshape(shape)


def _nans(generator: Generator, shape: tuple[int, ...]) -> Any:
    x = generator.uniform(-2, 2, shape).ravel()
    x[::3] = np.nan
    return x.reshape(shape)


REAL: dict[str, Callable[[Generator, tuple[int, ...]], Any]] = {
    "normal": lambda g, shape: g.uniform(-2, 2, shape),
    "positive": lambda g, shape: g.uniform(0.2, 3, shape),
    "nonzero": lambda g, shape: g.uniform(0.2, 2, shape) * np.where(g.random(shape) > 0.5, 1, -1),
    "unit": lambda g, shape: g.uniform(-0.9, 0.9, shape),
    "probability": lambda g, shape: g.uniform(0.05, 0.95, shape),
    "large": lambda g, shape: g.uniform(1.1, 5, shape),
    "wide": lambda g, shape: g.uniform(-30, 30, shape),
}
SPECIAL: dict[str, Callable[[Generator, tuple[int, ...]], Any]] = {
    "definite": _positive_definite,
    "regular": _regular,
    "holes": _holes,
    "nans": _nans,
    "ties": lambda g, shape: g.integers(0, 3, shape),
    "distinct": lambda g, shape: g.permutation(int(np.prod(shape))).reshape(shape) - 2,
    "sorted": lambda g, shape: np.sort(g.uniform(-2, 2, shape)),
    "zeros": lambda g, shape: np.zeros(shape),
    "ones": lambda g, shape: np.ones(shape),
    "mask": lambda g, shape: g.random(shape) > 0.5,
}

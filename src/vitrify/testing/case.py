"""One row of a test table: a public function, inputs, and what it should give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A call to check.

    Fields:
        name: what the test is called.
        fn: the public function, or a method as `lambda x: x.method()`.
        args: NumPy arrays (nested in lists and tuples too) become tensors; anything else is passed as it is.
            Floating arrays are given as float64, so that finite differences are sharp.
        kwargs: likewise.
        ref: the same computation on NumPy arrays, called with `args` (and `kwargs` if it takes them); an array or
            nested arrays of values; None when only consistency is checked.
        grad: check gradients against finite differences. False: not differentiable, or not at these points.
        second: check second derivatives too.
        static: record the call as a program, run that, and compare results and gradients with the eager ones.
        dynamic: also with every size unknown while recording.
        layouts: also with inputs that are not contiguous.
        dtypes: floating types in which the call is tried besides float64, 16-bit ones loosely.
        rtol / atol: for values; grad_tol: for gradients against finite differences.
    """

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    ref: Any = None
    grad: bool = True
    second: bool = False
    static: bool = True
    dynamic: bool = True
    layouts: bool = True
    dtypes: tuple[str, ...] = ("float32", "float16", "bfloat16")
    rtol: float = 1e-7
    atol: float = 1e-9
    grad_tol: float = 1e-5

    def __str__(self) -> str:
        return self.name


def floats(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """float64 numbers in [low, high), equal for equal arguments, no two of them alike."""
    generator = np.random.default_rng([seed, *shape])
    count = int(np.prod(shape))
    steps = (generator.permutation(count) + 0.25 + 0.5 * generator.random(count)) / max(count, 1)
    return (low + (high - low) * steps).reshape(shape)


def away(values: Array, *points: float, gap: float = 0.05) -> Array:
    """`values` moved so that none is closer than `gap` to the points, where a derivative jumps or a pole is."""
    for point in points:
        near = np.abs(values - point) < gap
        values = np.where(near, point + np.where(values >= point, gap, -gap), values)
    return values


def ints(*shape: int, low: int = 0, high: int = 5, seed: int = 0, dtype: str = "int64") -> Array:
    """Integers in [low, high), equal for equal arguments."""
    return np.random.default_rng([seed, *shape]).integers(low, high, size=shape).astype(dtype)


def bools(*shape: int, seed: int = 0) -> Array:
    """True and False, equal for equal arguments."""
    return ints(*shape, low=0, high=2, seed=seed).astype(bool)


def complexes(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """complex128 numbers with both parts in [low, high)."""
    return floats(*shape, low=low, high=high, seed=seed) + 1j * floats(*shape, low=low, high=high, seed=seed + 1)

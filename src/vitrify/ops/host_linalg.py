"""LAPACK routines of SciPy as kernels: on the CPU whatever the device, one matrix of a stack after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..core.meta import Shape


def on_host(x: Any) -> Any:
    """The array x in the memory of the CPU."""
    return x.get() if hasattr(x, "get") else x


def scipy_linalg() -> Any:
    """SciPy's linear algebra, imported when first needed: it takes longer than all of ours."""
    return import_module("scipy.linalg")


def lapack(name: str, dtype: Any) -> Any:
    """SciPy's wrapper of a LAPACK routine for arrays of a dtype."""
    found: Any = scipy_linalg().get_lapack_funcs((name,), dtype=dtype)
    return found[0]


def each_matrix(
    xp: Any,
    fn: Callable[..., Sequence[Any]],
    arrays: Sequence[Any],
    ranks: Sequence[int],
    outs: Sequence[tuple[Shape, Any]],
) -> tuple[Any, ...]:
    """What `fn` gives for each item of a stack: `ranks` are the dimensions of one item of each array, `outs` shape
    and dtype of one item of each result. The arrays' leading dimensions are equal.
    """
    batch = arrays[0].shape[: arrays[0].ndim - ranks[0]]
    found = [np.zeros((*batch, *shape), dtype) for shape, dtype in outs]
    hosts = [on_host(a) for a in arrays]
    for at in np.ndindex(*batch):
        for out, value in zip(found, fn(*(a[at] for a in hosts))):
            out[at] = value
    return tuple(xp.asarray(out) for out in found)

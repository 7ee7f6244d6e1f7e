"""New tensors, by the path that model code imports from. Source: paddle.tensor.creation."""

from typing import Any

from ..eager.constructors import asarray, from_numpy
from ..eager.create_parameter import create_parameter
from ..eager.tensor import to_tensor
from ..ops.arrange import meshgrid
from ..ops.complex_ import complex, polar
from ..ops.creation import (
    arange,
    assign,
    clone,
    empty,
    empty_like,
    eye,
    full,
    linspace,
    logspace,
    ones,
    range,
    tril_indices,
    triu_indices,
    zeros,
)
from ..ops.diagonal import diag, diag_embed, diagflat, tril, triu
from ..ops.inplace import cauchy_, geometric_, resize_, tril_, triu_
from ..ops.like import full_like, ones_like, zeros_like


def fill_constant(
    shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Any = None, name: str | None = None
) -> Any:
    """A tensor of the shape with one value everywhere; `out`, if given, gets it. Source: paddle.tensor.fill_constant.

    force_cpu: accepted; the tensor is where new tensors are.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tensor.fill_constant([2], "int64", 7).tolist()
        [7, 7]
    """
    return full(shape, value, dtype, name, out=out)


__all__ = [
    "arange",
    "asarray",
    "assign",
    "cauchy_",
    "clone",
    "complex",
    "create_parameter",
    "diag",
    "diag_embed",
    "diagflat",
    "empty",
    "empty_like",
    "eye",
    "fill_constant",
    "from_numpy",
    "full",
    "full_like",
    "geometric_",
    "linspace",
    "logspace",
    "meshgrid",
    "ones",
    "ones_like",
    "polar",
    "range",
    "resize_",
    "to_tensor",
    "tril",
    "tril_",
    "tril_indices",
    "triu",
    "triu_",
    "triu_indices",
    "zeros",
    "zeros_like",
]

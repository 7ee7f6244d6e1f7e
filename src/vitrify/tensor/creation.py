"""New tensors, by the path that model code imports from. Source: paddle.tensor.creation."""

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

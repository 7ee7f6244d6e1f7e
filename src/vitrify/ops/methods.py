"""Methods and operators that Tensor and Variable share, collected from the op families (no eager or static twin)."""

from __future__ import annotations

from types import ModuleType

from . import (
    activation,
    apply,
    arrange,
    casting,
    closeness,
    compare,
    complex_,
    contraction,
    count,
    covariance,
    creation,
    cumulative,
    decomposition,
    diagonal,
    differences,
    distance,
    elementwise,
    expand,
    fill,
    gather,
    householder,
    index,
    join,
    least_squares,
    like,
    linalg,
    low_rank,
    lu,
    masked,
    matmul,
    norms,
    pad,
    power,
    put_along_axis,
    quantile,
    random,
    random_fill,
    reduce,
    scatter,
    search,
    select,
    shape,
    signal,
    sizes,
    slicing,
    softmax,
    sort,
    sparse_tensor,
    special,
    split,
    statistics,
    transpose,
    trig,
    unary,
    unique,
    windows,
)
from .define import in_place
from .tensor_methods import TensorMethods

# Each family lists its methods in METHODS (name -> function of the tensor) and, in INPLACE, the names whose
# in-place variant `name_` exists.
FAMILIES: tuple[ModuleType, ...] = (
    elementwise,
    compare,
    unary,
    trig,
    select,
    power,
    special,
    complex_,
    reduce,
    statistics,
    quantile,
    cumulative,
    closeness,
    matmul,
    contraction,
    linalg,
    decomposition,
    lu,
    least_squares,
    householder,
    low_rank,
    norms,
    covariance,
    differences,
    distance,
    activation,
    softmax,
    like,
    casting,
    creation,
    shape,
    sizes,
    transpose,
    expand,
    join,
    split,
    index,
    slicing,
    arrange,
    diagonal,
    pad,
    gather,
    scatter,
    put_along_axis,
    masked,
    sort,
    search,
    unique,
    count,
    windows,
    random,
    random_fill,
    fill,
    signal,
    apply,
    sparse_tensor,
)
# Functions of several tensors, whose in-place variants may not change the shape of the first.
BROADCASTING = (elementwise, compare, power)


__all__ = ["BROADCASTING", "FAMILIES", "TensorMethods"]


def _install() -> None:
    for family in FAMILIES:
        for name, fn in family.METHODS.items():
            setattr(TensorMethods, name, fn)
        for name in getattr(family, "INPLACE", ()):
            setattr(TensorMethods, name + "_", in_place(family.METHODS[name], keeps_shape=family in BROADCASTING))


_install()

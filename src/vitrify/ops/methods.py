"""Methods and operators that Tensor and Variable share, collected from the op families (no eager or static twin)."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

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
from .dense_layout import DenseLayout

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


class TensorMethods(DenseLayout):
    """Base of everything that stands for an array: its methods run or record ops through `core.dispatch.bind`."""

    __slots__ = ()

    if TYPE_CHECKING:  # installed below from the families; spelled out for type checkers

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...

    def _become(self, value: Any) -> Any:
        """Take `value` as the new content, in place; returns self."""
        raise TypeError(f"{type(self).__name__} cannot be changed in place")

    def _take(self, other: Any) -> Any:
        """Take a copy of the tensor `other` as the new content; returns self."""
        return self._become(like.assign_op(other))


def _install() -> None:
    for family in FAMILIES:
        for name, fn in family.METHODS.items():
            setattr(TensorMethods, name, fn)
        for name in getattr(family, "INPLACE", ()):
            setattr(TensorMethods, name + "_", in_place(family.METHODS[name], keeps_shape=family in BROADCASTING))


_install()

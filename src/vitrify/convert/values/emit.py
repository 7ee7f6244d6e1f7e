"""Python values and tensors as Variables of the block being built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...core.dtype import DType, default_dtype, promote, promote_scalar
from ...core.dtype import scalar_dtype as dtype_of_number
from ...core.meta import ListMeta
from ...core.modes import grad_enabled, scoped
from ...core.pytree import is_open
from ...eager.tensor import Tensor
from ...ir.builder import UNSET
from ...ir.graph_tensor import sample
from ...ir.numbers import is_number, number_dtype
from ...ir.program import Block, Variable
from ...ops.creation import full
from ...ops.like import cast
from ...ops.lists import list_of_op
from ...ops.promote import SCALARS
from ...ops.registry import OpDef
from .base import builder


@dataclass(frozen=True)
class Placeholder:
    """Zeros of a shape, or an empty list of `items`, made in the block where a variable is unset."""

    shape: tuple[int, ...]
    items: Any = None


def placeholder_for(value: Any) -> Placeholder:
    """Zeros like `value`, of which unknown sizes become 0; an empty list for a list."""
    if isinstance(value, Variable) and isinstance(value.meta, ListMeta):
        return Placeholder((), value.meta.item)
    shape = getattr(value, "shape", ())
    return Placeholder(tuple(0 if d < 0 else d for d in shape))


def unset_flag(value: Any) -> tuple[Any, str, int] | None:
    """(flag Variable, name, line) of a tensor or list that some path left unset, else None."""
    if is_open(value):
        value = None if value.items.error is not None else value.items.parts[0]
    return value.__dict__.get(UNSET) if isinstance(value, Variable) else None


def is_asserted(flag: Variable, block: Block | None = None) -> bool:
    """Whether the program asserted in the block, the current one by default, that `flag` holds, or knows it there."""
    block = block or builder().block
    while block is not None and (block, flag) not in builder().asserted:
        block = block.parent
    return block is not None


def is_python_number(value: Any) -> bool:
    """Whether the value is a Python number in eager code."""
    return isinstance(value, SCALARS) or is_number(value)


def is_numeric(value: Any) -> bool:
    """Whether a tensor can stand for the value."""
    return isinstance(value, (Variable, Tensor, *SCALARS))


def dtype_of(value: Any) -> DType:
    """The dtype of a tensor, or the one a Python number takes alone."""
    from_scalar = isinstance(value, SCALARS)
    return scalar_dtype(value) if from_scalar else value.dtype


def scalar_dtype(value: Any) -> DType:
    """int64, the default float, bool or complex64 for a Python number."""
    return default_dtype() if isinstance(value, float) else dtype_of_number(value)


def common_dtype(a: Any, b: Any) -> DType | None:
    """The dtype in which one tensor can stand for both values (numbers, or anything with a dtype); None for none."""
    if not all(isinstance(v, SCALARS) or isinstance(getattr(v, "dtype", None), DType) for v in (a, b)):
        return None
    if is_python_number(a) and is_python_number(b):
        return promote(number_dtype(dtype_of(a)), number_dtype(dtype_of(b)), True, True)
    a, b = (sample(v) if is_number(v) else v for v in (a, b))
    if isinstance(a, SCALARS):
        return promote_scalar(b.dtype, a)
    if isinstance(b, SCALARS):
        return promote_scalar(a.dtype, b)
    return promote(a.dtype, b.dtype, True, True)


class Deferred(ABC):
    """A value that is made in the block where it is emitted."""

    @abstractmethod
    def make(self) -> Any:
        """The value."""


def emit(value: Any, dtype: DType | None) -> Variable:
    """`value` as a Variable of the current block, cast to `dtype`; not checked for being unset."""
    if isinstance(value, Deferred):
        value = value.make()
    if isinstance(value, Placeholder):
        if value.items is not None:
            empty: Variable = list_of_op(item=value.items)
            return empty
        zeros: Variable = full(list(value.shape), 0, dtype)
        return zeros
    if isinstance(value, SCALARS):
        number: Variable = full([], value, dtype or scalar_dtype(value))
        return number
    var: Variable = builder().passed_on(value)
    if dtype is not None and var.dtype is not dtype:
        var = cast(var, dtype)
    return var


def passed_on(op: OpDef, *inputs: Any, **attrs: Any) -> Any:
    """`op` of lists: under no_grad, too, what a list holds keeps its gradient, as the same objects do in eager code."""
    with scoped(grad_enabled, True):
        return op(*inputs, **attrs)

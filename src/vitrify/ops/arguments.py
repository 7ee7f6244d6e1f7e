"""Arguments as users give them, brought to the plain attributes that ops take: ints, tuples, tensors left inside."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Ref, Shape, known_dim
from ..core.modes import PYTHON_NUMBER
from .registry import get_op

SCALARS = (bool, int, float, complex)
_ONLY_INTS = frozenset({int})


def is_tensor(value: Any) -> bool:
    """Whether `value` is an eager Tensor or a static Variable."""
    return hasattr(value, "stop_gradient")


def is_unknown(value: Any) -> bool:
    """Whether `value` is a tensor whose value only a run of the program that is being built knows."""
    return is_tensor(value) and not hasattr(value, "_data")


def is_open_axis(axis: Any) -> bool:
    """Whether `axis` is a tensor whose value the program that is being built cannot foresee."""
    return is_unknown(axis) and not axis._is_foreseen()


def is_python_number(value: Any) -> bool:
    """Whether `value` is a tensor of a program that stands for what is a Python number in eager code."""
    return PYTHON_NUMBER in getattr(value, "__dict__", ())


def need_tensors(op: str, *values: Any) -> None:
    """Raise DTypeError unless all values, the first arguments of `op`, are tensors."""
    for place, value in enumerate(values):
        if not is_tensor(value):
            raise DTypeError(f"{op}: argument {place} must be a tensor, got {type(value).__name__}")


def rank_of(op: str, x: Any, name: str = "x") -> int:
    """The number of x's dimensions. Raises DTypeError where x has none, because it is no tensor."""
    try:
        rank: int = x.ndim
        return rank
    except AttributeError:
        raise DTypeError(f"{op}: {name} must be a tensor, got {type(x).__name__}") from None


def as_int(op: str, value: Any, name: str) -> Any:
    """`value` as an int; a tensor (its value may be unknown) or a Ref stays. Raises DTypeError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if is_tensor(value):
        return whole(value)
    if isinstance(value, Ref):
        return value
    if hasattr(type(value), "__vitrify_host_value__") and value.is_of_numbers():  # only a run of the program knows it
        return value.tensor(in_full=True)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{op}: {name} must be an int or an integer tensor, got {type(value).__name__}") from None


def whole(tensor: Any) -> Any:
    """A tensor that says an axis or size, of integers; what is floating or a truth value is taken for the one it is."""
    return get_op("cast")(tensor, dtype=int64) if tensor.dtype.is_floating or tensor.dtype.is_bool else tensor


def only_ints(values: Any) -> bool:
    """Whether `values` is a list or tuple of plain ints."""
    return values.__class__ in (list, tuple) and _ONLY_INTS.issuperset(map(type, values))


def as_ints(op: str, values: Any, name: str) -> Any:
    """A tuple of ints and tensors, from an int, a sequence or array of them; a tensor stays as it is."""
    if only_ints(values):
        return tuple(values)
    if is_tensor(values):
        return whole(values)
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (list, tuple, range)):
        return tuple([as_int(op, v, name) for v in values])
    return (as_int(op, values, name),)


def static_int(op: str, value: Any, name: str) -> int:
    """`value` as an int now: a tensor gives its value when eager, and an error while a program is built."""
    value = as_int(op, value, name)
    if isinstance(value, int):
        return value
    if is_tensor(value) and value.dtype.is_complex:
        raise DTypeError(f"{op}: {name} must be an int or an integer tensor, got {value.dtype.name}")
    return int(value)


def static_number(op: str, value: Any, name: str) -> Any:
    """`value` as a Python number now; raises DTypeError for what is neither a number nor a tensor with one."""
    if is_tensor(value):
        return value.item() if hasattr(value, "_data") else float(value)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, np.number):
        return value.item()
    raise DTypeError(f"{op}: {name} must be a number, got {type(value).__name__}")


def static_ints(op: str, values: Any, name: str) -> tuple[int, ...]:
    """`values` as a tuple of ints now; see `static_int`."""
    if only_ints(values):
        return tuple(values)
    if is_tensor(values):
        known = hasattr(values, "_data")  # an eager tensor, whose items would be steps of a program being built
        values = whole(values).tolist() if known else list(values) if values.ndim else [values]
        values = values if isinstance(values, list) else [values]
    return tuple(static_int(op, v, name) for v in as_ints(op, values, name))


def entries(values: Any) -> tuple[Any, ...]:
    """A dynamic list attribute as a tuple, whatever form it reached the kernel or meta rule in."""
    return tuple(values) if isinstance(values, (list, tuple)) else (values,)


def dims(values: Any) -> Shape:
    """A shape attribute as dimensions: ints as they are, -1 for what is known only at run time."""
    return tuple(known_dim(v) for v in entries(values))


def shape_dims(op: str, shape: Any) -> Shape:
    """`dims` of the shape of a new tensor; raises ArgumentError on negative sizes."""
    for size in entries(shape):
        if isinstance(size, int) and size < 0:
            raise ArgumentError(f"{op}: shape must hold sizes >= 0, got {list(entries(shape))}")
    return dims(shape)


def finish(op: str, result: Any, out: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """`result` as the keyword arguments shared by many functions ask: moved to `device`, wanting a gradient, or put
    into the tensor `out`, which is then what the function returns.
    """
    if device is not None:
        result = result.to(device)
    if requires_grad:
        result.stop_gradient = False
    if out is None:
        return result
    if not is_tensor(out):
        raise DTypeError(f"{op}: out must be a Tensor, got {type(out).__name__}")
    return out._become(result)


def packs_ints(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(x, sizes, ...)` that also accepts the sizes one by one: `fn(x, 2, 3)`."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 2 and _is_size(args[1]) and _is_size(args[2]):
            return fn(args[0], list(args[1:]), **kwargs)
        return fn(*args, **kwargs)

    return call


def packs_shape(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(shape, ...)` that also accepts the sizes one by one: `fn(2, 3)`."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and _is_size(args[0]) and _is_size(args[1]):
            return fn(list(args), **kwargs)
        return fn(*args, **kwargs)

    return call


def _is_size(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or is_tensor(value)

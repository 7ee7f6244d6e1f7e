"""What went wrong in a kernel, said by the op's meta rule (shared by eager and the runtime)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.dtype import from_np
from ..core.errors import ArgumentError, DTypeError, OutOfMemoryError, ShapeError, UserCodeError, VitrifyError
from ..core.meta import UNKNOWN, Meta
from .arguments import is_tensor
from .meta_rules import bytes_text
from .registry import OpDef


def metas_of(arrays: Sequence[Any]) -> list[Any]:
    """The Metas of arrays; scalars, None and lists as they are."""
    return [Meta(a.shape, from_np(a.dtype)) if hasattr(a, "dtype") else a for a in arrays]


def no_tensor(op: OpDef, name: str | None, value: Any) -> DTypeError:
    """The error of an input that is no tensor: the one of that name, if it is known."""
    which = "expects tensors" if name is None else f"{name} must be a tensor"
    return DTypeError(f"{op.name}: {which}, got {type(value).__name__}")


def changed_leaf(name: str) -> ArgumentError:
    """The error of a change in place of a leaf that wants a gradient."""
    return ArgumentError(
        f"leaf tensor {name!r} that wants a gradient cannot be changed in place",
        hint="change a copy (x.clone()), or change it under paddle.no_grad()",
    )


def missing_tensor(op: OpDef, values: Sequence[Any]) -> DTypeError | None:
    """What an AttributeError of a meta rule means: the first input that is None is missing, or the first is no tensor
    that is a number or text; None where neither is.
    """
    for kinds in (type(None), (bool, int, float, complex, str)):
        for place, value in enumerate(values):
            if isinstance(value, kinds):
                return no_tensor(op, op.input_name(place), value)
    return None


def need_given(op: OpDef, values: Sequence[Any]) -> None:
    """Raise DTypeError where an input is None that may not be: the first one, and either operand of a pair.

    Ops that pass values on, and those of nothing but a list of values, take what is missing.
    """
    if op.passes or (op.variadic and len(op.inputs) == 1):
        return
    is_pair = op.elementwise and len(op.inputs) == 2  # NumPy would make an array of objects of None
    for place, value in enumerate(values):
        if value is None and (place == 0 or is_pair):
            raise no_tensor(op, op.input_name(place), value)


def need_integers(op: OpDef, name: str, meta: Meta) -> None:
    """Raise DTypeError for a tensor that gives an attribute what are no integers, where it takes no others: a single
    bool counts as one.
    """
    is_whole = meta.dtype.is_integer or (meta.dtype.is_bool and meta.shape in ((), (1,)))
    if not is_whole and name not in op.fractions:
        raise DTypeError(f"{op.name}: {name} takes integer tensors, got {meta}")


def need_vector(op: OpDef, name: str, meta: Meta, is_item: bool) -> None:
    """Raise ArgumentError for a tensor of several elements that gives more than one integer of an attribute, where it
    stands for an item of a list or has several dimensions.
    """
    if is_item:
        raise ArgumentError(f"{op.name}: an item of {name} must be a tensor with one element, got {meta}")
    if len(meta.shape) != 1 or meta.shape[0] < 0:
        raise ArgumentError(f"{op.name}: {name} needs a 1-D tensor of known length, got {meta}")


def need_other(value: Any) -> None:
    """Raise DTypeError where what `copy_` shall copy is no tensor."""
    if not is_tensor(value):
        raise DTypeError(f"copy_: other must be a tensor, got {type(value).__name__}")


def need_same(op: str, tensor: Any, value: Any) -> None:
    """Raise ShapeError or DTypeError where a tensor cannot take over the content of another one."""
    pairs = zip(tensor.shape, value.shape)
    if len(tensor.shape) != len(value.shape) or any(a != b and UNKNOWN not in (a, b) for a, b in pairs):
        raise ShapeError(f"{op}: the tensor has shape {list(tensor.shape)}, the value has {list(value.shape)}")
    if value.dtype is not tensor.dtype:
        raise DTypeError(
            f"{op}: the tensor is {tensor.dtype.name}, the value is {value.dtype.name}",
            hint=f"cast it, for example value.astype('{tensor.dtype.name}')",
        )


def describe_inputs(arrays: Sequence[Any]) -> str:
    """The inputs' metas as text."""
    return ", ".join(str(m) if isinstance(m, Meta) else repr(m)[:40] for m in metas_of(arrays))


def better_error(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> Exception:
    """The error that the meta rule raises on these inputs, or `err` itself."""
    if isinstance(err, VitrifyError):
        return err
    try:
        op.meta(*metas_of(arrays), **attrs)
    except VitrifyError as better:
        better.__cause__ = None
        better.__suppress_context__ = True
        return better
    return known_failure(op, arrays, attrs, err) or err


# What NumPy says of working memory that no array can have.
_TOO_LARGE = ("array is too big", "Maximum allowed dimension exceeded", "Maximum allowed size exceeded")


def known_failure(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> UserCodeError | None:
    """What an error of a kernel means that says nothing of the op: no memory, or a number that no integer holds."""
    if isinstance(err, MemoryError) or (isinstance(err, ValueError) and str(err).startswith(_TOO_LARGE)):
        return no_memory(op, arrays, attrs)
    if isinstance(err, OverflowError):
        given = ", ".join(
            f"{name}={value!r}" for name, value in attrs.items() if isinstance(value, (int, float, tuple))
        )
        error = ArgumentError(f"{op.name}: a number is too large for an integer of 64 bits, got {given}")
        error.__suppress_context__ = True
        return error
    return None


def no_memory(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> OutOfMemoryError:
    """The error of a kernel that found no memory: what its results are, and how large."""
    found = op.meta(*metas_of(arrays), **attrs)
    error = no_memory_for(op.name, found if isinstance(found, (tuple, list)) else [found])
    error.__suppress_context__ = True
    return error


def no_memory_for(op: str, results: Sequence[Any]) -> OutOfMemoryError:
    """The error of what finds no memory for results of these metas."""
    metas = [m for m in results if isinstance(m, Meta)]
    return OutOfMemoryError(
        f"{op}: there is not enough memory for {', '.join(f'{m} of {bytes_text(m)}' for m in metas)}"
    )

"""Meta rules shared by many ops. A rule takes Metas (scalars and None pass through) and gives the output's Meta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtype import DType, promote, promote_scalar
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.meta import Meta, broadcast_shapes

Predicate = Callable[[DType], bool]


def any_dtype(dtype: DType) -> bool:
    """Every dtype passes."""
    return True


def numeric(dtype: DType) -> bool:
    """Everything but bool."""
    return not dtype.is_bool


def floating(dtype: DType) -> bool:
    """Real and complex floating point."""
    return dtype.is_inexact


def real_floating(dtype: DType) -> bool:
    """Real floating point."""
    return dtype.is_floating


def integral(dtype: DType) -> bool:
    """Integers and bool."""
    return dtype.is_integer or dtype.is_bool


def whole(dtype: DType) -> bool:
    """Integers."""
    return dtype.is_integer


def unless_complex(dtype: DType) -> bool:
    """Everything but complex."""
    return not dtype.is_complex


def real_number(dtype: DType) -> bool:
    """Real numbers."""
    return numeric(dtype) and not dtype.is_complex


def _operands(op: str, args: Sequence[Any], names: Sequence[str], accepts: Predicate) -> tuple[Any, DType]:
    metas = [a for a in args if isinstance(a, Meta)]
    if not metas:
        raise DTypeError(f"{op}: {names[0]} must be a tensor, got {type(args[0]).__name__}")
    dtype = metas[0].dtype
    for meta in metas[1:]:
        dtype = promote(dtype, meta.dtype)
    for arg in args:
        if not isinstance(arg, Meta) and arg is not None:
            dtype = promote_scalar(dtype, arg)
    for name, arg in zip(names, args):
        if isinstance(arg, Meta) and not accepts(arg.dtype):
            raise DTypeError(f"{op}: {name} is {arg}, expected {(accepts.__doc__ or '').rstrip('.').lower()}")
    shapes = [a.shape for a in args if isinstance(a, Meta)]
    shape_names = [n for n, a in zip(names, args) if isinstance(a, Meta)]
    return broadcast_shapes(op, shapes, shape_names), dtype


def elementwise(
    op: str, names: Sequence[str], accepts: Predicate = any_dtype, result: DType | None = None
) -> Callable[..., Meta]:
    """The rule of an elementwise op: shapes broadcast; dtype is the common one, or `result`."""

    def rule(*args: Any, **attrs: Any) -> Meta:
        shape, dtype = _operands(op, args, names, accepts)
        return Meta(shape, result or dtype)

    return rule


def same_as(op: str, name: str = "x", accepts: Predicate = any_dtype) -> Callable[..., Meta]:
    """The rule of an op whose output has its first input's shape and dtype."""
    return elementwise(op, (name,), accepts)


def need_one_floating(op: str, **metas: Any) -> None:
    """Raise DTypeError unless these inputs, by name, are of one real floating dtype; None passes."""
    given = {name: meta for name, meta in metas.items() if meta is not None}
    for name, meta in given.items():
        if not meta.dtype.is_floating:
            raise DTypeError(f"{op}: {name} is {meta}, expected real floating point")
    if len({meta.dtype for meta in given.values()}) > 1:
        found = ", ".join(f"{name} is {meta}" for name, meta in given.items())
        raise DTypeError(f"{op}: {found}, expected one dtype")


# -- sizes -----------------------------------------------------------------------------------------------------------

_text = lazy_module("vitrify.core.size_text")
MOST_BYTES = (1 << 63) - 1
"""Bytes that addresses tell apart: an array of more can be neither made nor seen as a view."""


def within_reach(op: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """A meta rule that raises ArgumentError, with the size, for a result of more bytes than there are addresses.

    Dimensions of size 0 and unknown ones count as 1, for the steps between elements must be addresses, too.
    """

    def sized(*inputs: Any, **attrs: Any) -> Any:
        found = rule(*inputs, **attrs)
        for meta in (found,) if found.__class__ is Meta else found if isinstance(found, (tuple, list)) else ():
            # A dtype of a forged file may be none, which whoever verifies the program says.
            if meta.__class__ is Meta and meta.dtype.__class__ is DType and least_bytes(meta) > MOST_BYTES:
                need_reach(op, meta)
        return found

    return sized


def need_reach(op: str, meta: Meta) -> None:
    """Raise ArgumentError for a result of more bytes than there are addresses."""
    if least_bytes(meta) > MOST_BYTES:
        raise ArgumentError(f"{op}: the result {meta} takes {bytes_text(meta)}, more than any array can have")


def bytes_text(meta: Meta) -> str:
    """`least_bytes` for people."""
    return str(_text.size_text(least_bytes(meta)))


def least_bytes(meta: Meta) -> int:
    """The bytes of a tensor whose dimensions of size 0 and of unknown size have one element."""
    size = meta.dtype.itemsize
    for dim in meta.shape:
        if dim > 1:
            size *= dim
    return size

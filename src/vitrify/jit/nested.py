"""Lists of tensors that enter or leave a segment: taken apart for the tape, which knows single tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..eager.tensor import wrap


def map_items(fn: Callable[[Any], Any], value: Any) -> Any:
    """`fn` of a value, or of every item in nested lists."""
    return [map_items(fn, item) for item in value] if isinstance(value, list) else fn(value)


def items_of(value: Any) -> Iterator[Any]:
    """The value, or every item in nested lists, in order."""
    if isinstance(value, list):
        for item in value:
            yield from items_of(item)
    else:
        yield value


def arrays_of(value: Any) -> Any:
    """The arrays of Tensors; None stays None."""
    return map_items(lambda t: None if t is None else t._data, value)


def wrapped(value: Any) -> Any:
    """Tensors of arrays; None stays None."""
    return map_items(lambda a: None if a is None else wrap(a), value)


def versions_of(value: Any) -> Any:
    """How often each Tensor was changed in place."""
    return map_items(lambda t: None if t is None else t.inplace_version, value)


def wants_gradient(values: Sequence[Any]) -> bool:
    """Whether a gradient is wanted of any Tensor among the values."""
    return any(t is not None and not t.stop_gradient for value in values for t in items_of(value))

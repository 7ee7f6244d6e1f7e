"""Making one batch of many samples, and Tensors of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError
from ..core.place import Place
from ..device.api import put
from ..eager.tensor import Tensor, to_tensor, wrap
from ..ops.registry import get_op


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """The samples of `batch` as one: arrays and Tensors stacked, numbers in an array, lists and dicts field by field.

    Strings stay a list. Raises DTypeError for other types, ArgumentError for samples with differing fields.
    Source: paddle.io.dataloader.collate.default_collate_fn.

    Example:
        >>> from vitrify.io import default_collate_fn
        >>> [field.tolist() for field in default_collate_fn([(1, 2.5), (3, 4.5)])]
        [[1, 3], [2.5, 4.5]]
    """
    first = batch[0]
    for kind, join in _JOINS:
        if isinstance(first, kind):
            return join(batch)
    raise DTypeError(
        f"DataLoader: samples may hold tensors, NumPy arrays, numbers, strings, lists and dicts, "
        f"got {type(first).__name__}",
        hint="pass collate_fn= to make batches of other objects",
    )


def default_convert_fn(batch: Any) -> Any:
    """The sample itself: what a DataLoader with batch_size=None makes of one before it becomes Tensors.

    Source: paddle.io.dataloader.collate.default_convert_fn.
    """
    return batch


def _stack_arrays(batch: Sequence[Any]) -> Any:
    shapes = {np.shape(array) for array in batch}
    if len(shapes) != 1:
        raise ArgumentError(
            f"DataLoader: samples of one batch have different shapes: {sorted(list(s) for s in shapes)}",
            hint="pad them in the dataset or in collate_fn, or use batch_size=1",
        )
    return np.stack(batch)


def _stack_tensors(batch: Sequence[Any]) -> Any:
    return get_op("stack")(*batch, axis=0)


def _collate_dicts(batch: Sequence[Any]) -> Any:
    return {key: default_collate_fn([sample[key] for sample in batch]) for key in batch[0]}


def _collate_lists(batch: Sequence[Any]) -> Any:
    lengths = {len(sample) for sample in batch}
    if len(lengths) != 1:
        raise ArgumentError(f"DataLoader: samples of one batch have different numbers of fields: {sorted(lengths)}")
    return [default_collate_fn(fields) for fields in zip(*batch)]


_JOINS: tuple[tuple[Any, Callable[[Sequence[Any]], Any]], ...] = (
    (Tensor, _stack_tensors),
    (np.ndarray, _stack_arrays),
    ((Number, np.generic), np.array),
    ((str, bytes), list),
    (Mapping, _collate_dicts),
    (Sequence, _collate_lists),
)


def as_tensors(batch: Any, place: Place, fresh: bool) -> Any:
    """`batch` with its arrays as Tensors at `place`, and tuples as lists. `fresh`: nobody else holds the arrays."""
    if isinstance(batch, np.ndarray):
        return wrap(put(batch, place)) if fresh else to_tensor(batch, place=place)
    if isinstance(batch, Tensor):
        return batch
    if isinstance(batch, Mapping):
        return {key: as_tensors(value, place, fresh) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [as_tensors(value, place, fresh) for value in batch]
    return batch

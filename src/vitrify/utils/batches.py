"""`paddle.batch`: readers of the time before DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..core.errors import ArgumentError


def batch(
    reader: Callable[[], Iterable[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """A reader of lists of `batch_size` items of what `reader()` iterates over. Source: paddle.batch.

    drop_last: leave out the last list if it is shorter. Raises ArgumentError for a batch_size below 1.

    Example:
        >>> import vitrify as paddle
        >>> list(paddle.batch(lambda: range(5), 2)())
        [[0, 1], [2, 3], [4]]
    """
    if batch_size <= 0:
        raise ArgumentError(f"batch: batch_size must be positive, got {batch_size}")

    def batches() -> Iterator[list[Any]]:
        items = iter(reader())
        while found := list(islice(items, batch_size)):
            if len(found) == batch_size or not drop_last:
                yield found

    return batches

"""One kernel on several threads: its arrays cut into parts along one dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from threading import Semaphore
from typing import Any

from .pool import pool

Arrays = Sequence[Any]
# Parts for each thread: whoever is done early takes one more.
_EACH = 4


def cut(inputs: Arrays, outputs: Arrays, threads: int, whole: int = 0) -> list[tuple[Arrays, Arrays]]:
    """The parts of a computation on arrays that broadcast to the shape of all outputs; the last `whole` dimensions, in
    which outputs may differ, are not cut.

    A single part where no dimension is worth cutting.
    """
    shape = outputs[0].shape
    axis = next((i for i, size in enumerate(shape[: len(shape) - whole]) if size >= _EACH * threads), None)
    if axis is None:
        return [(inputs, outputs)]
    count, size = _EACH * threads, shape[axis]
    bounds = [size * i // count for i in range(count + 1)]
    slices = [slice(start, stop) for start, stop in zip(bounds, bounds[1:])]
    columns = [_parts(array, axis - len(shape), slices) for array in (*inputs, *outputs)]
    return [(own[: len(inputs)], own[len(inputs) :]) for own in zip(*columns)]


def _parts(array: Any, axis: int, slices: Sequence[slice]) -> list[Any]:
    """What an array has of slices of the whole: all of it where it is broadcast. The axis counts from the end."""
    if array.ndim < -axis or array.shape[axis] == 1:
        return [array] * len(slices)
    if array.ndim == -axis:
        return [array[where] for where in slices]
    before = (slice(None),) * (array.ndim + axis)
    return [array[(*before, where)] for where in slices]


def share(work: Callable[[int], object], parts: int, threads: int) -> None:
    """`work(0)`, ..., `work(parts - 1)` on so many threads, this one among them; what one raises is raised here.

    This thread waits for parts that others have begun, never for others to begin: they may all be busy.
    """
    numbers, ended, errors = count(), Semaphore(0), list[BaseException]()

    def take() -> None:
        while (number := next(numbers)) < parts:
            try:
                work(number)
            except BaseException as err:  # noqa: BLE001 - of another thread: it is raised in the caller's
                errors.append(err)
            finally:
                ended.release()

    helpers = pool(threads - 1)
    for _ in range(threads - 1):
        helpers.submit(take)
    take()
    for _ in range(parts):
        ended.acquire()
    if errors:
        raise errors[0]

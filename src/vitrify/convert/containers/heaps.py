"""Functions of `heapq` and `bisect` where a tensor decides how items compare, or how many there are.

They are written as a user would write them and converted as that, and leave the items in the places where Python's own
do.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Iterable
from typing import Any

from ...core.converted_too import converted_too
from ...core.pytree import all_leaves, is_open
from ...ir.builder import current_builder
from ..values.base import is_constant
from ..values.user_code import converted


@converted_too
def _towards_root(heap: Any, start: Any, place: Any) -> None:
    """Move the item at `place` up, as long as its parent, behind `start`, is greater."""
    item = heap[place]
    while place > start:
        above = (place - 1) // 2
        parent = heap[above]
        if not item < parent:
            break
        heap[place] = parent
        place = above
    heap[place] = item


@converted_too
def _towards_leaves(heap: Any, place: Any) -> None:
    """Move the smaller children up until there are none, then the item that was at `place` to where it belongs."""
    end = len(heap)
    start = place
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _towards_root(heap, start, place)


@converted_too
def _push(heap: Any, item: Any) -> None:
    heap.append(item)
    _towards_root(heap, 0, len(heap) - 1)


@converted_too
def _pop(heap: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    return last if len(heap) == 0 else _replace(heap, last)


@converted_too
def _replace(heap: Any, item: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _towards_leaves(heap, 0)
    return first


@converted_too
def _push_and_pop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        return _replace(heap, item)
    return item


@converted_too
def _heapify(heap: Any) -> None:
    for place in reversed(range(len(heap) // 2)):
        _towards_leaves(heap, place)


@converted_too
def _largest(n: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key, reverse=True)[: max(n, 0)]


@converted_too
def _smallest(n: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key)[: max(n, 0)]


@converted_too
def _left(values: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(values)
    while lo < hi:
        middle = (lo + hi) // 2
        if (values[middle] if key is None else key(values[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@converted_too
def _right(values: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(values)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (values[middle] if key is None else key(values[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


@converted_too
def _insert_left(values: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    values.insert(_left(values, x if key is None else key(x), lo, hi, key=key), x)


@converted_too
def _insert_right(values: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    values.insert(_right(values, x if key is None else key(x), lo, hi, key=key), x)


def _is_plain(values: Iterable[Any]) -> bool:
    """Whether Python alone decides how these compare."""
    return not any(map(is_open, values)) and all(map(is_constant, all_leaves(list(values))))


def _either(native: Callable[..., Any], written: Callable[..., Any], plain: Any) -> Callable[..., Any]:
    """What stands for a function of the library; `plain(native)` is what is called for values of Python's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if current_builder() is None or _is_plain((*args, *kwargs.values())):
            return plain(native)(*args, **kwargs)
        return converted(written)(*args, **kwargs)

    call.__doc__ = f"`{native.__name__}(...)`."
    return call


_WRITTEN: dict[Callable[..., Any], Callable[..., Any]] = {
    heapq.heappush: _push,
    heapq.heappop: _pop,
    heapq.heapreplace: _replace,
    heapq.heappushpop: _push_and_pop,
    heapq.heapify: _heapify,
    heapq.nlargest: _largest,
    heapq.nsmallest: _smallest,
    bisect.bisect_left: _left,
    bisect.bisect_right: _right,
    bisect.insort_left: _insert_left,
    bisect.insort_right: _insert_right,
}


def sorted_lists(plain: Callable[[Callable[..., Any]], Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """What stands for each of these functions; `plain(function)`: what is called where all values are Python's."""
    return {native: _either(native, written, plain) for native, written in _WRITTEN.items()}

"""How much memory a graph holds while its operators run in order, and whether moving some of them would add to that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..ir.sizes import bytes_of
from ..ir.ssa import Graph, Value

LEAST_BYTES = 1 << 12
"""Smaller buffers count as nothing."""
Span = tuple[int, int]
Changes = dict[Value, Span | None]


class Lifetimes:
    """From where to where each buffer of a graph lives, and the bytes in use at each place.

    Whether inputs go after their last use depends on who calls, so two profiles are kept: one that counts them until
    then and one that does not count them at all. A change is fit when neither peak grows.
    """

    def __init__(self, graph: Graph) -> None:
        self.count = len(graph)
        self.base: dict[Value, Value] = {}  # what a view is a view of
        self.maker: dict[Value, int] = dict.fromkeys(graph.inputs, -1)
        self.users: dict[Value, list[int]] = {v: [] for v in graph.inputs}
        for index, op in enumerate(graph.ops):
            for place, value in enumerate(op.inputs):
                if type(value) is Value and not op.op.asks_shape(place):
                    self.users[self.root(value)].append(index)
            for value in op.outputs:
                if op.op.view:
                    self.base[value] = self.root(op.values[0])
                else:
                    self.maker[value] = index
                    self.users[value] = []
        self.kept = {self.root(v) for v in graph.outputs if v is not None}
        self.size = {v: bytes_of(v.meta) if self.users[v] or self.maker[v] >= 0 else 0 for v in self.maker}
        self.size = {v: size if size >= LEAST_BYTES else 0 for v, size in self.size.items()}
        self.spans: Changes = {v: self._span(v, int) for v in self.maker}
        self.live, self.made = self._profiles()
        self.peaks = int(self.live.max(initial=0)), int(self.made.max(initial=0))

    def root(self, value: Value) -> Value:
        """The value whose buffer it lies in."""
        return self.base.get(value, value)

    def _span(self, value: Value, place: Callable[[int], int]) -> Span:
        last = self.count - 1 if value in self.kept else max(map(place, self.users[value]), default=None)
        born = max(place(self.maker[value]), 0) if self.maker[value] >= 0 else 0
        return born, born if last is None else last

    def _profiles(self) -> tuple[Any, Any]:
        live, made = np.zeros(self.count + 1, np.int64), np.zeros(self.count + 1, np.int64)
        for value, span in self.spans.items():
            if span is not None:
                for profile in (live, made) if self.maker[value] >= 0 else (live,):
                    profile[span[0]] += self.size[value]
                    profile[span[1] + 1] -= self.size[value]
        return live.cumsum(), made.cumsum()

    def moved(self, values: Collection[Value], inner: Collection[Value], place: Callable[[int], int]) -> Changes:
        """The spans of `values` when operators stand at `place`; those in `inner` have no buffers any more."""
        found: Changes = {}
        for value in values:
            span = None if value in inner else self._span(value, place)
            if span != self.spans[value]:
                found[value] = span
        return found

    def fits(self, changes: Changes, at: int, extra: int) -> bool:
        """Whether no peak grows by these changes, with `extra` bytes in use at one place; if so they are made."""
        spans = [s for v, new in changes.items() for s in (new, self.spans[v]) if s is not None]
        first = min((s[0] for s in spans), default=at)
        last = max((s[1] for s in spans), default=at)
        made, given = np.zeros(last - first + 2, np.int64), np.zeros(last - first + 2, np.int64)
        for value, new in changes.items():
            steps = made if self.maker[value] >= 0 else given
            for span, size in ((self.spans[value], -self.size[value]), (new, self.size[value])):
                if span is not None and size:
                    steps[span[0] - first] += size
                    steps[span[1] + 1 - first] -= size
        both = self.live[first : last + 1] + (made + given).cumsum()[:-1]
        own = self.made[first : last + 1] + made.cumsum()[:-1]
        for profile, peak in ((both, self.peaks[0]), (own, self.peaks[1])):
            if int(profile.max()) > peak or int(profile[at - first]) + extra > peak:
                return False
        self.spans.update(changes)
        self.live[first : last + 1], self.made[first : last + 1] = both, own
        return True

    def shared(self, kept: Sequence[Value], dropped: Sequence[Value]) -> bool:
        """Whether no peak grows when who uses a value of `dropped` uses that of `kept`; if so it is noted."""
        changes: Changes = {}
        for first, second in zip(kept, dropped):
            one, other = self.spans.get(first), self.spans.get(second)
            if one is not None and other is not None:  # no views
                changes[first] = one[0], max(one[1], other[1])
                changes[second] = None
        if changes and not self.fits(changes, min(s[0] for s in changes.values() if s is not None), 0):
            return False
        for first, second in zip(kept, dropped):
            self.users[self.root(first)] += self.users[self.root(second)]
        return True

"""The data-flow problems over a control-flow graph: what is live, what may be unbound, and what may be bound.

While they are solved a set of names is an int with a bit for each name.
"""

from __future__ import annotations

from collections.abc import Iterable

from .cfg import Graph

NameSet = frozenset[str]


class _Bits:
    """A bit for each name, and the sets that ints stand for, each made once."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}
        self._sets: dict[int, NameSet] = {0: frozenset()}

    def of(self, names: Iterable[str]) -> int:
        """The bits of some names."""
        bits, mask = self._bits, 0
        for name in names:
            mask |= bits.setdefault(name, 1 << len(bits))
        return mask

    def names(self, mask: int) -> NameSet:
        """The names of some bits."""
        found = self._sets.get(mask)
        if found is None:
            found = self._sets[mask] = frozenset(name for name, bit in self._bits.items() if mask & bit)
        return found


def live_before(graph: Graph) -> list[NameSet]:
    """For each point the names whose value may still be read when control arrives there.

    Nothing is live when the function ends: what it returns was read by its `return`.
    """
    bits = _Bits()
    reads = [bits.of(point.does.reads) for point in graph.points]
    kept = [~bits.of(point.does.kills | point.does.deletes) for point in graph.points]
    live = [0] * len(graph.points)
    sources = _sources(graph)
    pending = list(range(len(graph.points)))
    while pending:
        number = pending.pop()
        point = graph.points[number]
        new = 0
        for target in point.next:
            new |= live[target]
        new = new & kept[number] | reads[number]
        for target in point.raises_to:
            new |= live[target]
        if new != live[number]:
            live[number] = new
            pending += sources[number]
    return [bits.names(mask) for mask in live]


def unbound_before(graph: Graph, unbound_at_start: NameSet) -> list[NameSet]:
    """For each point the names that may be unbound when control arrives there.

    A read does not bind a name for all who come after, though it fails if the name is unbound: each asks for itself.
    """
    bits = _Bits()
    kept = [~bits.of(point.does.kills) for point in graph.points]
    added = [bits.of(point.does.deletes) for point in graph.points]
    return _arriving(graph, bits, bits.of(unbound_at_start), kept, added)


def bound_before(graph: Graph, bound_at_start: NameSet) -> list[NameSet]:
    """For each point the names that may be bound when control arrives there."""
    bits = _Bits()
    kept = [~bits.of(point.does.deletes) for point in graph.points]
    added = [bits.of(point.does.writes - point.does.deletes) for point in graph.points]
    return _arriving(graph, bits, bits.of(bound_at_start), kept, added)


def _arriving(graph: Graph, bits: _Bits, at_start: int, kept: list[int], added: list[int]) -> list[NameSet]:
    """For each point the names that some way to it brings, given which a point keeps of those it gets, and adds."""
    before = [0] * len(graph.points)
    before[0] = at_start
    pending = [0]
    seen = {0}
    while pending:
        number = pending.pop()
        point = graph.points[number]
        after = before[number] & kept[number] | added[number]
        arriving = [(target, after) for target in point.next]
        arriving += [(target, before[number] | after) for target in point.raises_to]
        for target, names in arriving:
            if target not in seen or names & ~before[target]:
                seen.add(target)
                before[target] |= names
                pending.append(target)
    return [bits.names(mask) for mask in before]


def _sources(graph: Graph) -> list[list[int]]:
    sources: list[list[int]] = [[] for _ in graph.points]
    for number, point in enumerate(graph.points):
        for target in (*point.next, *point.raises_to):
            sources[target].append(number)
    return sources

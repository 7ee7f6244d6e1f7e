"""The data-flow problems over a control-flow graph: what is live, what may be unbound, and what may be bound."""

from __future__ import annotations

from collections.abc import Callable

from .cfg import Graph, Point

NameSet = frozenset[str]
_EMPTY: NameSet = frozenset()


def live_before(graph: Graph) -> list[NameSet]:
    """For each point the names whose value may still be read when control arrives there.

    Nothing is live when the function ends: what it returns was read by its `return`.
    """
    live = [_EMPTY] * len(graph.points)
    sources = _sources(graph)
    pending = list(range(len(graph.points)))
    while pending:
        number = pending.pop()
        new = _live_before(graph.points[number], live)
        if new != live[number]:
            live[number] = new
            pending += sources[number]
    return live


def _live_before(point: Point, live: list[NameSet]) -> NameSet:
    after = _EMPTY.union(*(live[target] for target in point.next))
    failing = _EMPTY.union(*(live[target] for target in point.raises_to))
    does = point.does
    return does.reads | (after - does.kills - does.deletes) | failing


def unbound_before(graph: Graph, unbound_at_start: NameSet) -> list[NameSet]:
    """For each point the names that may be unbound when control arrives there.

    A read does not bind a name for all who come after, though it fails if the name is unbound: each asks for itself.
    """
    return _arriving(graph, unbound_at_start, lambda point, names: (names - point.does.kills) | point.does.deletes)


def bound_before(graph: Graph, bound_at_start: NameSet) -> list[NameSet]:
    """For each point the names that may be bound when control arrives there."""
    return _arriving(graph, bound_at_start, lambda point, names: (names | point.does.writes) - point.does.deletes)


def _arriving(graph: Graph, at_start: NameSet, passed: Callable[[Point, NameSet], NameSet]) -> list[NameSet]:
    """For each point the names that some way to it brings, given what a point makes of those that it gets."""
    before = [_EMPTY] * len(graph.points)
    before[0] = at_start
    pending = [0]
    seen = {0}
    while pending:
        number = pending.pop()
        point = graph.points[number]
        after = passed(point, before[number])
        arriving = [(target, after) for target in point.next]
        arriving += [(target, before[number] | after) for target in point.raises_to]
        for target, names in arriving:
            if target not in seen or not names <= before[target]:
                seen.add(target)
                before[target] |= names
                pending.append(target)
    return before


def _sources(graph: Graph) -> list[list[int]]:
    sources: list[list[int]] = [[] for _ in graph.points]
    for number, point in enumerate(graph.points):
        for target in (*point.next, *point.raises_to):
            sources[target].append(number)
    return sources

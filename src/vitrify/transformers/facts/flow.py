"""The two data-flow problems over a control-flow graph: what is live, and what may be unbound."""

from __future__ import annotations

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
    before = [_EMPTY] * len(graph.points)
    before[0] = unbound_at_start
    pending = [0]
    seen = {0}
    while pending:
        number = pending.pop()
        point = graph.points[number]
        after = (before[number] - point.does.kills) | point.does.deletes
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

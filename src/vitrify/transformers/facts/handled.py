"""What an exception handler may see of a construct that fails midway.

A construct gives its variables when it ends. One that it writes, after which it may still raise, and which the handler
reads, must be written where the handler finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import gast

from ..nodes import Node, binds
from .cfg import Graph
from .flow import NameSet

_EMPTY: NameSet = frozenset()


def needed_by_handlers(graph: Graph, live: list[NameSet], constructs: Iterable[Node], local: NameSet) -> NameSet:
    """Names that a construct has written when it raises, and that are read where the exception is handled.

    local: the variables of the function, of which reading one that is set does not raise.
    """
    if not any(point.raises_to for point in graph.points):
        return _EMPTY
    quiet = set(_quiet_points(graph, local))
    spans = [span for node in constructs for span in graph.spans.get(node, [])]
    return _EMPTY.union(*(_needed_behind(graph, live, range(*span), quiet) for span in spans))


def _needed_behind(graph: Graph, live: list[NameSet], inside: range, quiet: set[int]) -> NameSet:
    found = _EMPTY
    for number, written in _written_before(graph, inside).items():
        point = graph.points[number]
        if number not in quiet:
            seen = written if _writes_last(point.roots) else written | point.does.writes
            found |= seen & _EMPTY.union(*(live[target] for target in point.raises_to if target not in inside))
    return found


def _written_before(graph: Graph, inside: range) -> dict[int, NameSet]:
    """For each point of a construct that control may reach the names that the construct may have written by then."""
    before = {inside.start: _EMPTY}
    pending = [inside.start]
    while pending:
        number = pending.pop()
        point = graph.points[number]
        after = before[number] | point.does.writes
        for target in (*point.next, *point.raises_to):
            if target in inside and not (target in before and after <= before[target]):
                before[target] = before.get(target, _EMPTY) | after
                pending.append(target)
    return before


def _quiet_points(graph: Graph, local: NameSet) -> Iterator[int]:
    """Points that raise nothing: where statements begin and end, and what only names values."""
    for stmt, spans in graph.spans.items():
        for start, end in spans:
            yield from (start, end - 1)
            if _only_names(stmt, local):
                yield from range(start, end)
    for loop, heads in graph.heads.items():
        if isinstance(loop, gast.While):  # a `for` fetches an item there
            yield from heads


def _only_names(stmt: Node, local: NameSet) -> bool:
    if isinstance(stmt, (gast.Pass, gast.Break, gast.Continue)):
        return True
    is_assigned = isinstance(stmt, gast.Assign) and all(isinstance(target, gast.Name) for target in stmt.targets)
    return is_assigned and _is_known(stmt.value, local)


def _is_known(value: Node, local: NameSet) -> bool:
    if isinstance(value, gast.Tuple):
        return all(_is_known(part, local) for part in value.elts)
    return isinstance(value, gast.Constant) or (isinstance(value, gast.Name) and value.id in local)


def _writes_last(roots: list[Node]) -> bool:
    """Whether a point is an assignment that writes nothing if it fails."""
    if len(roots) != 1 or not isinstance(roots[0], gast.Assign) or len(roots[0].targets) > 1:
        return False
    target, value = roots[0].targets[0], roots[0].value
    parts = target.elts if isinstance(target, gast.Tuple) else [target]
    is_plain = all(isinstance(part, gast.Name) for part in parts)
    return is_plain and not binds(value)

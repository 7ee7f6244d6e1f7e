"""The control-flow graph of one function: points, and the edges between them.

A point is a part of the program that is evaluated as a whole: a simple statement, a test, one loop step.
Edges for exceptions are kept apart, because they leave a point before its writes are sure to have happened.
`finally` bodies appear once per way into them, so that facts do not mix normal and exceptional paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import gast

from ..names import Names
from ..nodes import Node, Stmts
from .activity import CONVERTING, Activity, activity
from .scopes import pattern_names

_NOTHING = Activity()


@dataclass
class Point:
    """One step: the nodes evaluated (`roots`), what that does to names, and where control goes next."""

    does: Activity
    roots: list[Node]
    next: list[int] = field(default_factory=list)
    raises_to: list[int] = field(default_factory=list)


@dataclass
class Graph:
    """Points in program order. Spans give the points of a statement: its first one and one past its last.

    A statement inside `finally` has several spans. Heads give the point at which a loop decides to go on.
    """

    points: list[Point] = field(default_factory=list)
    spans: dict[Node, list[tuple[int, int]]] = field(default_factory=dict)
    heads: dict[Node, list[int]] = field(default_factory=dict)


@dataclass
class _Loop:
    head: int
    breaks: list[int] = field(default_factory=list)


@dataclass
class _Finally:
    body: Stmts
    raising: list[int]


@dataclass
class _Handled:
    """A handler's name, which every way out of the handler deletes."""

    does: Activity
    raising: list[int]


def build_graph(body: Stmts, names: Names) -> Graph:
    """The graph of a function body; control enters at point 0."""
    builder = _Builder(names)
    builder.step(_NOTHING)
    builder.block(body)
    return builder.graph


class _Builder:
    """Walks statements in order; `frontier` holds the points from which control comes next."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.graph = Graph()
        self.frontier: list[int] = []
        self.raising: list[int] = []
        self.frames: list[_Loop | _Finally | _Handled] = []

    # pieces
    def detached(self, does: Activity = _NOTHING, roots: Stmts | None = None) -> int:
        """A new point that nothing leads to yet."""
        self.graph.points.append(Point(does, roots or [], raises_to=list(self.raising)))
        return len(self.graph.points) - 1

    def point(self, *roots: Node) -> int:
        """A new point that evaluates `roots`, reached from the frontier, which it becomes."""
        return self.step(activity(list(roots), self.names), list(roots))

    def step(self, does: Activity, roots: Stmts | None = None) -> int:
        """Like `point`, with the activity given."""
        number = self.detached(does, roots)
        self.flow_to(number)
        self.frontier = [number]
        return number

    def flow_to(self, number: int) -> None:
        """Let the frontier continue at `number`."""
        for source in self.frontier:
            self.graph.points[source].next.append(number)

    def block(self, stmts: Stmts) -> None:
        for stmt in stmts:
            start = self.step(_NOTHING)
            handler = _STATEMENTS.get(type(stmt).__name__)
            if handler is None:
                self.point(stmt)
            else:
                handler(self, stmt)
            self.step(_NOTHING)
            self.graph.spans.setdefault(stmt, []).append((start, len(self.graph.points)))

    def branch(self, start: list[int], stmts: Stmts) -> list[int]:
        """Run `stmts` from `start`; the points where control leaves them."""
        self.frontier = list(start)
        self.block(stmts)
        return self.frontier

    @contextmanager
    def raise_to(self, targets: list[int]) -> Iterator[None]:
        """Inside, exceptions go to `targets`."""
        before, self.raising = self.raising, targets
        try:
            yield
        finally:
            self.raising = before

    # branches and loops
    def if_(self, node: Node) -> None:
        self.point(node.test)
        start = self.frontier
        then = self.branch(start, node.body)
        self.frontier = then + self.branch(start, node.orelse)

    def while_(self, node: Node) -> None:
        head = self.step(_NOTHING)
        self.graph.heads.setdefault(node, []).append(head)
        self.point(node.test)
        endless = isinstance(node.test, gast.Constant) and bool(node.test.value)
        self.loop(node, head, exits=[] if endless else self.frontier)

    def for_(self, node: Node) -> None:
        self.point(node.iter)
        head = self.step(_NOTHING)
        self.graph.heads.setdefault(node, []).append(head)
        self.point(node.target)
        self.loop(node, head, exits=[head])

    def loop(self, node: Node, head: int, exits: list[int]) -> None:
        loop = _Loop(head)
        self.frames.append(loop)
        self.block(node.body)
        self.flow_to(head)
        self.frames.pop()
        # A loop that never ends counts as ending: what follows is dead, but as a call the loop has a next statement.
        self.frontier = self.branch(exits, node.orelse) + loop.breaks or [head]

    def match_(self, node: Node) -> None:
        self.point(node.subject)
        left: list[int] = []
        for case in node.cases:
            bound = pattern_names(case.pattern)
            tried = self.step(Activity(reads=activity([case.pattern], self.names).reads, writes=bound), [case.pattern])
            self.step(Activity(writes=bound, kills=bound))
            if case.guard is not None:
                self.point(case.guard)
            guard = self.frontier
            left += self.branch(guard, case.body)
            self.frontier = ([] if _is_irrefutable(case) else [tried]) + (guard if case.guard is not None else [])
        self.frontier += left

    # exceptions
    def with_(self, node: Node) -> None:
        after = self.detached()
        for item in node.items:
            self.point(item.context_expr)
            if item.optional_vars is not None:
                self.point(item.optional_vars)
        targets = [*self.raising, after] if any(may_swallow(item) for item in node.items) else self.raising
        with self.raise_to(targets):
            self.block(node.body)
        self.flow_to(after)
        self.frontier = [after]

    def try_(self, node: Node) -> None:
        outer = self.raising
        entries = [self.detached() for _ in node.handlers]
        failed = [self.detached()] if node.finalbody else outer
        if node.finalbody:
            self.frames.append(_Finally(node.finalbody, outer))
        with self.raise_to([*entries, *failed]):
            self.block(node.body)
        with self.raise_to(failed):
            self.block(node.orelse)
            left = self.frontier
        several = isinstance(node, gast.TryStar)  # one exception group may go through several handlers
        for position, (handler, entry) in enumerate(zip(node.handlers, entries, strict=True), 1):
            later = entries[position:] if several else []
            with self.raise_to([*later, *failed]):
                left = left + self.handler(handler, entry)
            for target in later:
                self.flow_to(target)
        if node.finalbody:
            self.frames.pop()
            self.branch(failed, node.finalbody)
            for target in outer:
                self.flow_to(target)
        self.frontier = self.branch(left, node.finalbody)

    def handler(self, node: Node, entry: int) -> list[int]:
        self.frontier = [entry]
        if node.type is not None:
            self.point(node.type)
        if node.name is None:
            self.block(node.body)
            return self.frontier
        bound = frozenset({node.name.id})
        self.step(Activity(writes=bound, kills=bound), [node.name])
        outer, unbind = self.raising, Activity(deletes=bound)
        failed = self.detached(unbind)
        self.graph.points[failed].next += outer
        self.frames.append(_Handled(unbind, outer))
        with self.raise_to([failed]):
            self.block(node.body)
        self.frames.pop()
        self.step(unbind)
        return self.frontier

    # jumps
    def return_(self, node: Node) -> None:
        self.point(node)
        self.leave(lambda loop: False)

    def raise_(self, node: Node) -> None:
        self.point(node)
        self.frontier = []

    def break_(self, node: Node) -> None:
        def stop(loop: _Loop) -> bool:
            loop.breaks += self.frontier
            return True

        self.leave(stop)

    def continue_(self, node: Node) -> None:
        def stop(loop: _Loop) -> bool:
            self.flow_to(loop.head)
            return True

        self.leave(stop)

    def leave(self, stop_at: Callable[[_Loop], bool]) -> None:
        """Jump outwards, through what has to be done on the way, until `stop_at` accepts a loop."""
        frames, raising = self.frames, self.raising
        for depth in range(len(frames) - 1, -1, -1):
            frame = frames[depth]
            if isinstance(frame, _Loop):
                if stop_at(frame):
                    break
                continue
            self.frames, self.raising = frames[:depth], frame.raising
            if isinstance(frame, _Finally):
                self.block(frame.body)
            else:
                self.step(frame.does)
        self.frames, self.raising, self.frontier = frames, raising, []


def may_swallow(item: Node) -> bool:
    """Whether a context manager may suppress exceptions: any may, but those known by name not to."""
    expr = item.context_expr
    while isinstance(expr, gast.Call):  # also through `vt.convert_call(guard)(...)`
        expr = expr.args[0] if isinstance(expr.func, gast.Attribute) and expr.func.attr in CONVERTING else expr.func
    return getattr(expr, "attr", getattr(expr, "id", "")) not in _PASSING_ON


_PASSING_ON = frozenset(
    {
        "auto_cast", "amp_guard", "autocast", "catch_warnings", "closing", "device_guard", "enable_grad", "errstate",
        "fork_rng", "inference_mode", "localcontext", "lock", "Lock", "RLock", "name_scope", "no_grad", "nullcontext",
        "open", "printoptions", "Profiler", "program_guard", "record_function", "RecordEvent", "redirect_stderr",
        "redirect_stdout", "rng_state", "saved_tensors_hooks", "scope_guard", "set_grad_enabled", "use_deterministic",
        "TemporaryDirectory", "TemporaryFile", "NamedTemporaryFile",
    }
)  # fmt: skip
"""Context managers that let every exception through. Taking one for a suppressor costs only noise, never a meaning."""


def _is_irrefutable(case: Node) -> bool:
    return case.guard is None and _always_matches(case.pattern)


def _always_matches(pattern: Node) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return any(_always_matches(part) for part in pattern.patterns)
    return isinstance(pattern, gast.MatchAs) and (pattern.pattern is None or _always_matches(pattern.pattern))


_STATEMENTS: dict[str, Callable[[_Builder, Node], None]] = {
    "If": _Builder.if_,
    "While": _Builder.while_,
    "For": _Builder.for_,
    "AsyncFor": _Builder.for_,
    "Match": _Builder.match_,
    "With": _Builder.with_,
    "AsyncWith": _Builder.with_,
    "Try": _Builder.try_,
    "TryStar": _Builder.try_,
    "Return": _Builder.return_,
    "Raise": _Builder.raise_,
    "Break": _Builder.break_,
    "Continue": _Builder.continue_,
}

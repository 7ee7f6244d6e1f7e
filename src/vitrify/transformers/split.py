"""Splitting a function that cannot be one program: statements that must run as Python, segments between them.

    def f(x):                           def f(x):
        h = relu(x)                         (h,) = segment_1(x)
        print(h.numpy())       ->           print(h.numpy())
        y = h * 2                           return segment_2(h)
        return y + 1

A segment is a function of the variables it needs, returning those it sets that are needed later; the last one of a
function may return for it. A compound statement that holds a broken line stays Python, its blocks are split in turn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType

import gast

from .call import convert_calls_of_python
from .compile import compile_function
from .context import Context
from .exchange import to_plain
from .facts import FunctionFacts, analyze
from .facts.activity import activity
from .jumps import contains
from .kept_tree import KeptTree
from .nodes import FUNCTIONS, SCOPES, Node, Stmts, all_nodes, docstring_length
from .pipeline import prepare
from .quote import copy_tree, name, quote, quote_expr
from .region import names_tuple
from .source import Definition, remember
from .super_ import make_super_explicit

_WORK = (gast.Call, gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.AugAssign, gast.Subscript)
_FRAMES = frozenset({"locals", "vars", "eval", "exec", "globals", "dir"})
_NATIVE = (*SCOPES, gast.Global, gast.Nonlocal, gast.Import, gast.ImportFrom, gast.Raise)
_COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try, gast.TryStar, gast.Match)


@dataclass(frozen=True)
class SegmentCode:
    """One segment: a function of the user's own statements."""

    name: str
    code: CodeType
    tree: KeptTree
    ins: tuple[str, ...]
    outs: tuple[str, ...]
    lines: tuple[int, int]

    @property
    def source(self) -> str:
        """The segment as text."""
        return self.tree.source

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from the segments of another split of the same function."""
        return self.lines, self.ins, self.outs


@dataclass(frozen=True)
class SplitCode:
    """A driver, which is the user's function with calls of segments in it, and the segments."""

    code: CodeType
    helper: str
    tree: KeptTree
    segments: tuple[SegmentCode, ...]

    @property
    def source(self) -> str:
        """The driver as text."""
        return self.tree.source


def split_code(fn: FunctionType, breaks: Collection[int], left: Collection[object] = ()) -> SplitCode | None:
    """`fn` split around the statements at the lines `breaks`; None where there is nothing to compile, calls too.

    left: keys of segments that are to stay Python.
    """
    tree, context = prepare(fn)
    if not isinstance(tree, FUNCTIONS) or _looks_at_its_frame(tree):
        return None
    make_super_explicit(tree, context)
    splitter = _Splitter(tree, fn, context, frozenset(breaks), left)
    start = docstring_length(tree)
    tree.body = tree.body[:start] + splitter.block(tree.body[start:], is_last=True)
    if not splitter.segments and not any(isinstance(node, gast.Call) for node in all_nodes(tree)):
        return None
    names = [segment.name for segment in splitter.segments]
    code, _ = compile_function(_calls_converted(copy_tree(tree), context, names), fn, context, names, observed=False)
    return SplitCode(code, context.vt, KeptTree(tree), tuple(splitter.segments))


def _looks_at_its_frame(tree: Node) -> bool:
    return any(isinstance(node, gast.Name) and node.id in _FRAMES for node in all_nodes(tree))


class _Splitter:
    def __init__(
        self, tree: Node, fn: FunctionType, context: Context, breaks: frozenset[int], left: Collection[object]
    ) -> None:
        self.tree = tree
        self.fn = fn
        self.context = context
        self.breaks = breaks
        self.left = left
        self.facts: FunctionFacts = analyze(tree, context.names)
        self.segments: list[SegmentCode] = []
        self.kept = self._cells()
        self.awaited: frozenset[str] = frozenset()
        """What is read behind the `with` statements around, which may take what is raised in them for dealt with."""

    def _cells(self) -> frozenset[str]:
        """Variables that nested functions assign, so that their value may change behind a segment's back."""
        inner = [node for node in all_nodes(self.tree) if isinstance(node, gast.Nonlocal)]
        return frozenset(n for node in inner for n in node.names) & self.facts.scope.locals

    def block(self, stmts: Stmts, *, is_last: bool = False) -> Stmts:
        """A statement list with its runs of unbroken statements made segments. is_last: the function ends with it."""
        tail = self._tail(stmts) if is_last else len(stmts)
        out: Stmts = []
        run: Stmts = []
        for stmt in stmts[:tail]:
            if self._is_convertible(stmt) and not _jumps_out(stmt):
                run.append(stmt)
            else:
                out += self._segment(run)
                out.append(self._python(stmt))
                run = []
        return out + self._segment(run) + self._segment(stmts[tail:], ends=True)

    def _tail(self, stmts: Stmts) -> int:
        """Where the last segment starts: from there on everything can be compiled, early returns included."""
        start = len(stmts)
        while start and self._is_convertible(stmts[start - 1]):
            start -= 1
        return start

    def _is_broken(self, stmt: Node) -> bool:
        return any(stmt.lineno <= line <= (stmt.end_lineno or stmt.lineno) for line in self.breaks)

    def _is_convertible(self, stmt: Node) -> bool:
        if self._is_broken(stmt) or isinstance(stmt, _NATIVE):
            return False
        does = activity([stmt], self.context.names)
        touched = does.reads | does.writes
        cells = self.facts.outlasting - self.facts.scope.declared
        return not (does.captures or touched & self.kept or does.writes & cells)

    def _python(self, stmt: Node) -> Node:
        """A statement that stays Python, with segments in its blocks."""
        if not isinstance(stmt, _COMPOUND):
            return stmt
        if isinstance(stmt, (gast.Try, gast.TryStar)):
            return stmt  # a handler may need what a segment that fails midway has set
        outer = self.awaited
        if isinstance(stmt, gast.With) and not all(map(self._is_ours, stmt.items)):
            self.awaited |= self.facts.live_out(stmt)
        for owner in [stmt, *getattr(stmt, "cases", ())]:
            for field in ("body", "orelse"):
                block = getattr(owner, field, None)
                if isinstance(block, list):
                    setattr(owner, field, self.block(block))
        self.awaited = outer
        return stmt

    def _is_ours(self, item: Node) -> bool:
        """Whether a context manager is one of this package, such as `paddle.no_grad()`: none swallows exceptions."""
        function = item.context_expr.func if isinstance(item.context_expr, gast.Call) else None
        names: list[str] = []
        while isinstance(function, gast.Attribute):
            names.append(function.attr)
            function = function.value
        if not isinstance(function, gast.Name) or function.id in self.facts.scope.locals:
            return False
        found = self.context.global_value(function.id)
        for attribute in reversed(names):
            found = getattr(found, attribute, None) if isinstance(found, ModuleType) else None
        return (getattr(found, "__module__", None) or "").partition(".")[0] == "vitrify"

    def _is_left_halfway(self, run: Stmts) -> bool:
        """Whether a segment that fails midway would have set what is read behind a `with` that swallows exceptions."""
        writes = [activity([stmt], self.context.names).writes & self.awaited for stmt in run]
        return any(writes[:-1]) or (bool(writes[-1]) and isinstance(run[-1], _COMPOUND))

    def _segment(self, run: Stmts, *, ends: bool = False) -> Stmts:
        """The call of a segment of these statements, or the statements where that is not possible or not worth it.

        ends: it returns for the function.
        """
        if not any(map(_works, run)) or self._is_left_halfway(run):
            return run
        outs: frozenset[str] = frozenset()
        does = activity(run, self.context.names)
        own = self.facts.scope.locals
        if not ends:
            outs = self.facts.live_out(run[-1]) & does.writes & own
        # What a path through the segment leaves as it was goes in, too: it is read behind it.
        ins = self.facts.live_in(run[0]) & (does.reads | outs) & own
        maybe = (self.facts.unbound_at(run[0]) - self.facts.scope.params) & ins
        given, taken = tuple(sorted(ins)), tuple(sorted(outs))
        if maybe or (does.deletes & own) or (_lines(run), given, taken) in self.left:
            return run
        return self._call(run, given, taken, ends)

    def _call(self, run: Stmts, ins: tuple[str, ...], outs: tuple[str, ...], ends: bool) -> Stmts:
        at = run[0]
        identifier = self.context.names.fresh(f"segment_{len(self.segments) + 1}")
        self.segments.append(self._compiled(identifier, run, ins, outs, ends))
        call = quote_expr("segment(args)", at=at, segment=identifier, args=[name(x, at=at) for x in ins])
        if ends:
            return quote("return call", at=at, call=call)
        if not outs:
            return quote("call", at=at, call=call)
        return quote("(outs,) = call", at=at, outs=list(outs), call=call)

    def _compiled(
        self, identifier: str, run: Stmts, ins: tuple[str, ...], outs: tuple[str, ...], ends: bool
    ) -> SegmentCode:
        template = """
            def identifier(params):
                declarations
                body
        """
        body = [copy_tree(stmt) for stmt in run]
        if not ends:
            body += quote("return result", at=run[-1], result=names_tuple(outs, run[-1]))
        declared = self._declarations(run)
        (tree,) = quote(
            template, at=run[0], identifier=identifier, params=list(ins), declarations=declared, body=body
        )  # fmt: skip
        tree.end_lineno = run[-1].end_lineno
        code, _ = compile_function(tree, self.fn, self.context, (), observed=False)
        remember(code, Definition(to_plain(tree), self.context.class_name))
        return SegmentCode(identifier, code, KeptTree(tree), ins, outs, _lines(run))

    def _declarations(self, run: Sequence[Node]) -> Stmts:
        written = activity(list(run), self.context.names).writes
        scope = self.facts.scope
        here, everywhere = sorted(written & scope.nonlocals), sorted(written & scope.globals)
        out = quote("nonlocal x", at=run[0], x=here) if here else []
        return out + (quote("global x", at=run[0], x=everywhere) if everywhere else [])


def _lines(run: Stmts) -> tuple[int, int]:
    return run[0].lineno, run[-1].end_lineno


def _jumps_out(stmt: Node) -> bool:
    """Whether a `return` in the statement, or a `break` or `continue` of a loop around it, leaves it."""
    return contains(stmt, lambda node: isinstance(node, gast.Return), into_loops=True) or contains(
        stmt, lambda node: isinstance(node, (gast.Break, gast.Continue)), into_loops=False
    )


def _works(stmt: Node) -> bool:
    """Whether a statement computes anything."""
    return any(isinstance(node, _WORK) for node in all_nodes(stmt))


def _calls_converted(tree: Node, context: Context, segments: Collection[str]) -> Node:
    """`tree` with its calls made through the helper, so that what they call is compiled in turn; not those of segments.

    The readable form leaves this out, as it does the observed reads of converted functions.
    """
    convert_calls_of_python(tree, context)
    for node in all_nodes(tree):
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Call) and node.func.args:
            inner = node.func.args[0]
            if isinstance(inner, gast.Name) and inner.id in segments:
                node.func = inner
    return tree

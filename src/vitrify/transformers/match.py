"""`match`: every case becomes a branch of an ordinary `if`, so that a tensor may decide it.

    match point:                        if point == 0:
        case 0:                             ...
            ...                         else:
        case [x, 1] if x > 0:   --->        found = vt.match(point, vt.sequence(vt.capture('x'), 1))
            ...                             matched = found.matched
                                            if matched:
                                                (x,) = found.captures
                                                matched = x > 0
                                            if matched: ...

Patterns that are literals, names or alternatives of literals are conditions at once; of others a description
is handed to `vt.match`. Captures are stored, in the order of their names, when the whole pattern has matched.
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.scopes import pattern_names
from .nodes import Node, ScopeTransformer, Stmts, all_nodes, functions_in
from .quote import constant, name, quote, quote_expr, tuple_of


def convert_matches(tree: Node, context: Context) -> Node:
    """`tree` with `if` statements for `match`."""
    for fn in functions_in(tree):
        _Matches(context).transform_body(fn)
    return tree


class _Matches(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Match(self, node: Node) -> Stmts:
        node = self.generic_visit(node)
        rebound = {x for case in node.cases for x in _bound(case)}
        if isinstance(node.subject, gast.Name) and node.subject.id not in rebound:
            return self._cases(node.cases, node.subject, node)
        subject = self.context.names.fresh("subject")
        first = quote("subject = value", at=node.subject, subject=subject, value=node.subject)
        return first + self._cases(node.cases, name(subject, at=node.subject), node)

    def visit_match_case(self, node: Node) -> Node:
        node.body = self.block(node.body)
        return node

    def _cases(self, cases: list[Node], subject: Node, match: Node) -> Stmts:
        if not cases:
            return quote("pass", at=match)
        case, *others = cases
        before, test, binding = self._pattern(case.pattern, subject)
        guard = case.guard
        if guard is not None and binding and test is not None:
            decided, test = self._guarded(test, binding, guard)
            before, binding, guard = before + decided, [], None
        elif guard is not None and binding:
            before, binding = before + binding, []
        if guard is not None:
            test = guard if test is None else quote_expr("test and guard", at=guard, test=test, guard=guard)
        if test is None:
            return [*before, *binding, *case.body]
        rest = self._cases(others, subject, match) if others else []
        template = "if test:\n    body\nelse:\n    rest" if rest else "if test:\n    body"
        return before + quote(template, at=test, test=test, body=binding + case.body, rest=rest)

    def _guarded(self, test: Node, binding: Stmts, guard: Node) -> tuple[Stmts, Node]:
        """Captures are stored before the guard is asked, and stay if it says no."""
        matched = self.context.names.fresh("matched")
        template = """
            matched = test
            if matched:
                binding
                matched = guard
        """
        return quote(template, at=guard, matched=matched, test=test, binding=binding, guard=guard), name(
            matched, at=guard
        )

    def _pattern(self, pattern: Node, subject: Node) -> tuple[Stmts, Node | None, Stmts]:
        """Statements to run first, the condition (None: always) and the statements that store the captures."""
        if _is_condition(pattern):
            return [], _condition(pattern, subject), []
        if isinstance(pattern, gast.MatchAs) and (pattern.pattern is None or _is_condition(pattern.pattern)):
            binding = [] if pattern.name is None else quote("x = subject", at=pattern, x=pattern.name, subject=subject)
            return [], None if pattern.pattern is None else _condition(pattern.pattern, subject), binding
        found = self.context.names.fresh("found")
        call = self.context.call("match", subject, _description(pattern, self.context), at=pattern)
        before = quote("found = call", at=pattern, found=found, call=call)
        captured = sorted(pattern_names(pattern))
        template = "(names,) = found.captures"
        binding = quote(template, at=pattern, names=captured, found=found) if captured else []
        return before, quote_expr("found.matched", at=pattern, found=found), binding


def _bound(case: Node) -> set[str]:
    """Names that trying a case may bind."""
    guards = [] if case.guard is None else list(all_nodes(case.guard))
    return set(pattern_names(case.pattern)) | {node.target.id for node in guards if isinstance(node, gast.NamedExpr)}


def _is_condition(pattern: Node) -> bool:
    """Whether a pattern compares the subject with values and does nothing else."""
    if isinstance(pattern, gast.MatchOr):
        return all(_is_condition(part) for part in pattern.patterns)
    return isinstance(pattern, (gast.MatchValue, gast.MatchSingleton))


def _condition(pattern: Node, subject: Node) -> Node:
    if isinstance(pattern, gast.MatchOr):
        conditions = [_condition(part, subject) for part in pattern.patterns]
        return gast.copy_location(gast.BoolOp(op=gast.Or(), values=conditions), pattern)
    if isinstance(pattern, gast.MatchSingleton):
        return quote_expr(f"subject is {pattern.value}", at=pattern, subject=subject)
    return quote_expr("subject == value", at=pattern, subject=subject, value=pattern.value)


def _description(pattern: Node, context: Context) -> Node:
    """The expression that describes a pattern to `vt.match`; a plain value means equality."""
    describe = _DESCRIBE[type(pattern).__name__]
    return describe(pattern, context)


def _all(patterns: list[Node], context: Context) -> list[Node]:
    return [_description(pattern, context) for pattern in patterns]


def _value(pattern: Node, context: Context) -> Node:
    return pattern.value


def _singleton(pattern: Node, context: Context) -> Node:
    return context.call("same", constant(pattern.value, at=pattern), at=pattern)


def _capture(pattern: Node, context: Context) -> Node:
    if pattern.name is None:
        return context.call("capture", at=pattern)
    args = [] if pattern.pattern is None else [_description(pattern.pattern, context)]
    return context.call("capture", constant(pattern.name, at=pattern), *args, at=pattern)


def _star(pattern: Node, context: Context) -> Node:
    args = [] if pattern.name is None else [constant(pattern.name, at=pattern)]
    return context.call("star", *args, at=pattern)


def _sequence(pattern: Node, context: Context) -> Node:
    return context.call("sequence", *_all(pattern.patterns, context), at=pattern)


def _either(pattern: Node, context: Context) -> Node:
    return context.call("either", *_all(pattern.patterns, context), at=pattern)


def _mapping(pattern: Node, context: Context) -> Node:
    values = _all(pattern.patterns, context)
    pairs = [tuple_of(pair, at=pattern) for pair in zip(pattern.keys, values, strict=True)]
    if pattern.rest is not None:
        pairs.append(_star(gast.MatchStar(name=pattern.rest), context))
    return context.call("mapping", *pairs, at=pattern)


def _instance(pattern: Node, context: Context) -> Node:
    call = context.call("instance", pattern.cls, *_all(pattern.patterns, context), at=pattern)
    attributes = zip(pattern.kwd_attrs, _all(pattern.kwd_patterns, context), strict=True)
    call.keywords = [gast.keyword(arg=attribute, value=value) for attribute, value in attributes]
    return call


_DESCRIBE = {
    "MatchValue": _value,
    "MatchSingleton": _singleton,
    "MatchAs": _capture,
    "MatchStar": _star,
    "MatchSequence": _sequence,
    "MatchOr": _either,
    "MatchMapping": _mapping,
    "MatchClass": _instance,
}

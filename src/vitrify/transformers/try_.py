"""`raise` and `assert` in a `try` that may catch them become a value and a jump, so that a tensor can decide them.

    try:                                error = None
        if test:                        try:
            raise ValueError("no")          while True:
        y = x                                   if test:
    except ValueError as e:                         error = ValueError("no")
        y = z                                       break
                                                y = x
                                                break
                                        except ValueError as e:
                                            error = e
                                        if error is not None:
                                            if isinstance(error, ValueError):
                                                e = error
                                                y = z
                                            else:
                                                raise error

`break` and `continue` that leave the body set a flag, at which the `if` after it looks. What operations raise still
goes Python's way. Only a `try` with a `raise` below an `if` or loop is rewritten, and one
that is to see what called functions raise (`called_raises`).
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterator

import gast

from .called_raises import attempts
from .context import Context
from .facts.cfg import may_swallow
from .facts.scopes import scope_of
from .jumps import runs_once
from .leaving import Leaving
from .nodes import (
    BLOCKS,
    FUNCTIONS,
    LOOPS,
    SCOPES,
    TRIES,
    Node,
    Stmts,
    all_nodes,
    functions_in,
    own_nodes,
    own_nodes_of,
)
from .quote import copy_tree, name, quote, quote_expr
from .undefined import unsure_names

_LOOKS = frozenset({"exc_info", "exception", "format_exc", "print_exc", "print_exception", "format_exception"})
"""What asks for the exception that is being handled."""
_KINDS = (gast.Name, gast.Attribute)
_DECLARATIONS = (gast.Global, gast.Nonlocal)


def lower_caught_raises(tree: Node, context: Context) -> Node:
    """`tree` whose `raise` statements that a `try` around them may catch are jumps to its handlers."""
    if not context.global_names("isinstance"):
        for fn in functions_in(tree):
            scope = scope_of(fn)
            unsure = unsure_names(fn, context) if context.raising or context.deep_tries else frozenset()
            lowering = _Lowering(context, scope.locals | scope.declared, unsure, _of_handlers_alone(fn))
            fn.body = lowering.block(fn.body)
    return tree


class _Lowering:
    def __init__(
        self, context: Context, variables: frozenset[str], unsure: frozenset[str], of_handlers: frozenset[str]
    ) -> None:
        self.context = context
        self.variables = variables
        self.unsure = unsure
        self.of_handlers = of_handlers
        self.tries = 0

    def block(self, stmts: Stmts) -> Stmts:
        """The statements, with every `try` in them rewritten that needs it, inner ones first."""
        return [new for stmt in stmts for new in self._statement(stmt)]

    def _statement(self, stmt: Node) -> Stmts:
        if isinstance(stmt, SCOPES):
            return [stmt]
        is_try = isinstance(stmt, gast.Try)
        self.tries += is_try
        for owner in (stmt, *getattr(stmt, "handlers", ())):
            for field in BLOCKS:
                if isinstance(getattr(owner, field, None), list):
                    setattr(owner, field, self.block(getattr(owner, field)))
        self.tries -= is_try
        return self._try(stmt) if is_try else [stmt]

    def _try(self, stmt: Node) -> Stmts:
        if not stmt.finalbody:
            return self._caught(stmt) if self._is_fit(stmt) else [stmt]
        inner = self._without_final(stmt) if stmt.handlers else stmt.body
        outer = gast.copy_location(gast.Try(body=inner, handlers=[], orelse=[], finalbody=stmt.finalbody), stmt)
        return self._finally(outer) if self._is_fit(outer) else [stmt]

    def _without_final(self, stmt: Node) -> Stmts:
        parts = {"body": stmt.body, "handlers": stmt.handlers, "orelse": stmt.orelse, "finalbody": []}
        inner = gast.copy_location(gast.Try(**parts), stmt)
        self.tries += 1
        is_fit = self._is_fit(inner)
        self.tries -= 1
        return self._caught(copy_tree(inner)) if is_fit else [inner]

    # -- which ------------------------------------------------------------------------------------------------------

    def _is_fit(self, stmt: Node) -> bool:
        """Whether a `raise` in the body may be decided by a tensor, and whether it can be made a jump."""
        found = [(site, part) for part in stmt.body for site in _sites(part)]
        deep = [site for site, part in found if site is not part or isinstance(site, gast.Assert)]
        if not (self._is_deep(stmt) or any(self._can_catch(stmt, site) for site in deep)):
            return False
        is_plain = all(isinstance(site, gast.Assert) or site.exc is not None for site in _all_sites(stmt.body))
        return is_plain and _raise_in_sight(stmt.body) and _is_seen(stmt.handlers)

    def _is_deep(self, stmt: Node) -> bool:
        """Whether what called functions raise is to be seen, too."""
        return self.context.raising or stmt.lineno in self.context.deep_tries

    def _is_made(self, value: Node) -> bool:
        """Whether it is a variable of ours that holds an exception."""
        return isinstance(value, gast.Name) and value.id in self.context.errors

    def _can_catch(self, stmt: Node, site: Node) -> bool:
        if not stmt.handlers or self.tries or stmt.finalbody:
            return True  # another one around it may
        raised = site.exc if isinstance(site, gast.Raise) else None
        kind = AssertionError if raised is None else self._builtin(getattr(raised, "func", raised))
        return any(self._is_caught(kind, handler.type) for handler in stmt.handlers)

    def _is_caught(self, kind: type | None, by: Node | None) -> bool:
        if isinstance(by, gast.Tuple):
            return any(self._is_caught(kind, part) for part in by.elts)
        known = BaseException if by is None else self._builtin(by)
        return kind is None or known is None or issubclass(kind, known)

    def _builtin(self, kind: Node) -> type | None:
        """The builtin exception class that a name means; None where that is not sure."""
        found = getattr(builtins, kind.id, None) if isinstance(kind, gast.Name) else None
        is_class = isinstance(found, type) and issubclass(found, BaseException)
        return found if is_class and not self.context.global_names(kind.id) else None

    # -- what of it -------------------------------------------------------------------------------------------------

    def _caught(self, stmt: Node) -> Stmts:
        error, raised = self.context.names.fresh("error"), self.context.names.fresh("raised")
        leaving = Leaving(self.context)
        out = self._body(stmt, error, leaving)
        for handler in stmt.handlers:
            kind = quote_expr("BaseException", at=handler) if handler.type is None else copy_tree(handler.type)
            body = quote("error = raised", at=handler, error=error, raised=raised)
            made = gast.ExceptHandler(type=kind, name=name(raised, at=handler, store=True), body=body)
            out[-1].handlers.append(gast.copy_location(made, handler))
        return [*out, self._dispatch(stmt, error, leaving.after(stmt))]

    def _finally(self, stmt: Node) -> Stmts:
        error = self.context.names.fresh("error")
        leaving = Leaving(self.context)
        out = self._body(stmt, error, leaving)
        out[-1].finalbody = stmt.finalbody
        return [*out, *quote("if error is not None:\n    raise error", at=stmt, error=error), *leaving.after(stmt)]

    def _body(self, stmt: Node, error: str, leaving: Leaving) -> Stmts:
        """`error = None` and the `try` with the body in a loop that is left where something is raised."""
        self.context.errors.add(error)
        body = self._jumping(leaving.block(stmt.body), error, self._is_deep(stmt))
        start = [*quote("error = None", at=stmt, error=error), *leaving.before(stmt)]
        (loop,) = quote("while True:\n    body\n    break", at=stmt, body=body)
        made = gast.Try(body=[loop], handlers=[], orelse=[], finalbody=[])
        return [*start, gast.copy_location(made, stmt)]

    def _dispatch(self, stmt: Node, error: str, leave: Stmts) -> Node:
        """What comes after: a jump out of the body or the `else`, the handler that fits, or the error itself."""
        rest: Stmts = quote("raise error", at=stmt, error=error)
        for handler in reversed(stmt.handlers):
            body = _Again(error).block(handler.body)
            if handler.name is not None:
                body = self._with_name(handler, body, error)
            if handler.type is None or self._builtin(handler.type) is BaseException:
                rest = body
                continue
            test = quote_expr("isinstance(error, kind)", at=handler, error=error, kind=copy_tree(handler.type))
            rest = [gast.copy_location(gast.If(test=test, body=body, orelse=rest), handler)]
        orelse = [*leave, *stmt.orelse]
        test = quote_expr("error is None" if orelse else "error is not None", at=stmt, error=error)
        blocks = (orelse, rest) if orelse else (rest, [])
        return gast.copy_location(gast.If(test=test, body=blocks[0], orelse=blocks[1]), stmt)

    def _with_name(self, handler: Node, body: Stmts, error: str) -> Stmts:
        """The body of a handler, with a variable of ours for its name where somebody sees that Python unsets that."""
        known = handler.name.id
        if known in self.of_handlers:
            return [*quote("name = error", at=handler, name=known, error=error), *body]
        own = self.context.names.fresh(known)
        for node in _names_of(known, body):
            node.id = own
        start = "name = error\ndel name\nown = error"
        return [*quote(start, at=handler, name=known, own=own, error=error), *body]

    def _jumping(self, stmts: Stmts, error: str, deep: bool, late: _Late | None = None) -> Stmts:
        """The statements, with jumps in place of what raises; late: what is raised in the loop around them."""
        out: Stmts = []
        for stmt in stmts:
            if isinstance(stmt, (gast.Raise, gast.Assert)):
                out += self._jump(stmt, error, late)
                continue
            start = len(out)
            out += attempts(stmt, error, self.context, self.variables, self.unsure) if deep else [stmt]
            if not _is_passed(stmt) or not (deep or any(_sites(stmt))):
                continue
            is_loop = isinstance(stmt, LOOPS)
            is_block = is_loop and late is None and runs_once(stmt)
            inner = _Late() if is_loop and not is_block else late
            stmt.body = self._jumping(stmt.body, error, deep, inner)
            if not isinstance(stmt, gast.With):
                stmt.orelse = self._jumping(stmt.orelse, error, deep, late)
            if is_loop and inner is not None:
                out[start:start] = inner.before(stmt)
                out += inner.after(stmt, error, late)
            if is_loop and (deep or inner is None or inner.has_others):
                out += quote("if error is not None:\n    break", at=stmt, error=error)
        return out

    def _jump(self, site: Node, error: str, late: _Late | None) -> Stmts:
        value = self._value(site) if isinstance(site, gast.Raise) else self._failed(site)
        if late is not None and self._can_wait(site):
            flag = self.context.names.fresh("raising")
            late.sites.append((flag, value))
            jump = quote("flag = True\nbreak", at=site, flag=flag)
        else:
            if late is not None:
                late.has_others = True
            jump = quote("error = value\nbreak", at=site, error=error, value=value)
        if isinstance(site, gast.Raise):
            return jump
        return quote("if not test:\n    jump", at=site, test=site.test, jump=jump) if __debug__ else []

    def _can_wait(self, site: Node) -> bool:
        """Whether the exception is made by naming its class, which may be done behind the loop that it leaves."""
        made = getattr(site, "exc", None)
        if isinstance(site, gast.Assert) or self._builtin(made) is not None:
            return True
        return isinstance(made, gast.Call) and isinstance(made.func, _KINDS)

    def _failed(self, site: Node) -> Node:
        """The exception of an `assert`."""
        return quote_expr("AssertionError(message)", at=site, message=[] if site.msg is None else [site.msg])

    def _value(self, site: Node) -> Node:
        """The exception of a `raise`."""
        if site.cause is None and (isinstance(site.exc, gast.Call) or self._is_made(site.exc)):
            return site.exc
        if site.cause is None and self._builtin(site.exc) is not None:
            return quote_expr("kind()", at=site, kind=site.exc)
        given = [site.exc, *filter(None, [site.cause])]
        return self.context.call("caught_raise", *given, at=site)


class _Late:
    """What is raised in a loop: flags there, exceptions behind it, so that no loop carries those.

    `has_others`: whether some of it is an exception that was made before.
    """

    def __init__(self) -> None:
        self.sites: list[tuple[str, Node]] = []
        self.has_others = False

    def before(self, loop: Node) -> Stmts:
        """What sets the flags back."""
        return [new for flag, _ in self.sites for new in quote("flag = False", at=loop, flag=flag)]

    def after(self, loop: Node, error: str, outer: _Late | None) -> Stmts:
        """What leaves the loop around, or makes the exceptions: nothing has changed since what they are made of."""
        out: Stmts = []
        for flag, value in self.sites:
            if outer is None:
                out += quote("if flag:\n    error = value\n    break", at=value, flag=flag, error=error, value=value)
            else:
                out += quote("if flag:\n    break", at=loop, flag=flag)
        if outer is not None:
            outer.sites += self.sites
            outer.has_others = outer.has_others or self.has_others
        return out


def _sites(stmt: Node) -> Iterator[Node]:
    """Each `raise` and `assert` in a statement, but for those in another `try`, or in a `with` that may see them."""
    if isinstance(stmt, (gast.Raise, gast.Assert)):
        yield stmt
    elif _is_passed(stmt):
        for part in (*stmt.body, *getattr(stmt, "orelse", ())):
            yield from _sites(part)


def _is_passed(stmt: Node) -> bool:
    """Whether what is raised in it passes it by: an `if`, a loop, a `with` for a mode."""
    if isinstance(stmt, gast.With):
        return not any(map(may_swallow, stmt.items))
    return isinstance(stmt, (gast.If, *LOOPS))


def _all_sites(stmts: Stmts) -> list[Node]:
    return [site for stmt in stmts for site in _sites(stmt)]


def _raise_in_sight(stmts: Stmts) -> bool:
    """Whether nothing is raised inside of a `with` or another `try`, which would have to see it first."""
    for stmt in stmts:
        if _is_passed(stmt):
            if not _raise_in_sight([*stmt.body, *getattr(stmt, "orelse", ())]):
                return False
        elif isinstance(stmt, (gast.With, gast.AsyncWith, *TRIES)) and any(
            isinstance(node, (gast.Raise, gast.Assert)) for node in own_nodes_of([stmt])
        ):
            return False
    return True


def _is_seen(handlers: Stmts) -> bool:
    """Whether the handlers name plain classes, and ask for the exception by its name alone."""
    for handler in handlers:
        kinds = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
        if not all(kind is None or isinstance(kind, _KINDS) for kind in kinds):
            return False
        if any(getattr(node, "attr", getattr(node, "id", None)) in _LOOKS for node in all_nodes(handler)):
            return False
        if handler.name is not None and any(_declares(node, handler.name.id) for node in all_nodes(handler)):
            return False
    return True


def _of_handlers_alone(fn: Node) -> frozenset[str]:
    """Names that handlers give to what they catch, and that stand nowhere else: nobody sees that Python unsets them."""
    handlers = [node for node in own_nodes(fn) if isinstance(node, gast.ExceptHandler) and node.name is not None]
    if not handlers:
        return frozenset()
    everywhere = Counter(node.id for node in all_nodes(fn) if isinstance(node, gast.Name))
    declared = {known for node in all_nodes(fn) if isinstance(node, _DECLARATIONS) for known in node.names}
    inside: Counter[str] = Counter()
    for handler in handlers:  # one inside of another that has its name is counted twice
        inside.update(node.id for node in all_nodes(handler) if _is_name(node, handler.name.id))
    return frozenset(known for known, count in inside.items() if count == everywhere[known]) - declared


def _is_name(node: Node, known: str) -> bool:
    return isinstance(node, gast.Name) and node.id == known


def _declares(node: Node, known: str) -> bool:
    return isinstance(node, _DECLARATIONS) and known in node.names


def _names_of(known: str, nodes: list[Node]) -> Iterator[Node]:
    """Where the variable is named, but for functions that have a parameter of its name."""
    for node in nodes:
        if _is_name(node, known):
            yield node
        elif isinstance(node, (*FUNCTIONS, gast.Lambda)) and known in _parameters(node.args):
            yield from _names_of(known, [*node.args.defaults, *filter(None, node.args.kw_defaults)])
        else:
            yield from _names_of(known, list(gast.iter_child_nodes(node)))


def _parameters(args: Node) -> set[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {arg.id for arg in every if arg is not None}


class _Again:
    """Gives `raise` in a handler the exception that it raises again."""

    def __init__(self, error: str) -> None:
        self.error = error

    def block(self, stmts: Stmts) -> Stmts:
        """The statements, changed."""
        for node in self._raises(stmts):
            node.exc = name(self.error, at=node)
        return stmts

    def _raises(self, stmts: Stmts) -> Iterator[Node]:
        for stmt in stmts:
            if isinstance(stmt, gast.Raise) and stmt.exc is None:
                yield stmt
            elif not isinstance(stmt, SCOPES):
                for field in BLOCKS:  # a handler inside raises its own again
                    block = getattr(stmt, field, None)
                    if isinstance(block, list):
                        yield from self._raises(block)

"""Python's scoping rules: which names a function binds, declares and takes from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import gast

from ..nodes import SCOPES, Node, Visitor, all_nodes, children


@dataclass(frozen=True)
class Scope:
    """Names of one function: parameters, names bound by its own code, and its declarations."""

    params: frozenset[str]
    bound: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]

    @cached_property
    def locals(self) -> frozenset[str]:
        """Variables that live in the function's own frame."""
        return (self.params | self.bound) - self.declared

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names declared `global` or `nonlocal`."""
        return self.globals | self.nonlocals


def parameters(args: Node) -> list[str]:
    """All parameter names of an `arguments` node, in the order of the signature."""
    optional = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    positional: list[Node] = [*args.posonlyargs, *args.args]
    return [arg.id for arg in [*positional, *args.kwonlyargs, *optional]]


def outer_expressions(fn: Node) -> Iterator[Node]:
    """Expressions of a definition that run in the scope around it: decorators, defaults, annotations, bases."""
    yield from getattr(fn, "decorator_list", [])
    if not isinstance(fn, gast.ClassDef):
        yield from (default for default in [*fn.args.defaults, *fn.args.kw_defaults] if default is not None)
    if not _type_params(fn):
        yield from _signature(fn)


def type_scope_names(node: Node) -> frozenset[str]:
    """Names that the scope of type parameters takes from outside: bounds, alias values, annotations and bases in it.

    Bounds and values of aliases are evaluated when somebody asks for them, so that scope captures its names.
    """
    alias = isinstance(node, gast.TypeAlias)
    params = _type_params(node)
    if not (params or alias):
        return frozenset()
    reader = _Reader()
    for expr in [*params, *([node.value] if alias else _signature(node))]:
        reader.visit(expr)
    return frozenset((reader.reads | reader.inner) - {param.name for param in params})


def _type_params(node: Node) -> list[Node]:
    return getattr(node, "type_params", None) or []


def _signature(fn: Node) -> Iterator[Node]:
    """Annotations or bases: what is evaluated among the type parameters, if there are any."""
    if isinstance(fn, gast.ClassDef):
        yield from fn.bases
        yield from (keyword.value for keyword in fn.keywords)
        return
    annotated = [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs, fn.args.vararg, fn.args.kwarg]
    yield from (arg.annotation for arg in annotated if arg is not None and arg.annotation is not None)
    if getattr(fn, "returns", None) is not None:
        yield fn.returns


def body_of(fn: Node) -> list[Node]:
    """The body of a function, class or lambda as a list."""
    return fn.body if isinstance(fn.body, list) else [fn.body]


def scope_of(fn: Node) -> Scope:
    """The scope that a function, lambda or class opens."""
    binder = _Binder()
    for stmt in body_of(fn):
        binder.visit(stmt)
    params = [] if isinstance(fn, gast.ClassDef) else parameters(fn.args)
    return Scope(frozenset(params), frozenset(binder.bound), frozenset(binder.globals), frozenset(binder.nonlocals))


def free_names(fn: Node) -> frozenset[str]:
    """Names that a function, lambda or class uses from scopes around it (global ones included)."""
    reader = _Reader()
    for stmt in body_of(fn):
        reader.visit(stmt)
    scope = scope_of(fn)
    used = reader.reads | scope.nonlocals | (scope.bound & scope.declared)
    if isinstance(fn, gast.ClassDef):  # its own names are no scope for what is nested in it
        used = (used - scope.locals - scope.globals) | reader.inner
    else:
        used = (used | reader.inner) - scope.locals - scope.globals
    return frozenset(used - {param.name for param in _type_params(fn)})


def comprehension_free_names(node: Node) -> frozenset[str]:
    """Names that a comprehension uses from outside, its first iterable excluded (that one runs outside)."""
    reader = _Reader()
    for part in comprehension_parts(node):
        reader.visit(part)
    return frozenset((reader.reads | reader.inner) - comprehension_variables(node))


def comprehension_variables(node: Node) -> frozenset[str]:
    """Variables of a comprehension's own scope: those its loops bind."""
    targets = _Binder()
    for generator in node.generators:
        targets.visit(generator.target)
    return frozenset(targets.bound)


def comprehension_parts(node: Node) -> list[Node]:
    """Everything in a comprehension but its first iterable."""
    head, *rest = node.generators
    elements = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    return [head.target, *head.ifs, *rest, *elements]


def walrus_targets(node: Node) -> frozenset[str]:
    """Names that `:=` inside a comprehension binds in the function around it."""
    found: set[str] = set()
    for child in children(node):
        if isinstance(child, gast.NamedExpr):
            found.add(child.target.id)
        if not isinstance(child, SCOPES):
            found |= walrus_targets(child)
    return frozenset(found)


def pattern_names(pattern: Node) -> frozenset[str]:
    """Names that a `match` pattern binds."""
    found = [getattr(node, field, None) for node in all_nodes(pattern) for field in ("name", "rest")]
    return frozenset(name for name in found if isinstance(name, str))


def import_names(node: Node) -> frozenset[str]:
    """Names that an import statement binds."""
    return frozenset(alias.asname or alias.name.partition(".")[0] for alias in node.names)


class _Binder(Visitor):
    """Collects the names bound in one scope."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()

    def visit_Name(self, node: Node) -> None:
        if not isinstance(node.ctx, gast.Load):
            self.bound.add(node.id)

    def visit_AnnAssign(self, node: Node) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: Node) -> None:
        self.bound.add(node.name)
        self._outer(node)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: Node) -> None:
        self._outer(node)

    def visit_TypeAlias(self, node: Node) -> None:
        self.bound.add(node.name.id)

    def _outer(self, node: Node) -> None:
        for expr in outer_expressions(node):
            self.visit(expr)

    def _comprehension(self, node: Node) -> None:
        self.visit(node.generators[0].iter)
        self.bound |= walrus_targets(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node: Node) -> None:
        self.bound |= import_names(node)

    visit_ImportFrom = visit_Import

    def visit_Global(self, node: Node) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: Node) -> None:
        self.nonlocals.update(node.names)

    def visit_match_case(self, node: Node) -> None:
        self.bound |= pattern_names(node.pattern)
        self.generic_visit(node)


class _Reader(Visitor):
    """Collects the names used in one scope (`reads`), and those that scopes inside it take from it (`inner`)."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.inner: set[str] = set()

    def visit_Name(self, node: Node) -> None:
        if isinstance(node.ctx, (gast.Load, gast.Del)):
            self.reads.add(node.id)

    def visit_AugAssign(self, node: Node) -> None:
        if isinstance(node.target, gast.Name):
            self.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: Node) -> None:
        for part in (node.target, node.value):
            if part is not None:
                self.visit(part)

    def _scope(self, node: Node) -> None:
        for expr in outer_expressions(node):
            self.visit(expr)
        self.inner |= free_names(node) | type_scope_names(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _scope

    def visit_TypeAlias(self, node: Node) -> None:
        self.inner |= type_scope_names(node)

    def _comprehension(self, node: Node) -> None:
        self.visit(node.generators[0].iter)
        self.inner |= comprehension_free_names(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

"""Calls in a `try` whose callee a tensor may let raise: what they raise comes back as a value.

    y = f(g(x))                         error, value = vt.attempt(g, x)
                                        if error is not None:
                                            break
                                        error, value_1 = vt.attempt(f, value)
                                        if error is not None:
                                            break
                                        y = value_1

So it is done in a `try` that turned out to need it (`Context.deep_tries`), and in functions that are themselves called
so (`Context.raising`): those give what they return, or raise, as a pair.

    def g(x):                           def g(x):
        if x > 0:                           try:
            raise ValueError                    if x > 0:
        return x                                    raise ValueError
                                                return vt.returned(x)
                                                return vt.returned(None)
                                            except BaseException as raised:
                                                return vt.raised(raised)
                                            return vt.raised(None)

Items, attributes and operators are asked so, too (`error, value = vt.tried(lambda: a[i])`), and stores: Python may find
on one path that they fail, and the user's classes may have methods of their own for them. What `and`, `or` and
conditional expressions may leave out stands in an `if`. So are variables that a path may leave unset. Calls in lambdas
and comprehensions stay.
"""

from __future__ import annotations

import gast

from .attribute import inplace
from .call import spread_arguments
from .context import Context
from .facts.activity import helper_name
from .nodes import FUNCTIONS, Node, ScopeTransformer, Stmts, binds, docstring_length, is_generator
from .quote import constant, copy_tree, name, quote, quote_expr

_SIMPLE = (gast.Expr, gast.Assign, gast.AnnAssign, gast.Return)
_GIVING = """
try:
    body
    return vt.returned(None)
except BaseException as caught:
    return vt.raised(caught)
return vt.raised(None)
"""
"""The last line is never reached, but traced where a tensor decides what is raised: it must give nothing new."""


def give_raised_as_value(tree: Node, context: Context) -> Node:
    """`tree`, whose function gives what it returns or raises as a pair, if the conversion is for that."""
    if context.raising and isinstance(tree, FUNCTIONS) and not is_generator(tree):
        at = docstring_length(tree)
        body = _Returns(context).block(tree.body[at:])
        raised = context.names.fresh("raised")
        tree.body[at:] = quote(_GIVING, at=tree.body[at], body=body, vt=context.vt, caught=raised)
    return tree


class _Returns(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Return(self, node: Node) -> Node:
        value = quote_expr("None", at=node) if node.value is None else node.value
        node.value = self.context.call("returned", value, at=node)
        return node


def attempts(
    stmt: Node, error: str, context: Context, variables: frozenset[str], unsure: frozenset[str] = frozenset()
) -> Stmts:
    """The statement, with jumps behind the calls that it is sure to make: `break`, when `error` is set.

    variables: what the function around it may assign to. unsure: those that may be unset somewhere.
    """
    hoisting = _Hoisting(error, context, unsure)
    if isinstance(stmt, gast.Delete):
        return [new for target in stmt.targets for new in _deleted(stmt, target, _Hoisting(error, context, unsure))]
    if isinstance(stmt, gast.AugAssign):
        return hoisting.updated(stmt, variables)
    if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1 and _is_stored(stmt.targets[0]):
        value = hoisting.kept(stmt.value)
        return hoisting.stored(hoisting.place(stmt.targets[0]), value, variables)
    field = "iter" if isinstance(stmt, gast.For) else "test" if isinstance(stmt, gast.If) else "value"
    value = getattr(stmt, field, None)
    if not isinstance(stmt, (*_SIMPLE, gast.If, gast.For)) or value is None or not hoisting.calls(value):
        return [stmt]
    found = hoisting.expression(value)
    if isinstance(stmt, gast.Expr) and isinstance(found, gast.Name):
        return hoisting.before
    return [*hoisting.before, _with(stmt, field, found)]


def _deleted(stmt: Node, target: Node, hoisting: _Hoisting) -> Stmts:
    """`del target`; an item that is not there is an error."""
    if not _is_item(target):
        return [gast.copy_location(gast.Delete(targets=[target]), stmt)]
    owner, key = (hoisting.kept(part) for part in (target.value, target.slice))
    hoisting.tried(hoisting.context.call("del_item", owner, key, at=stmt))
    return hoisting.before


def _with(stmt: Node, field: str, value: Node) -> Node:
    setattr(stmt, field, value)
    return stmt


class _Hoisting:
    """Takes calls out of an expression; `before`: the statements that make them."""

    def __init__(self, error: str, context: Context, unsure: frozenset[str]) -> None:
        self.error = error
        self.context = context
        self.unsure = unsure
        self.before: Stmts = []
        self.methods: set[Node] = set()  # functions that are called: looking a method up does not fail

    def calls(self, node: Node) -> bool:
        """Whether a call in the expression can be taken out of it."""
        if isinstance(node, gast.Call):
            self.methods.add(node.func)
        return (
            isinstance(node, gast.NamedExpr)
            or self._is_call(node)
            or any(map(self.calls, [*_parts(node), *_lazy_parts(node)]))
        )

    def _is_call(self, node: Node) -> bool:
        return self._may_raise(node) or self._is_users_call(node)

    def _may_raise(self, node: Node) -> bool:
        if isinstance(node, gast.Name):
            return node.id in self.unsure and isinstance(node.ctx, gast.Load)
        return node not in self.methods and _may_raise(node) and not binds(node)

    def _is_users_call(self, node: Node) -> bool:
        if not isinstance(node, gast.Call) or helper_name(node, self.context.names) is not None:
            return False
        return not (isinstance(node.func, gast.Name) and node.func.id == "super")

    def expression(self, node: Node) -> Node:
        """What is left of the expression."""
        if not self.calls(node):
            return node
        if isinstance(node, gast.NamedExpr):
            return self._named(node)
        if isinstance(node, gast.IfExp):
            return self._choice(node)
        if isinstance(node, gast.BoolOp):
            return self._lazy(node)
        parts = _parts(node)
        last = max((i for i, part in enumerate(parts) if self.calls(part)), default=-1)
        for index, part in enumerate(parts[: last + 1]):
            found = self.expression(part)
            if index < last and isinstance(found, gast.keyword):
                found.value = self._kept(found.value)
            elif index < last:
                found = self._kept(found)
            _put(node, index, found)
        if self._may_raise(node):
            return self.tried(node)
        return self._attempt(node) if self._is_users_call(node) else node

    def updated(self, stmt: Node, variables: frozenset[str]) -> Stmts:
        """`target += value`, of which reading, computing and storing may fail."""
        target = self.place(stmt.target) if _is_stored(stmt.target) else stmt.target
        old = copy_tree(target)
        old.ctx = gast.Load()
        is_sure = isinstance(target, gast.Name) and not self._may_raise(old)
        held = self._kept(old) if is_sure else self.tried(old)
        stmt.value = self.expression(stmt.value)
        new = self.tried(inplace(stmt, held, self.context))
        if _is_stored(target):
            return self.stored(target, new, variables)
        store = gast.Assign(targets=[target], value=new, type_comment=None)
        return [*self.before, gast.copy_location(store, stmt)]

    def place(self, target: Node) -> Node:
        """The attribute or item that is stored to, with variables for what must be computed to find it."""
        target.value = self.kept(target.value)
        if isinstance(target, gast.Subscript) and not isinstance(target.slice, gast.Constant):
            target.slice = self.kept(target.slice)
        return target

    def stored(self, target: Node, value: Node, variables: frozenset[str]) -> Stmts:
        """The statements that store a value to such a place."""
        known = target.value.id
        if isinstance(target, gast.Attribute):
            attribute = constant(self.context.mangle(target.attr), at=target)
            self.tried(self.context.call("set_attr", target.value, attribute, value, at=target))
            return self.before
        new = self.tried(self.context.call("convert_setitem", target.value, target.slice, value, at=target))
        if known in variables:
            self.before += quote("owner = new", at=target, owner=known, new=new)
        return self.before

    def tried(self, node: Node) -> Node:
        """The variable that has what an operation gives, behind which there is a jump if it raises."""
        arguments = gast.arguments(
            args=[], posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
        )
        thunk = gast.copy_location(gast.Lambda(args=arguments, body=node), node)
        return self._jumping(self.context.call("tried", thunk, at=node))

    def kept(self, value: Node) -> Node:
        """A variable that has the value of an expression: itself if it is one."""
        return value if isinstance(value, gast.Name) else self._kept(self.expression(value))

    def _kept(self, value: Node) -> Node:
        if isinstance(value, gast.Constant):
            return value
        held = self.context.names.fresh("value")
        self.before += quote("held = value", at=value, held=held, value=value)
        return name(held, at=value)

    def _named(self, node: Node) -> Node:
        """What `(name := value)` gives: the name may mean something else before that is used."""
        held = self._kept(self.expression(node.value))
        self.before += quote("name = held", at=node, name=node.target.id, held=held)
        return copy_tree(held)

    def _choice(self, node: Node) -> Node:
        held = self.context.names.fresh("value")
        test = self.expression(node.test)
        bodies = [self._inside(part, held) for part in (node.body, node.orelse)]
        self.before.append(gast.copy_location(gast.If(test=test, body=bodies[0], orelse=bodies[1]), node))
        return name(held, at=node)

    def _lazy(self, node: Node) -> Node:
        held = self.context.names.fresh("value")
        first, *rest = node.values
        self.before += quote("held = value", at=first, held=held, value=self.expression(first))
        for part in rest:
            test = name(held, at=part)
            if isinstance(node.op, gast.Or):
                test = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), part)
            block = self._inside(part, held)
            self.before.append(gast.copy_location(gast.If(test=test, body=block, orelse=[]), part))
        return name(held, at=node)

    def _inside(self, part: Node, held: str) -> Stmts:
        """The statements that compute a part of an expression in a branch of its own."""
        inner = _Hoisting(self.error, self.context, self.unsure)
        value = inner.expression(part)
        return [*inner.before, *quote("held = value", at=part, held=held, value=value)]

    def _attempt(self, call: Node) -> Node:
        helper = "attempt_starred" if spread_arguments(call, self.context) else "attempt"
        made = self.context.call(helper, call.func, *call.args, at=call)
        made.keywords = call.keywords
        return self._jumping(gast.copy_location(made, call))

    def _jumping(self, made: Node) -> Node:
        held = self.context.names.fresh("value")
        self.before += quote("error, held = made", at=made, error=self.error, held=held, made=made)
        self.before += quote("if error is not None:\n    break", at=made, error=self.error)
        return name(held, at=made)


_SLICES = (gast.Slice, gast.Tuple)  # slices stand in displays, too: `x[1:, 2]`
_IDENTITY = (gast.Is, gast.IsNot)


def _is_item(node: Node) -> bool:
    return isinstance(node, gast.Subscript) and not isinstance(node.slice, _SLICES)


def _is_stored(target: Node) -> bool:
    """Whether it is a place in an object to which a store may fail."""
    return isinstance(target, gast.Attribute) or _is_item(target)


def _may_raise(node: Node) -> bool:
    """Whether it is an operation of which a `try` may want to see that it fails: an item, a division, `None + 1`."""
    if _is_stored(node):
        return isinstance(node.ctx, gast.Load)
    if isinstance(node, gast.Compare):
        return len(node.ops) == 1 and not isinstance(node.ops[0], _IDENTITY)
    return isinstance(node, gast.BinOp) or (isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not))


def _parts(node: Node) -> Stmts:
    """The parts of an expression in the order in which they are evaluated; none where some may not be."""
    parts = [part for _, _, part in _places(node)]
    is_chain = isinstance(node, gast.Compare) and len(node.ops) > 1
    return [] if is_chain or any(isinstance(part, _UNPACKED) for part in parts) else parts


def _lazy_parts(node: Node) -> Stmts:
    """The parts of an expression of which not all are evaluated."""
    if isinstance(node, gast.IfExp):
        return [node.test, node.body, node.orelse]
    return list(node.values) if isinstance(node, gast.BoolOp) else []


_UNPACKED = (gast.Starred, gast.Slice)


def _places(node: Node) -> list[tuple[str, int | None, Node]]:
    found: list[tuple[str, int | None, Node]] = []
    for field in _FIELDS.get(type(node), ()):
        value = getattr(node, field)
        if isinstance(value, list):
            found += [(field, index, item) for index, item in enumerate(value)]
        elif value is not None:
            found.append((field, None, value))
    return found


_FIELDS: dict[type, tuple[str, ...]] = {
    gast.BinOp: ("left", "right"), gast.UnaryOp: ("operand",), gast.Compare: ("left", "comparators"),
    gast.Tuple: ("elts",), gast.List: ("elts",), gast.Set: ("elts",), gast.Subscript: ("value", "slice"),
    gast.Attribute: ("value",), gast.Call: ("func", "args", "keywords"), gast.keyword: ("value",),
}  # fmt: skip
"""Expressions whose parts are evaluated one after the other, all of them."""


def _put(node: Node, index: int, part: Node) -> None:
    field, place, _ = _places(node)[index]
    if place is None:
        setattr(node, field, part)
    else:
        getattr(node, field)[place] = part

"""`while` and `for`: test and body become functions of the loop variables."""

from __future__ import annotations

import gast

from .break_continue import final_break_flag
from .context import Context
from .facts.function import Carried, constructs_in
from .nodes import LOOPS, Node, Stmts, functions_in
from .quote import quote, quote_expr
from .region import Constructs, call_construct, function, names_tuple, strings


def convert_loops(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_while` and `vt.convert_for` calls."""
    for fn in functions_in(tree):
        if any(isinstance(node, LOOPS) for node in constructs_in(fn)):
            _Loops(fn, context).transform_body(fn)
    return tree


class _Loops(Constructs):
    def visit_While(self, node: Node) -> Node | Stmts:
        if node in self.native:
            return self.generic_visit(node)
        carried = self._carried(node)
        test = self.context.names.fresh("test")
        loop_body = self.context.names.fresh("body")
        body, flag = self._body(node)
        values = [names_tuple(carried.ins, node), strings(carried.ins, node)]
        functions = [quote_expr(identifier, at=node) for identifier in (test, loop_body)]
        return [
            *function_returning(test, carried, self._while_test(node.test, flag), at=node),
            *function(loop_body, carried.ins, body, carried.outs, self.facts, at=node),
            *call_construct("convert_while", functions + values, carried.outs, carried.shared, self.context, at=node),
        ]

    def visit_For(self, node: Node) -> Node | Stmts:
        if node in self.native:
            return self.generic_visit(node)
        carried = self._carried(node)
        item, unpack = self._item(node, carried)
        loop_body = self.context.names.fresh("body")
        body, flag = self._body(node)
        params = [item, *carried.ins]
        args = [node.iter, quote_expr(loop_body, at=node), names_tuple(carried.ins, node), strings(carried.ins, node)]
        if flag is not None:
            args.append(self._for_test(flag, carried))
        return [
            *function(loop_body, params, unpack + body, carried.outs, self.facts, at=node),
            *call_construct("convert_for", args, carried.outs, carried.shared, self.context, at=node),
        ]

    def _carried(self, node: Node) -> Carried:
        flag = final_break_flag(node)
        carried = self.facts.of_loop(node, flag.id if flag is not None else None)
        self.shared |= set(carried.shared)
        return carried

    def _body(self, node: Node) -> tuple[Stmts, Node | None]:
        """The loop's body without its final `if flag: break`, inner loops converted, and that flag."""
        flag = final_break_flag(node)
        return self.block(node.body if flag is None else node.body[:-1]), flag

    def _item(self, node: Node, carried: Carried) -> tuple[str, Stmts]:
        """The body's first parameter, and what assigns it to the target if it is not the target itself."""
        target = node.target
        taken = {*carried.ins, *carried.shared}
        if isinstance(target, gast.Name) and target.id not in taken:
            return target.id, []
        item = self.context.names.fresh("item")
        (assign,) = quote("target = item", at=target, item=item)
        assign.targets = [target]
        return item, [assign]

    def _while_test(self, test: Node, flag: Node | None) -> Node:
        if flag is None:
            return test
        goes_on = self.context.call("convert_not", flag, at=flag)
        if isinstance(test, gast.Constant) and test.value:
            return goes_on
        return self.context.call("convert_and", goes_on, quote_expr("lambda: test", at=test, test=test), at=test)

    def _for_test(self, flag: Node, carried: Carried) -> Node:
        goes_on = self.context.call("convert_not", flag, at=flag)
        return quote_expr("lambda params: test", at=flag, params=list(carried.ins), test=goes_on)


def function_returning(identifier: str, carried: Carried, value: Node, *, at: Node) -> Stmts:
    """`def identifier(variables): return value`."""
    template = """
        def identifier(params):
            return value
    """
    return quote(template, at=at, identifier=identifier, params=list(carried.ins), value=value)

"""f-strings, and `%` on literal text: what they show may be known only when a program runs."""

from __future__ import annotations

import gast

from .context import Context
from .nodes import ExpressionTransformer, Node
from .quote import constant

_CONVERSIONS = {ord("s"): "str", ord("r"): "repr", ord("a"): "ascii"}


def convert_fstrings(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_fstring('loss ', vt.formatted(x, '', '.3f'))` for `f'loss {x:.3f}'`.

    Each field is formatted before the next one is evaluated, as Python does.
    """
    return _FStrings(context).visit(tree)


class _FStrings(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_JoinedStr(self, node: Node) -> Node:
        if all(isinstance(part, gast.Constant) for part in node.values):
            return node
        return self._joined(node, at=node)

    def _joined(self, node: Node, at: Node) -> Node:
        # Python 3.12 puts an empty text behind a field in a format specification.
        values = [p for p in node.values if not (isinstance(p, gast.Constant) and p.value == "")]
        parts = [self._field(p, at) if isinstance(p, gast.FormattedValue) else constant(p.value, at=at) for p in values]
        return self.context.call("convert_fstring", *parts, at=at)

    def _field(self, part: Node, at: Node) -> Node:
        value = self.visit(part.value)
        conversion = _CONVERSIONS.get(part.conversion, "")
        extra = [constant(conversion, at=at)] if conversion or part.format_spec is not None else []
        if part.format_spec is not None:
            extra.append(self._spec(part.format_spec, at))
        return self.context.call("formatted", value, *extra, at=at)

    def _spec(self, spec: Node, at: Node) -> Node:
        if all(isinstance(p, gast.Constant) for p in spec.values):
            return constant("".join(p.value for p in spec.values), at=at)
        return self._joined(spec, at)

    def visit_BinOp(self, node: Node) -> Node:
        literal = isinstance(node.left, gast.JoinedStr) or (
            isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
        )
        node = self.generic_visit(node)
        if not (literal and isinstance(node.op, gast.Mod)):
            return node
        return self.context.call("percent", node.left, node.right, at=node)

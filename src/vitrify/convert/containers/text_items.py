"""Texts made of tensors as items of lists: each item holds the tensors, and all are put together in one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.meta import Meta
from ...eager.host_expr import evaluate
from ...ir.program import Variable
from ..values.deferred import Node, encoded
from ..values.text import GraphText
from ..values.text_choice import mapped_inputs


@dataclass(frozen=True)
class TextSpec:
    """A text: `expression` over tensors of these metas. `node`: it over the variables of one of the items."""

    expression: Any
    metas: tuple[Meta, ...]
    node: Node = field(compare=False)
    variables: tuple[Variable, ...] = field(compare=False)

    def made(self, held: Sequence[Any]) -> Any:
        """The text of these variables; of tensors, Python's own."""
        if all(isinstance(var, Variable) for var in held):
            return GraphText(mapped_inputs(self.node, dict(zip(self.variables, held)).__getitem__))
        return evaluate(self.expression, [getattr(tensor, "_data", tensor) for tensor in held])


def text_spec(text: GraphText) -> TextSpec:
    """What an item is that holds the text."""
    expression, variables = encoded(text.kept_node())
    return TextSpec(expression, tuple(Meta(tuple(v.shape), v.dtype) for v in variables), text.node, tuple(variables))


def variables_of(text: GraphText) -> list[Variable]:
    """The variables that the text is made of, in the order of the spec."""
    return encoded(text.node)[1]

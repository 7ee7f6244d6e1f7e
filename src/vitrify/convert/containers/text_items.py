"""Texts made of tensors as items of lists: each item holds the tensors, and all are put together in one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.meta import Meta
from ...eager.host_expr import evaluate
from ...ir.program import Variable
from ..values.carried_text import CHARACTERS, characters, text_of
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


class WrittenSpec(TextSpec):
    """A text of which the program holds the characters, in whatever way it was put together."""

    def made(self, held: Sequence[Any]) -> Any:
        """The text of these characters."""
        return text_of(held[0]) if isinstance(held[0], Variable) else super().made(held)


WRITTEN = WrittenSpec(("call", "of_characters", (("tensor", 0, True),), ()), (CHARACTERS,), None, ())


def text_spec(text: GraphText) -> TextSpec:
    """What an item is that holds the text."""
    expression, variables = encoded(text.kept_node())
    return TextSpec(expression, tuple(Meta(tuple(v.shape), v.dtype) for v in variables), text.node, tuple(variables))


def variables_of(spec: TextSpec, text: Any) -> list[Variable]:
    """The variables that a text is held by, in the order of the spec."""
    return [characters(text)] if isinstance(spec, WrittenSpec) else encoded(text.node)[1]

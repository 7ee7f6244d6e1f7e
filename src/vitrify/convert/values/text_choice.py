"""Text that a tensor chooses: both texts leave their paths, and one of them is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...ir.program import Variable
from .deferred import Call, Input, Lazy
from .text import GraphText


@dataclass(frozen=True)
class TextSlot:
    """Stands for the text until the outputs of the `if` operator exist; `flag` is the output that chooses."""

    flag: int
    texts: tuple[Any, Any]

    def filled(self, results: list[Variable]) -> GraphText:
        """The text over the operator's outputs."""
        yes, no = (Lazy(mapped_inputs(text, lambda index: results[index])) for text in self.texts)
        return GraphText(Call("choose", (Input(results[self.flag], True, True), yes, no)))


def is_text(value: Any) -> bool:
    """Whether the value is a string, known now or later."""
    return isinstance(value, (str, GraphText))


def chosen(then: Any, orelse: Any, add: Callable[[Any, Any], int], absent: Callable[[Any], Any]) -> TextSlot:
    """The text `then` or `orelse`.

    `add(a, b)` makes an output of the operator and gives its index; `absent(x)` stands for x on the other path.
    """
    flag = add((True, None), (False, None))
    first = mapped_inputs(_node(then), lambda var: add((var, var.dtype), (absent(var), var.dtype)))
    second = mapped_inputs(_node(orelse), lambda var: add((absent(var), var.dtype), (var, var.dtype)))
    return TextSlot(flag, (first, second))


def _node(text: Any) -> Any:
    return text.node if isinstance(text, GraphText) else text


def mapped_inputs(node: Any, fn: Callable[[Any], Any]) -> Any:
    """An expression with `fn` applied to what its inputs refer to."""
    if isinstance(node, Input):
        return replace(node, var=fn(node.var))
    if isinstance(node, Call):
        keywords = {name: mapped_inputs(value, fn) for name, value in node.keywords.items()}
        return Call(node.function, tuple([mapped_inputs(arg, fn) for arg in node.args]), keywords)
    if isinstance(node, Lazy):
        return Lazy(mapped_inputs(node.inner, fn))
    if type(node) in (list, tuple, set):
        return type(node)([mapped_inputs(item, fn) for item in node])
    if type(node) is dict:
        return {mapped_inputs(key, fn): mapped_inputs(value, fn) for key, value in node.items()}
    return node

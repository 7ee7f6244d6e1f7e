"""The table of ONNX operators that are read: name -> what it means in our own ops.

An operator's function is `function(node, *inputs)`: inputs are tensors, arrays that are known now (constants), arrays
of objects (sizes, of which some are known and the others 0-D tensors), lists, or None where left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import FileFormatError
from ..ir.known_values import as_tensor
from ..ops.registry import OpDef, get_op
from .same_ops import SAME

Operator = Callable[..., Any]


class Operators:
    """The functions by ONNX's name."""

    def __init__(self) -> None:
        self._functions: dict[str, Operator] = {}
        self._structured: dict[str, Operator] = {}
        self._known: dict[str, tuple[int, ...]] = {}

    def __call__(self, *names: str, known: tuple[int, ...] = ()) -> Callable[[Operator], Operator]:
        """Enter the decorated function under these names. `known`: the inputs that it needs as arrays."""

        def enter(function: Operator) -> Operator:
            self._functions.update(dict.fromkeys(names, function))
            self._known.update(dict.fromkeys(names, known))
            return function

        return enter

    def with_graphs(self, name: str) -> Callable[[Operator], Operator]:
        """Enter a function of a node with graphs inside, `function(reader, node, inputs, env)`."""

        def enter(function: Operator) -> Operator:
            self._structured[name] = function
            return function

        return enter

    def names(self) -> frozenset[str]:
        """The operators with a function of their own."""
        return frozenset({*self._functions, *self._structured})

    def known(self, name: str) -> tuple[int, ...]:
        """The inputs of an operator that say how it works: they must be constants of the file."""
        return self._known.get(name, ())

    def structured(self, name: str) -> Operator | None:
        """The function of an operator with graphs inside."""
        return self._structured.get(name)

    def get(self, name: str) -> Operator | None:
        """The function of an operator; one that is an op of ours is found by the op's own mapping."""
        found = self._functions.get(name)
        if found is None and name in SAME:
            return _plain(get_op(SAME[name]))
        return found


def _plain(op: OpDef) -> Operator:
    """The function of an operator that is an op of ours."""

    def read(node: Any, *inputs: Any) -> Any:
        if len(inputs) != len(op.inputs) or any(v is None for v in inputs):
            raise FileFormatError(f"{node.type} takes {len(op.inputs)} inputs, the node has {len(inputs)}")
        return op(*map(as_tensor, inputs))

    return read


operator = Operators()

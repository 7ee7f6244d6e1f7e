"""The steps of a native program as text: each with the arrays that it works on, and the operator that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.program import Operator
from ..ops.fused import fused_op
from .calls import NativeFunction
from .flat import Label, flattened
from .operands import ARENA, CONSTANT, INPUT, OUTPUT, Entry, Operand, Step

if TYPE_CHECKING:
    from .assembler import Assembler

_SHORT = {INPUT: "in", OUTPUT: "out"}
_MOST_BYTES = 8


def listing(n: Assembler) -> str:
    """The program's steps, then those of the functions that it calls. Arrays in an arena are named by their offset."""
    names = {function: f"f{number}" for number, function in enumerate(n.functions)}
    lines = ["program", *_Lines(names).of(n.steps, "  ")]
    for function, name in names.items():
        lines += ["", f"function {name} = {function.key[0].name}", *_Lines(names).of(function.steps, "  ")]
    return "\n".join(lines)


class _Lines:
    """The lines of steps that share an arena."""

    def __init__(self, functions: dict[NativeFunction, str]) -> None:
        self._functions = functions
        self._labels: dict[Label, str] = {}

    def of(self, steps: Sequence[Step], indent: str) -> Iterator[str]:
        """Yield the lines of steps, and of the blocks inside."""
        for step in flattened(steps):
            if isinstance(step, Label):
                yield f"{indent[2:]}{self._label(step)}:"
                continue
            words = " ".join(self._words(step))
            yield f"{indent}{step.function} {words}{_origin(step)}".rstrip()
            for number, block in enumerate(step.blocks):
                yield f"{indent}  block {number}"
                yield from self.of(block, indent + "    ")

    def _words(self, step: Step) -> Iterator[str]:
        for word in step.words:
            if isinstance(word, Operand):
                yield _array(word)
            elif isinstance(word, Label):
                yield self._label(word)
            elif isinstance(word, Entry):
                yield self._functions[word.function]

    def _label(self, label: Label) -> str:
        return self._labels.setdefault(label, f"L{len(self._labels)}")


def _array(x: Operand) -> str:
    """Where an array lies, or what it is if that is a constant; its dtype and sizes."""
    kind = f"{x.dtype}[{', '.join(map(str, x.shape))}]"
    buffer = x.buffer
    if buffer.kind == CONSTANT and x.dtype.itemsize <= _MOST_BYTES and buffer.size == x.dtype.itemsize:
        return f"{np.frombuffer(buffer.number, x.dtype)[0]}:{kind}"
    if buffer.kind == ARENA:
        return f"a{buffer.number + x.offset}:{kind}"
    name = _SHORT.get(buffer.kind, "constant")
    return f"{name}{'' if buffer.kind == CONSTANT else buffer.number}{f'+{x.offset}' if x.offset else ''}:{kind}"


def _origin(step: Step) -> str:
    """The operator that a step is of, and the user's line."""
    operator: Any = step.operator
    if not isinstance(operator, Operator):
        return ""
    names = [operator.op.name]
    if operator.op is fused_op:
        names = [inner.op.name for inner in operator.attrs["body"].ops]
    where = f" at {operator.locs[0].file.rsplit('/', 1)[-1]}:{operator.locs[0].line}" if operator.locs else ""
    return f"  # {', '.join(names)}{where}"


__all__ = ["listing"]

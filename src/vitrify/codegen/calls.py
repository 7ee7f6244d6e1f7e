"""Functions that a program calls: for each kind of arguments one with steps and a memory plan of its own.

A function that calls itself is known by what it gives before its steps are there: by its metas, or where these leave
sizes open by a trial, in which a branch gives what the path does that does not call. What the steps then give must be
that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.meta import Meta
from ..ir.program import Block
from .emit import Dtype
from .errors import NoNativeForm
from .operands import INPUT, STATE, Buffer, Entry, Operand, Shape, Step, dense
from .results import results_of

if TYPE_CHECKING:
    from .assembler import Assembler

Kind = tuple[Shape, Dtype]
MOST_FUNCTIONS = 32
"""Functions of a program, those for other sizes included: sizes that change in each call would make ever more."""
CALL = "enter"
"""The step that calls a function."""


class UnfinishedError(Exception):
    """What a path gives depends on a function of which that is not known yet."""


@dataclass(eq=False)
class NativeFunction:
    """A function for such arrays, whose elements lie side by side; what it gives, and its steps once they are there."""

    block: Block
    inputs: list[Operand]
    gives: list[Kind] | None = None
    steps: list[Step] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)


class Functions:
    """The functions of a plan in the making."""

    def __init__(self) -> None:
        self.found: dict[Any, NativeFunction] = {}
        self.is_trial = False

    def __iter__(self) -> Any:
        return iter(self.found.values())

    def __bool__(self) -> bool:
        return bool(self.found)


def call(n: Assembler, block: Block, values: Sequence[Any]) -> tuple[Operand, ...]:
    """What a function gives for these values, in memory of the caller. Raises NoNativeForm and UnfinishedError."""
    if any(v is None for v in values):
        raise NoNativeForm("a function is given nothing for a value")
    given = [n.contiguous(v) for v in values]
    kinds = tuple((x.shape, x.dtype) for x in given)
    function = n.functions.found.get((block, kinds)) or _known(n, block, kinds)
    if function.gives is None:
        raise UnfinishedError
    outs = tuple(n.new(shape, dtype) for shape, dtype in function.gives)
    n.add(CALL, [Entry(function), STATE, *given, *outs])
    n.has_loops = True
    return outs


def _known(n: Assembler, block: Block, kinds: tuple[Kind, ...]) -> NativeFunction:
    """A function by what it gives, whose steps are still to come."""
    functions = n.functions
    if len(functions.found) >= MOST_FUNCTIONS:
        raise NoNativeForm("functions are called with arrays of ever other sizes")
    inputs = [
        Operand(Buffer(INPUT, _bytes(shape, dtype), i), 0, shape, dense(shape, dtype.itemsize), dtype)
        for i, (shape, dtype) in enumerate(kinds)
    ]
    function = functions.found[block, kinds] = NativeFunction(block, inputs)
    metas = [v.meta if v is not None else None for v in block.outputs]
    if not all(isinstance(m, Meta) for m in metas):
        raise NoNativeForm("a function gives something else than arrays")
    if all(m.is_static for m in metas if isinstance(m, Meta)):
        function.gives = [(m.shape, m.dtype.np) for m in metas if isinstance(m, Meta)]
        return function
    was_trial, functions.is_trial, written = functions.is_trial, True, n.bytes
    try:
        outs = n.within(lambda: n.arrays(block, inputs))[1]
    except UnfinishedError:
        del functions.found[block, kinds]
        if was_trial:
            raise  # another path of the caller may say
        raise NoNativeForm("what a function gives is said by no path that does not call") from None
    finally:
        functions.is_trial, n.bytes = was_trial, written
    function.gives = [(x.shape, x.dtype) for x in outs]
    return function


def _bytes(shape: Shape, dtype: Dtype) -> int:
    found = dtype.itemsize
    for n in shape:
        found *= n
    return found


def like_either(n: Assembler, paths: Sequence[Callable[[], Sequence[Operand]]]) -> tuple[Operand, ...]:
    """In a trial: arrays as the first path gives that can say so."""
    for path in paths:
        try:
            found = n.within(path)[1]
        except UnfinishedError:
            continue
        return tuple(n.new(x.shape, x.dtype) for x in found)
    raise UnfinishedError


def build_functions(n: Assembler) -> None:
    """Make the steps of all functions that are called, and of those that these call."""
    built: list[NativeFunction] = []
    while len(built) < len(n.functions.found):
        for function in list(n.functions):
            if function not in built:
                built.append(function)
                _build(n, function)


def _build(n: Assembler, function: NativeFunction) -> None:
    def build() -> list[Operand]:
        return results_of(n, n.arrays(function.block, function.inputs))

    function.steps, function.outputs = n.within(build)
    if [(x.shape, x.dtype) for x in function.outputs] != function.gives:
        raise NoNativeForm("the paths of a function give arrays of several sizes")
    if any(x.buffer in n.written for x in function.inputs):
        raise NoNativeForm("a function changes what it is given")


__all__ = ["CALL", "Functions", "NativeFunction", "UnfinishedError", "build_functions", "call", "like_either"]

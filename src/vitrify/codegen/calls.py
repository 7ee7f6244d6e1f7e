"""Functions that a program calls: for each kind of arguments one with steps and a memory plan of its own.

A function that calls itself is known by what it gives before its steps are there: by its metas, or where these leave
sizes open, or whether something is given at all, by a trial, in which a branch gives what the path does that does not
call. What the steps then give must be that; where it is missing on more paths, all is planned anew with that known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.meta import Meta
from ..ir.program import Block
from .emit import BOOL, INT64, Dtype
from .errors import NoNativeForm
from .operands import INPUT, STATE, Buffer, Entry, Frame, Listed, Maybe, Operand, Shape, Step, dense
from .results import results_of

if TYPE_CHECKING:
    from .assembler import Assembler

MOST_FUNCTIONS = 32
"""Functions of a program, those for other sizes included: sizes that change in each call would make ever more."""
LARGE_FRAME = 1 << 18
"""Bytes of a frame from which on the interpreter, which frees arrays before a call ends, runs functions."""
MOST_TRIES = 16
"""Plans of one program, each of which knows better what functions give."""
CALL = "enter"
"""The step that calls a function."""
DEEP = 2
"""Which of its words says what raises if it is too deep: 0, or while steps are collected the operator."""


class UnfinishedError(Exception):
    """What a path gives depends on a function of which that is not known yet."""


class OtherwiseError(Exception):
    """A function gives something else than was known of it, which now is known."""


@dataclass(frozen=True)
class Kind:
    """What a value is: of a shape and dtype, always there or not (`flag`); no array but a frame; nothing at all."""

    shape: Shape = ()
    dtype: Dtype = INT64
    is_array: bool = False
    is_frame: bool = False
    flag: bool = False

    @staticmethod
    def of(value: Any) -> Kind:
        """The kind of a value. Raises NoNativeForm for a list."""
        if isinstance(value, Listed):
            raise NoNativeForm("functions are given or give lists")
        if value is None or isinstance(value, Frame):
            return Kind(is_frame=value is not None)
        return Kind(value.shape, value.dtype, is_array=True, flag=isinstance(value, Maybe))

    @property
    def parts(self) -> list[tuple[Shape, Dtype]]:
        """The arrays that such a value is made of."""
        if self.is_frame:
            return [((), INT64)]
        return [(self.shape, self.dtype), *[((), BOOL)] * self.flag] if self.is_array else []

    def put_together(self, parts: Iterator[Operand]) -> Any:
        """The value that the next of these make."""
        if self.is_frame:
            return Frame.of(next(parts))
        if not self.is_array:
            return None
        return Maybe.of(next(parts), next(parts)) if self.flag else next(parts)

    def joined(self, other: Kind) -> Kind:
        """The kind of what is of either kind. Raises NoNativeForm where there is none."""
        if self == other:
            return self
        if self.is_array and other.is_array and (self.shape, self.dtype) != (other.shape, other.dtype):
            raise NoNativeForm("the paths of a function give arrays of several sizes")
        first, second = (self, other) if self.is_array or self.is_frame else (other, self)
        if first.is_frame:
            return first
        return Kind(first.shape, first.dtype, is_array=True, flag=first.flag or not second.is_array or second.flag)


def _parts_of(value: Any) -> list[Operand]:
    if value is None:
        return []
    return [Operand.of(value), *([value.flag] if isinstance(value, Maybe) else [])]


@dataclass(eq=False)
class NativeFunction:
    """A function for values of some kinds, whose elements lie side by side; its steps are there once it is built."""

    key: tuple[Block, tuple[Kind, ...]]
    values: list[Any]
    inputs: list[Operand]
    gives: tuple[Kind, ...] | None = None
    steps: list[Step] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)


class Functions:
    """The functions of a plan in the making; known: what those of an earlier one give."""

    def __init__(self, known: dict[Any, tuple[Kind, ...]] | None = None) -> None:
        self.found: dict[Any, NativeFunction] = {}
        self.known = {} if known is None else known
        self.is_trial = False
        self.is_building = False  # the steps of one

    def __iter__(self) -> Iterator[NativeFunction]:
        return iter(self.found.values())

    def __bool__(self) -> bool:
        return bool(self.found)


def call(n: Assembler, block: Block, values: Sequence[Any]) -> tuple[Any, ...]:
    """What a function gives for these values, in memory of the caller. Raises NoNativeForm and UnfinishedError."""
    given = [n.contiguous(x) for value in values for x in _parts_of(value)]
    key = block, tuple(map(Kind.of, values))
    if sum(x.size * x.dtype.itemsize for x in given) > LARGE_FRAME:
        raise NoNativeForm("a call needs much memory")
    function = n.functions.found.get(key) or _known(n, key)
    if function.gives is None:
        raise UnfinishedError
    outs = [n.new(shape, dtype) for kind in function.gives for shape, dtype in kind.parts]
    n.add(CALL, [Entry(function), STATE, n.operator, *given, *outs])
    n.has_loops = True
    parts = iter(outs)
    return tuple(kind.put_together(parts) for kind in function.gives)


def _known(n: Assembler, key: tuple[Block, tuple[Kind, ...]]) -> NativeFunction:
    """A function by what it gives, whose steps are still to come."""
    functions, (block, kinds) = n.functions, key
    if len(functions.found) >= MOST_FUNCTIONS:
        raise NoNativeForm("functions are called with arrays of ever other sizes")
    parts = [part for kind in kinds for part in kind.parts]
    inputs = [
        Operand(Buffer(INPUT, _bytes(shape, dtype), i), 0, shape, dense(shape, dtype.itemsize), dtype)
        for i, (shape, dtype) in enumerate(parts)
    ]
    rest = iter(inputs)
    function = functions.found[key] = NativeFunction(key, [kind.put_together(rest) for kind in kinds], inputs)
    if key not in functions.known:
        functions.known[key] = _by_metas(block) or _by_trial(n, function)
    function.gives = functions.known[key]
    return function


def _by_metas(block: Block) -> tuple[Kind, ...] | None:
    """What a function gives, where its metas say all; values that may be missing are in those for gradients alone."""
    metas = [v.meta if v is not None else None for v in block.outputs]
    if any(not isinstance(m, Meta) or not m.is_static for m in metas) or _has_frames(block):
        return None
    return tuple(Kind(m.shape, m.dtype.np, is_array=True) for m in metas if isinstance(m, Meta))


def _has_frames(block: Block) -> bool:
    return any(not isinstance(v.meta, Meta) for v in block.inputs)


def _by_trial(n: Assembler, function: NativeFunction) -> tuple[Kind, ...]:
    functions = n.functions
    was_trial, functions.is_trial, written = functions.is_trial, True, n.bytes
    was_building, functions.is_building = functions.is_building, True
    try:
        outs = n.within(lambda: n.block(function.key[0], function.values))[1]
    except UnfinishedError:
        del functions.found[function.key]
        if was_trial:
            raise  # another path of the caller may say
        raise NoNativeForm("what a function gives is said by no path that does not call") from None
    finally:
        functions.is_trial, n.bytes, functions.is_building = was_trial, written, was_building
    return tuple(map(Kind.of, outs))


def _bytes(shape: Shape, dtype: Dtype) -> int:
    found = dtype.itemsize
    for n in shape:
        found *= n
    return found


def like_either(n: Assembler, paths: Sequence[Callable[[], Sequence[Any]]]) -> tuple[Any, ...]:
    """In a trial: values as the paths give that can say so."""
    found: list[tuple[Kind, ...]] = []
    for path in paths:
        try:
            found.append(tuple(map(Kind.of, n.within(path)[1])))
        except UnfinishedError:
            continue
    if not found:
        raise UnfinishedError
    joined = [a.joined(b) for a, b in zip(found[0], found[-1])]
    return tuple(k.put_together(iter([n.new(shape, dtype) for shape, dtype in k.parts])) for k in joined)


def build_functions(n: Assembler) -> None:
    """Make the steps of all functions that are called, and of those that these call. Raises OtherwiseError."""
    built: set[NativeFunction] = set()
    while len(built) < len(n.functions.found):
        for function in list(n.functions):
            if function not in built:
                built.add(function)
                _build(n, function)


def _build(n: Assembler, function: NativeFunction) -> None:
    kinds = list[Kind]()

    def build() -> list[Operand]:
        found = n.block(function.key[0], function.values)
        kinds.extend(map(Kind.of, found))
        return results_of(n, [part for value in found for part in _parts_of(value)])

    n.functions.is_building = True
    try:
        function.steps, function.outputs = n.within(build)
    finally:
        n.functions.is_building = False
    assert function.gives is not None
    joined = tuple(a.joined(b) for a, b in zip(function.gives, kinds))
    if joined != function.gives or joined != tuple(kinds):
        n.functions.known[function.key] = joined
        raise OtherwiseError
    if any(x.buffer in n.written for x in function.inputs):
        raise NoNativeForm("a function changes what it is given")


__all__ = [
    "CALL", "DEEP", "LARGE_FRAME", "MOST_TRIES", "Functions", "Kind", "NativeFunction", "OtherwiseError",
    "UnfinishedError", "build_functions", "call", "like_either",
]  # fmt: skip

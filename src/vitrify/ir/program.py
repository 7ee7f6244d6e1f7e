"""Program, Block, Operator, Variable: what users build, print and save.

A Block is closed: values enter through `inputs` and leave through `outputs`. Reading a variable of an enclosing block
while building an inner one adds a capture, an inner input that stands for the outer variable. Persistable variables of
the global block are the one exception: they live in a Scope and may be written more than once.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype
from ..core.epoch import Epoch
from ..core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from ..core.meta import UNKNOWN, FrameMeta, ListMeta, Meta, Ref
from ..core.modes import PYTHON_NUMBER, recorder
from ..core.source import Loc
from ..ops.missing import MAY_BE_MISSING, MAY_HAVE_GAPS
from ..ops.registry import OpDef
from .attributes import check_storable
from .changes import OPERATORS, TrackedDict, TrackedList
from .clone import clone_program, prune_program
from .graph_tensor import GraphTensor
from .text import FORWARD, Style, program_text

Value = Any  # Variable | Literal | None
AnyMeta = Meta | ListMeta | FrameMeta


@dataclass(frozen=True)
class Literal:
    """A Python scalar among an operator's inputs, with the dtype it takes there."""

    value: bool | int | float | complex
    dtype: DType

    @property
    def meta(self) -> Meta:
        """Shape [] and the dtype."""
        return Meta((), self.dtype)

    stop_gradient = True


class ScopeSlot:
    """Holds what reads and writes variables of scopes, filled in once when `vitrify.runtime` is imported.

    ir lies below runtime and may not import it; this is the seam between them.
    """

    __slots__ = ("read", "write")

    read: Callable[[str, Any], Any]
    write: Callable[[str, Any, Any], None]


SCOPES = ScopeSlot()


class Variable(GraphTensor):
    """A named value of a Program, known by its meta only. Source: paddle.static.Variable.

    Raises DTypeError when Python asks for its value (`bool(v)`, `int(v)`, iteration): there is none yet.
    """

    __slots__ = ("__dict__", "__weakref__", "block", "meta", "name", "persistable", "stop_gradient")
    block: Block
    name: str
    meta: AnyMeta
    stop_gradient: bool
    persistable: bool

    def __init__(
        self, block: Block, name: str, meta: AnyMeta, *, stop_gradient: bool = True, persistable: bool = False
    ) -> None:
        put = object.__setattr__  # a new variable changes the program when a block takes it in
        put(self, "block", block)
        put(self, "name", name)
        put(self, "meta", meta)
        put(self, "stop_gradient", stop_gradient)
        put(self, "persistable", persistable)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        self.block.program.epoch.bump()

    @property
    def shape(self) -> Any:
        """Sizes of all dimensions; -1 where unknown."""
        return list(self._known().shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._known().dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._known().shape)

    def _known(self) -> Meta:
        """Shape and dtype of what the variable means now: an in-place change may have given it others."""
        building = recorder.get()
        now: Variable | None = None if building is None else building.meaning(self)
        meta: AnyMeta = self.meta if now is None else now.meta
        while isinstance(meta, ListMeta):
            meta = meta.item
        assert isinstance(meta, Meta)
        return meta

    @property
    def is_parameter(self) -> bool:
        """Whether it is a trainable parameter."""
        return bool(self.__dict__.get("is_parameter_", False))

    @property
    def trainable(self) -> bool:
        """Of a parameter: whether optimizers change it and it has a gradient."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def get_value(self, scope: Any = None) -> Any:
        """A copy of what a scope (the global one by default) holds of it, as an array.

        Raises ArgumentError for what no scope keeps, and where it has no value.
        Source: paddle.static.Variable.get_value.
        """
        return SCOPES.read(self._kept("get_value"), scope)

    def set_value(self, value: Any, scope: Any = None) -> None:
        """Of a variable that scopes keep: let a scope (the global one by default) hold `value`, an array or Tensor.

        Of others, and with a value of the program: from here on it means `value`. Raises ArgumentError where the scope
        has no value of it yet, ShapeError for another shape. Source: paddle.static.Variable.set_value.
        """
        if not self.persistable or isinstance(value, Variable):
            super().set_value(value)
            return
        found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        if found.shape != self._known().shape:
            raise ShapeError(f"set_value: {self.name!r} is {self.meta}, the value has shape {list(found.shape)}")
        SCOPES.write(self.name, found.astype(self.dtype.np), scope)

    def _kept(self, what: str) -> str:
        if not self.persistable:
            raise ArgumentError(
                f"{what}: no scope keeps {self.name!r}", hint="fetch it: exe.run(program, fetch_list=[variable])"
            )
        return self.name

    def __hash__(self) -> int:
        if PYTHON_NUMBER in self.__dict__ and _acts_for_user(sys._getframe(1).f_globals["__name__"]):
            raise UnsupportedError(
                "a number that is known only when the program runs is put where Python finds things by their value: in "
                "a set, or as the key of a dict",
                hint="keep the numbers in a list or tensor, or convert with full_graph=False",
            )
        return id(self)

    lod_level = 0  # tensors here are dense, with no levels of lengths

    @property
    def type(self) -> str:
        """What kind of value it is: "tensor", or "list" of tensors."""
        return "list" if isinstance(self.meta, ListMeta) else "tensor"

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """Name, meta and flags as text. Source: paddle.static.Variable.to_string."""
        return self.summary()

    def summary(self) -> str:
        """Name, meta and flags as text."""
        flags = "".join(f", {n}" for n in ("persistable", "stop_gradient") if getattr(self, n))
        return f"var {self.name} : {self.meta}{flags}"


# Modules of ours that hash what the user puts into sets and dicts.
_FOR_USER = frozenset(
    f"vitrify.convert.{name}"
    for name in ("control.comprehension", "operators.objects", "operators.operate", "control.protocols", "calls.table")
)


def _acts_for_user(module: str) -> bool:
    """Whether code of this module looks values up for the user, not variables for itself."""
    return module in _FOR_USER or not module.startswith("vitrify.")


def pass_mark(outer: Variable, inner: Variable) -> None:
    """Let `inner`, which stands for `outer` in a block, be known as missing at times if `outer` is, or its items."""
    for mark in (MAY_BE_MISSING, MAY_HAVE_GAPS):
        if mark in outer.__dict__:
            inner.__dict__[mark] = True


def position(values: Sequence[Any], var: Any) -> int:
    """Index of `var` itself in `values`, or -1. (`in` and `index` would compare with ==, which is an op here.)"""
    for index, value in enumerate(values):
        if value is var:
            return index
    return -1


def refs_in(value: Any) -> Iterator[Ref]:
    """All Refs inside an attribute value."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, slice):
        yield from refs_in((value.start, value.stop, value.step))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from refs_in(item)


class Operator:
    """One op call in a Block: inputs and outputs by value, attributes, and the user's frames that made it.

    Attribute values: bool, int, float, complex, str, None, DType, Ref, slice, tuples and lists of these, and Block.
    `role`: "forward", "backward" or "optimize"; what is not forward `Program.clone(for_test=True)` leaves out.
    """

    op: OpDef
    inputs: tuple[Value, ...]
    outputs: tuple[Variable, ...]
    attrs: dict[str, Any]
    locs: tuple[Loc, ...]
    role: str
    name_scope: str

    def __init__(
        self, op: OpDef, inputs: tuple[Value, ...], outputs: tuple[Variable, ...], attrs: Mapping[str, Any],
        locs: tuple[Loc, ...] = (), role: str = FORWARD,
    ) -> None:  # fmt: skip
        attrs = TrackedDict(attrs, OPERATORS)
        # Not by __setattr__: a new operator changes a program when a block takes it in.
        self.__dict__.update(op=op, inputs=inputs, outputs=outputs, attrs=attrs, locs=locs, role=role, name_scope="")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = TrackedDict(value, OPERATORS) if name == "attrs" else value
        if name not in ("role", "name_scope"):  # which no run depends on
            OPERATORS.bump()

    @property
    def type(self) -> str:
        """The op's name."""
        return self.op.name

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the variables that it reads."""
        return [v.name for v in self.variables]

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the variables that it writes."""
        return [v.name for v in self.outputs]

    @property
    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return list(self.attrs)

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of that name."""
        return name in self.attrs

    def attr(self, name: str) -> Any:
        """The value of an attribute; raises ArgumentError when it has none of that name."""
        if name not in self.attrs:
            raise ArgumentError(f"{self.type} has no attribute {name!r}, it has {', '.join(self.attrs) or 'none'}")
        return self.attrs[name]

    def all_attrs(self) -> dict[str, Any]:
        """The attributes by name."""
        return dict(self.attrs)

    @property
    def ref_count(self) -> int:
        """How many inputs at the end only feed `Ref`s in attributes."""
        first = min((r.index for r in refs_in(tuple(self.attrs.values()))), default=len(self.inputs))
        return len(self.inputs) - first

    @property
    def blocks(self) -> dict[str, Block]:
        """The attributes that are blocks of its own; functions, which others call too, are not."""
        return {k: v for k, v in self.attrs.items() if isinstance(v, Block) and not v.name}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The inputs that are Variables."""
        return tuple(v for v in self.inputs if isinstance(v, Variable))


_TRACKED: Mapping[str, Callable[[Any, Epoch], Any]] = {
    "inputs": TrackedList,
    "outputs": TrackedList,
    "ops": TrackedList,
    "vars": TrackedDict,
    "captures": TrackedDict,
}


@dataclass(eq=False)
class Block:
    """A list of operators with explicit inputs and outputs.

    One with a `name` is a function: it lies in no other block and captures nothing, so that any operator of the program
    may refer to it, those inside it included.
    """

    program: Program
    index: int
    parent: Block | None = None
    inputs: list[Variable] = field(default_factory=list)
    outputs: list[Variable | None] = field(default_factory=list)
    ops: list[Operator] = field(default_factory=list)
    vars: dict[str, Variable] = field(default_factory=dict)
    captures: dict[Variable, Variable] = field(default_factory=dict)
    name: str = ""

    def __setattr__(self, name: str, value: Any) -> None:
        tracked = _TRACKED.get(name)
        # The program is the first field to be set.
        object.__setattr__(self, name, value if tracked is None else tracked(value, self.program.epoch))
        self.program.epoch.bump()

    def create_var(
        self,
        meta: AnyMeta | None = None,
        name: str | None = None,
        *,
        shape: Sequence[int | None] = (),
        dtype: Any = "float32",
        prefix: str = "tmp",
        stop_gradient: bool = True,
        persistable: bool = False,
    ) -> Variable:
        """A new Variable of this block, under `name` or a fresh one; shape and dtype stand for a `meta`."""
        if meta is None:
            meta = Meta(tuple(UNKNOWN if d is None else int(d) for d in shape), as_dtype(dtype))
        prefix = name or prefix
        while name is None or name in self.vars:  # a name given by hand may look like a fresh one
            name = self.program.fresh_name(prefix)
        var = Variable(self, name, meta, stop_gradient=stop_gradient, persistable=persistable)
        self.vars[name] = var
        return var

    def add_input(self, meta: AnyMeta, name: str | None = None, *, stop_gradient: bool = True) -> Variable:
        """A new formal input."""
        var = self.create_var(meta, name, prefix="in", stop_gradient=stop_gradient)
        self.inputs.append(var)
        return var

    def resolve(self, var: Variable) -> Variable:
        """`var` as seen from this block, captured through every block in between.

        Raises ArgumentError when it belongs to no enclosing block.
        """
        if var.block is self:
            return var
        if self.parent is None:
            raise ArgumentError(f"variable {var.name!r} belongs to another program or to a block that has ended")
        outer = self.parent.resolve(var)
        inner = self.captures.get(outer)
        if inner is None:
            inner = self.add_input(outer.meta, outer.name, stop_gradient=outer.stop_gradient)
            pass_mark(outer, inner)
            self.captures[outer] = inner
        return inner

    def append(
        self, op: OpDef, inputs: Sequence[Value], outputs: Sequence[Variable], attrs: Mapping[str, Any],
        locs: tuple[Loc, ...] = (),
    ) -> Operator:  # fmt: skip
        """Add one operator at the end; its blocks lie inside this one from now on."""
        operator = Operator(op, tuple(inputs), tuple(outputs), dict(attrs), locs, self.program.role)
        for block in operator.blocks.values():
            block.parent = self  # a gradient's block was built below the forward block whose values it reads
            block.captures = {outer: inner for outer, inner in block.captures.items() if outer.block is self}
        operator.name_scope = self.program.name_scope
        self.ops.append(operator)
        return operator

    @property
    def idx(self) -> int:
        """Its number among the program's blocks, as Paddle calls it."""
        return self.index

    @property
    def parent_idx(self) -> int:
        """The number of the block that it lies in; -1 of block 0 and of functions."""
        return -1 if self.parent is None else self.parent.index

    def has_var(self, name: str) -> bool:
        """Whether this block has a variable of that name."""
        return name in self.vars

    def all_parameters(self) -> list[Variable]:
        """The parameters of this block."""
        return [var for var in self.vars.values() if var.is_parameter]

    def var(self, name: str) -> Variable:
        """The variable of that name; raises ArgumentError."""
        try:
            return self.vars[name]
        except KeyError:
            raise ArgumentError(f"block {self.index} has no variable {name!r}") from None

    @property
    def persistables(self) -> list[Variable]:
        """The variables that live in a Scope, in creation order."""
        return [v for v in self.vars.values() if v.persistable]


_UIDS = itertools.count()


def _name_of(value: Variable | str) -> str:
    return value if isinstance(value, str) else value.name


class Program:
    """A list of blocks; block 0 is where execution starts. Source: paddle.static.Program.

    `epoch` notes every change of it (ir/changes.py); `uid` is a number that no other program of this process has.
    """

    def __init__(self) -> None:
        self.epoch = Epoch()
        self.uid = next(_UIDS)
        self._names: dict[str, int] = {}
        self.blocks: list[Block] = TrackedList((), self.epoch)
        self._random_seed = 0
        self.fingerprint: Any = None  # see ir/fingerprint.py
        self.builder: Any = None  # see ir/builder.py: `builder_of`
        self._changed: dict[str, str] = {}  # `changed_names` of the program that this is a clone of
        # Variables of the scope that the host sets before each run, to what the function gives then: learning rates.
        self.host_values: dict[str, Callable[[], float]] = {}
        self.role = FORWARD
        self.name_scope = ""  # of the operators that are recorded now
        self.create_block(None)

    @property
    def random_seed(self) -> int:
        """The seed of each run of the program: operators draw the same numbers in every run, as Paddle's do.

        0, the default: they draw from the current generator. Raises DTypeError for what is no whole number.
        """
        return self._random_seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise DTypeError(f"Program.random_seed takes an integer, but received {type(seed).__name__}")
        self._random_seed = int(seed)
        self.epoch.bump()

    def fresh_name(self, prefix: str) -> str:
        """`prefix_N`, not used before in this program."""
        number = self._names.get(prefix, 0)
        self._names[prefix] = number + 1
        return f"{prefix}_{number}"

    def fresh_scope(self, outer: str, prefix: str) -> str:
        """The path of a name scope below `outer`, with a number when there has been one of that name."""
        path = f"{outer or '/'}{prefix}"
        number = self._names.get(path, 0)
        self._names[path] = number + 1
        return f"{path}_{number}/" if number else f"{path}/"

    def create_block(self, parent: Block | None) -> Block:
        """A new empty block below `parent`."""
        block = Block(self, len(self.blocks), parent)
        self.blocks.append(block)
        return block

    def function_name(self, wanted: str) -> str:
        """`wanted`, or `wanted_2` and so on where a function has that name."""
        taken = {block.name for block in self.blocks}
        names = itertools.chain([wanted], (f"{wanted}_{number}" for number in itertools.count(2)))
        return next(name for name in names if name not in taken)

    def global_block(self) -> Block:
        """Block 0, as Paddle spells it."""
        return self.blocks[0]

    def block(self, index: int) -> Block:
        """The block of that number. Source: paddle.static.Program.block."""
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block that op calls are recorded into: block 0, but inside the functions of `cond` and `while_loop`."""
        return self.blocks[0] if self.builder is None else self.builder.block

    @property
    def num_blocks(self) -> int:
        """How many blocks there are. Source: paddle.static.Program.num_blocks."""
        return len(self.blocks)

    def changed_names(self) -> dict[str, str]:
        """The variables of block 0 that were changed in place: name -> name of what holds the value since."""
        block = self.global_block()
        if self.builder is None:
            return {name: held for name, held in self._changed.items() if name in block.vars and held in block.vars}
        pairs = self.builder.current.items()
        return {h.name: v.name for h, v in pairs if h.block is block and v.block is block}

    def list_vars(self) -> Iterator[Variable]:
        """All variables of all blocks. Source: paddle.static.Program.list_vars."""
        return (var for block in self.blocks for var in block.vars.values())

    def all_parameters(self) -> list[Variable]:
        """The parameters of block 0. Source: paddle.static.Program.all_parameters."""
        return self.global_block().all_parameters()

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Any]:
        """What a scope, by default the global one, holds of the program's variables, as arrays by name.

        mode: "param" for parameters, "opt" for what else scopes keep (the state of optimizers), "all" for both.
        Raises ArgumentError for another mode and where a variable has no value.
        Source: paddle.static.Program.state_dict.
        """
        if mode not in ("all", "param", "opt"):
            raise ArgumentError(f"state_dict: mode must be 'all', 'param' or 'opt', got {mode!r}")
        kept = [v for v in self.global_block().persistables if mode == "all" or v.is_parameter is (mode == "param")]
        return {var.name: var.get_value(scope) for var in kept}

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Any = None) -> None:
        """Let a scope, by default the global one, hold these values of the program's variables.

        Names that the program does not have are passed over. Raises ArgumentError where the scope has no value yet,
        ShapeError for another shape. Source: paddle.static.Program.set_state_dict.
        """
        for var in self.global_block().persistables:
            if var.name in state_dict:
                var.set_value(state_dict[var.name], scope)

    def prune(self, targets: Sequence[Variable | str], given: Sequence[Variable | str] = ()) -> Program:
        """A copy with only what computes `targets` where the values of `given` are there already.

        Variables, or names of block 0. Updates and prints that the targets do not need are left out.
        """
        return prune_program(self, [_name_of(v) for v in targets], [_name_of(v) for v in given])

    @contextmanager
    def adding(self, role: str) -> Iterator[None]:
        """Mark the operators appended inside as "backward" or "optimize"."""
        outer, self.role = self.role, role
        try:
            yield
        finally:
            self.role = outer

    def clone(self, for_test: bool = False) -> Program:
        """A deep copy; for_test: without backward and optimizer operators, the rest as in evaluation.

        Source: paddle.static.Program.clone.
        """
        return clone_program(self, for_test)

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The program as text (docs/format.md); with_details: whole call stacks with paths and columns.

        throw_on_error: raise where an operator holds something that the text cannot give back.
        Source: paddle.static.Program.to_string.
        """
        if throw_on_error:
            check_storable(self)
        return program_text(self, Style(details=with_details))

    def __str__(self) -> str:
        return program_text(self)

    def __repr__(self) -> str:
        return f"<Program: {len(self.blocks)} blocks, {sum(len(b.ops) for b in self.blocks)} operators>"

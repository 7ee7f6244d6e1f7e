"""Program, Block, Operator, Variable: what users build, print and save.

A Block is closed: values enter through `inputs` and leave through `outputs`. Reading a variable of an enclosing block
while building an inner one adds a capture, an inner input that stands for the outer variable. Persistable variables of
the global block are the one exception: they live in a Scope and may be written more than once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..core.dtype import as_dtype
from ..core.epoch import Epoch
from ..core.errors import ArgumentError, DTypeError, ForeignVariableError, UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..core.source import Loc
from ..ops.registry import OpDef
from .attributes import check_storable
from .block_surgery import SurgicalBlock
from .changes import TrackedDict, TrackedList
from .clone import clone_program, prune_program
from .operator import Operator, refs_in, refs_of
from .program_desc import STRINGS, BlockDesc, ProgramDesc
from .text import FORWARD, Style, block_text, program_text
from .variable import SCOPES, AnyMeta, Literal, Value, Variable, pass_mark, position

__all__ = [
    "SCOPES", "AnyMeta", "Block", "Literal", "Operator", "Program", "Value", "Variable", "pass_mark", "position",
    "refs_in",
    "refs_of",
]  # fmt: skip

_TRACKED: Mapping[str, Callable[[Any, Epoch], Any]] = {
    "inputs": TrackedList,
    "outputs": TrackedList,
    "ops": TrackedList,
    "vars": TrackedDict,
    "captures": TrackedDict,
}


@dataclass(eq=False)
class Block(SurgicalBlock):
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

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The block as `Program.to_string` writes it, and as `str()` does. Source: paddle.static.Program's blocks."""
        if throw_on_error:
            check_storable(self.program)
        return block_text(self, Style(details=with_details))

    def __str__(self) -> str:
        return self.to_string()

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

        Raises ForeignVariableError when it belongs to no enclosing block.
        """
        if var.block is self:
            return var
        if self.parent is None:
            if var.is_parameter and var.block.program is self.program:
                raise UnsupportedError(
                    "a parameter that was made in a branch or loop that a tensor decides is used behind it",
                    hint="make the Layer, or the parameter, before the branch or loop",
                )
            raise ForeignVariableError(f"variable {var.name!r} belongs to another program or to a block that has ended")
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
    def desc(self) -> BlockDesc:
        """What Paddle keeps of blocks in C++."""
        return BlockDesc(self)

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
    if not isinstance(value, (str, Variable)):
        raise DTypeError(f"expected Variables or their names, but received {type(value).__name__}")
    return value if isinstance(value, str) else value.name


class Program:
    """A list of blocks; block 0 is where execution starts. Source: paddle.static.Program.

    `epoch` notes every change of it (ir/changes.py); `uid` is a number that no other program of this process has.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.exp(x)
        >>> [op.type for op in main.global_block().ops]
        ['exp']
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

    @property
    def desc(self) -> ProgramDesc:
        """What Paddle keeps of programs in C++: blocks, operators and variables, and the program as bytes."""
        return ProgramDesc(self)

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Program:
        """The program that `desc.serialize_to_string()` made bytes of, here or in PaddlePaddle.

        PaddlePaddle's are read where they hold what is computed forward; scopes are to hold their parameters. Raises
        FileFormatError (a ValueError) for any other bytes, UnsupportedError for operators that cannot be read,
        DTypeError for no bytes. Source: paddle.static.Program.parse_from_string.

        Example:
            >>> import vitrify as paddle
            >>> main = paddle.static.Program()
            >>> with paddle.static.program_guard(main):
            ...     y = paddle.static.data("x", [2]) * 2
            >>> paddle.static.Program.parse_from_string(main.desc.serialize_to_string())
            <Program: 1 blocks, 1 operators>
        """
        found: Program = STRINGS.parsed_program(binary_str)
        return found

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

    def _prune(self, targets: Any) -> Program:
        """`prune` under the name of older code; one target, or a list."""
        return self.prune(targets if isinstance(targets, (list, tuple)) else [targets])

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

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Program:
        """`clone()`: variables know their blocks, which Python's own copying would follow in circles."""
        return self.clone()

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

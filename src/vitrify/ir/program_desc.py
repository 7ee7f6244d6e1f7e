"""What Paddle keeps of programs in C++, under its names: `desc` of programs, blocks, operators and variables.

Each is a view of the object that it belongs to, whose properties are methods here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError
from ..core.late import LateModule

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Block, Program
    from .variable import Variable

STRINGS = LateModule()
"""The module that makes bytes of programs, and programs of bytes: Paddle's own are known above."""
Name = str | bytes


def _text(name: Name) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


class VarDesc:
    """A variable. Source: paddle.base.core.VarDesc."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def name(self) -> str:
        """Its name."""
        return self._variable.name

    def shape(self) -> list[int]:
        """Its sizes, -1 for those that each run decides."""
        return list(self._variable.shape)

    def dtype(self) -> Any:
        """Its dtype."""
        return self._variable.dtype

    def type(self) -> Any:
        """What kind of variable it is."""
        return self._variable.type

    def lod_level(self) -> int:
        """How many levels of lengths it has: none."""
        return self._variable.lod_level

    def persistable(self) -> bool:
        """Whether a scope keeps it."""
        return self._variable.persistable

    def set_persistable(self, persistable: bool) -> None:
        """Let a scope keep it, or not."""
        self._variable.persistable = bool(persistable)

    def stop_gradient(self) -> bool:
        """Whether no gradient flows into it."""
        return self._variable.stop_gradient

    def set_stop_gradient(self, stop_gradient: bool) -> None:
        """Let gradients flow into it, or not."""
        self._variable.stop_gradient = bool(stop_gradient)

    def is_parameter(self) -> bool:
        """Whether it is a parameter."""
        return self._variable.is_parameter


class OpDesc:
    """An operator in Paddle's words, as `Operator` has them as properties. Source: paddle.base.core.OpDesc."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def type(self) -> str:
        """What Paddle's programs call it."""
        return self._operator.type

    def id(self) -> int:
        """Its number among the operators of its block."""
        return self._operator.idx

    def input_names(self) -> list[str]:
        """The slots of its inputs."""
        return self._operator.input_names

    def output_names(self) -> list[str]:
        """The slots of its outputs."""
        return self._operator.output_names

    def input(self, name: str) -> list[str]:
        """The names of the variables in a slot of inputs; raises ArgumentError."""
        return self._operator.input(name)

    def output(self, name: str) -> list[str]:
        """The names of the variables in a slot of outputs; raises ArgumentError."""
        return self._operator.output(name)

    def inputs(self) -> dict[str, list[str]]:
        """The names of variables by the slots of inputs."""
        return {slot: self.input(slot) for slot in self.input_names()}

    def outputs(self) -> dict[str, list[str]]:
        """The names of variables by the slots of outputs."""
        return {slot: self.output(slot) for slot in self.output_names()}

    def input_arg_names(self) -> list[str]:
        """The names of the variables that it reads."""
        return self._operator.input_arg_names

    def output_arg_names(self) -> list[str]:
        """The names of the variables that it writes."""
        return self._operator.output_arg_names

    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return self._operator.attr_names

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of that name."""
        return self._operator.has_attr(name)

    def attr(self, name: str) -> Any:
        """The value of an attribute; raises ArgumentError."""
        return self._operator.attr(name)

    def get_attr_map(self) -> dict[str, Any]:
        """The attributes by name."""
        return self._operator.all_attrs()

    def _set_attr(self, name: str, value: Any) -> None:
        """Let an attribute have this value; raises ArgumentError."""
        self._operator._set_attr(name, value)


class BlockDesc:
    """A block. Source: paddle.base.core.BlockDesc."""

    def __init__(self, block: Block) -> None:
        self._block = block

    @property
    def id(self) -> int:
        """Its number."""
        return self._block.index

    @property
    def parent(self) -> int:
        """The number of the block around it; -1 where there is none."""
        return -1 if self._block.parent is None else self._block.parent.index

    def op_size(self) -> int:
        """How many operators there are."""
        return len(self._block.ops)

    def op(self, index: int) -> OpDesc:
        """The operator of that number; raises ArgumentError where there is none."""
        if not 0 <= index < len(self._block.ops):
            raise ArgumentError(f"the block has no operator {index}, it has {len(self._block.ops)}")
        return OpDesc(self._block.ops[index])

    def all_vars(self) -> list[VarDesc]:
        """All variables, by name."""
        return [VarDesc(self._block.vars[name]) for name in sorted(self._block.vars)]

    def has_var(self, name: Name) -> bool:
        """Whether it has a variable of that name."""
        return _text(name) in self._block.vars

    def find_var(self, name: Name) -> VarDesc | None:
        """The variable of that name; None where there is none."""
        found = self._block.vars.get(_text(name))
        return None if found is None else VarDesc(found)


class ProgramDesc:
    """A program. Source: paddle.base.core.ProgramDesc."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def num_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._program.blocks)

    def block(self, index: int) -> BlockDesc:
        """The block of that number; raises ArgumentError where there is none."""
        if not 0 <= index < len(self._program.blocks):
            raise ArgumentError(f"the program has no block {index}, it has {len(self._program.blocks)}")
        return BlockDesc(self._program.blocks[index])

    def flush(self) -> None:
        """Nothing: there is no second copy."""

    def serialize_to_string(self) -> bytes:
        """The program as bytes, which `Program.parse_from_string` reads. Raises DTypeError where it holds functions."""
        found: bytes = STRINGS.program_string(self._program)
        return found


__all__ = ["STRINGS", "BlockDesc", "OpDesc", "ProgramDesc", "VarDesc"]

"""Operators of Programs: one op call each, as it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError
from ..core.meta import Ref
from ..core.source import Loc
from ..ops.registry import OpDef
from .attributes import is_block, may_hold
from .block_surgery import SURGERY, VERSION_OF
from .changes import OPERATORS, TrackedDict
from .described import DESCRIPTIONS, Description
from .program_desc import OpDesc
from .text import FORWARD
from .variable import Value, Variable

if TYPE_CHECKING:
    from .program import Block


OUT = "Out"
"""The slot of all outputs."""


def refs_in(value: Any) -> Iterator[Ref]:
    """All Refs inside an attribute value."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, slice):
        yield from refs_in((value.start, value.stop, value.step))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from refs_in(item)


def refs_of(attrs: Mapping[str, Any]) -> list[Ref]:
    """All Refs among an operator's attributes."""
    return [ref for value in attrs.values() if may_hold(value, Ref) for ref in refs_in(value)] if attrs else []


def _listed(named: Mapping[str, Any], between: str) -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in named.items())


_ROLES = {FORWARD: 0, "backward": 1, "optimize": 2}
# What every operator of Paddle's programs is asked for about itself.
_ABOUT: dict[str, Callable[[Operator], Any]] = {
    "op_namescope": lambda operator: operator.name_scope or "/",
    "op_role": lambda operator: _ROLES[operator.role],
    "op_device": lambda operator: "",
    "op_callstack": lambda operator: [str(loc) for loc in operator.locs],
}


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
        """What Paddle's programs call it: `matmul_v2`; the op's own name where it is no one operator there."""
        known = self._described()
        return self.op.maps.get("paddle", self.op.name) if known is None else known.type

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the variables that it reads."""
        return [self.name_of(v) for v in self.variables]

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the variables that it writes."""
        return [self.name_of(v) for v in self.outputs]

    @property
    def input_names(self) -> list[str]:
        """The slots of its inputs in Paddle's programs."""
        return list(self._slots())

    @property
    def output_names(self) -> list[str]:
        """The slots of its outputs in Paddle's programs; `Out` for all of them where it is no operator there."""
        return list(self._output_slots())

    def input(self, name: str) -> list[str]:
        """The names of the variables in this slot of inputs; raises ArgumentError when it has none of that name."""
        slots = {slot.lower(): held for slot, held in {**self._own_slots(), **self._slots()}.items()}
        if name.lower() not in slots:
            raise ArgumentError(f"{self.type} has no input {name!r}, it has {', '.join(self.input_names) or 'none'}")
        return slots[name.lower()]

    def output(self, name: str) -> list[str]:
        """The names of the variables in this slot of outputs; raises ArgumentError when it has none of that name."""
        slots = self._output_slots()
        if name not in slots:
            raise ArgumentError(f"{self.type} has no output {name!r}, it has {', '.join(slots) or 'none'}")
        return slots[name]

    @staticmethod
    def name_of(var: Variable) -> str:
        """The name by which Paddle's static mode knows a variable: one for all values that were written to it."""
        known: Variable = var.__dict__.get(VERSION_OF, var)
        return known.name

    def _described(self) -> Description | None:
        found: Description | None = DESCRIPTIONS.described(self)
        return found

    def _output_slots(self) -> dict[str, list[str]]:
        known = self._described()
        return dict(known.outputs) if known else {OUT: self.output_arg_names} if self.outputs else {}

    def _slots(self) -> dict[str, list[str]]:
        known = self._described()
        return dict(known.inputs) if known else self._own_slots()

    def _own_slots(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name[:1].upper() + name[1:]: [] for name in self.op.inputs}
        for index, value in enumerate(self.inputs[: len(self.inputs) - self.ref_count]):
            if isinstance(value, Variable):
                name = self.op.input_name(index)
                found.setdefault(name[:1].upper() + name[1:], []).append(self.name_of(value))
        return found

    def _rename_input(self, old_name: str, new_name: str) -> None:
        """Read the variable `new_name` where it reads `old_name`; raises ArgumentError where there is none."""
        self.inputs = tuple(
            v.block.var(new_name) if isinstance(v, Variable) and self.name_of(v) == old_name else v for v in self.inputs
        )

    def _rename_output(self, old_name: str, new_name: str) -> None:
        """Write the variable `new_name` instead of `old_name`; raises ArgumentError where there is none."""
        renamed = tuple(v.block.var(new_name) if self.name_of(v) == old_name else v for v in self.outputs)
        for new, old in zip(renamed, self.outputs):
            if new is not old:
                new.meta, new.stop_gradient = old.meta, old.stop_gradient
        self.outputs = renamed

    def _set_attr(self, name: str, value: Any) -> None:
        """Let an attribute have this value, as Paddle's programs name it or else as the op does.

        Raises ArgumentError where it has none of that name, UnsupportedError where it is not this operator alone there.
        """
        if name in self.all_attrs() and self._described():
            SURGERY.set_attribute(self, name, value)
        elif name in self.attrs:
            self.attrs[name] = value
        else:
            raise ArgumentError(f"{self.type} has no attribute {name!r}, it has {', '.join(self.attr_names) or 'none'}")

    @property
    def attr_names(self) -> list[str]:
        """The names of its attributes in Paddle's programs."""
        return list(self.all_attrs())

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of that name, there or here."""
        return name in self.attrs or name in _ABOUT or name in self.all_attrs()

    def attr(self, name: str) -> Any:
        """The value of an attribute, as Paddle's programs name it or else as the op does.

        Every one has `op_namescope`, `op_role` (0 forward, 1 backward, 2 optimizer), `op_device` and `op_callstack`.
        Raises ArgumentError when it has none of that name.
        """
        if name in _ABOUT:
            return _ABOUT[name](self)
        found = self.all_attrs()
        if name not in found and name not in self.attrs:
            raise ArgumentError(f"{self.type} has no attribute {name!r}, it has {', '.join(found) or 'none'}")
        return found[name] if name in found else self.attrs[name]

    def all_attrs(self) -> dict[str, Any]:
        """The attributes by name, as Paddle's programs have them."""
        known = self._described()
        return dict(self.attrs if known is None else known.attrs)

    def to_string(self, throw_on_error: bool = False) -> str:
        """The operator on one line, with slots and attributes as Paddle's programs name them."""
        attrs = {n: f"block[{v.index}]" if is_block(v) else v for n, v in self.all_attrs().items()}
        given = [f"inputs={{{_listed(self._slots(), '=')}}}", *([_listed(attrs, " = ")] if attrs else [])]
        return f"{{{_listed(self._output_slots(), '=')}}} = {self.type}({', '.join(given)})"

    def __str__(self) -> str:
        return self.to_string()

    @property
    def idx(self) -> int:
        """Its number among the operators of its block; -1 where it is in none."""
        return next((i for i, op in enumerate(self.block.ops) if op is self), -1) if self.outputs else -1

    @property
    def block(self) -> Block:
        """The block of what it writes."""
        return self.outputs[0].block

    @property
    def desc(self) -> OpDesc:
        """What Paddle keeps of operators in C++: the same, as methods."""
        return OpDesc(self)

    @property
    def ref_count(self) -> int:
        """How many inputs at the end only feed `Ref`s in attributes."""
        refs = refs_of(self.attrs)
        return len(self.inputs) - min([r.index for r in refs]) if refs else 0

    @property
    def blocks(self) -> dict[str, Block]:
        """The attributes that are blocks of its own; functions, which others call too, are not."""
        return {k: v for k, v in self.attrs.items() if is_block(v) and not v.name}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The inputs that are Variables."""
        return tuple([v for v in self.inputs if isinstance(v, Variable)])


def place_behind(ops: Sequence[Operator], last: Operator | None) -> int:
    """Where those behind `last` begin; in front of it there may be more by now than there were."""
    return 0 if last is None else next(i for i in range(len(ops) - 1, -1, -1) if ops[i] is last) + 1

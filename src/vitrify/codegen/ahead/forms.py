"""The steps of a block for arrays of certain sizes: each operator by its native form, or an error with the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import UnsupportedError
from ...core.meta import UNKNOWN, Meta
from ...ir.decompose import expanded
from ...ir.program import Block, Literal, Operator, Variable
from ...ir.ssa_blocks import block_of, graph_of
from ..assembler import Assembler, Operand
from ..elements import Pointwise
from ..emit import Dtype
from ..errors import NoNativeForm
from ..harness import description
from ..llvm import Target
from ..pointwise import Signature, needed_by, pointwise_ir
from ..single import alone
from .assembler import AheadAssembler, Symbol

_WAY_OUT = "leave it to Python before or after the call, write it in other operators, or save in another format"


@dataclass
class Kernels:
    """The kernels of a program: each text once, with the name that it has in the module."""

    target: Target
    modules: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, list[int | Symbol]] = field(default_factory=dict)
    _found: dict[Block, Pointwise] = field(default_factory=dict)
    _names: dict[tuple[str, Signature], str] = field(default_factory=dict)

    def of(self, body: Block) -> Pointwise:
        """The kernel of a block of elementwise operators. Raises NoNativeForm."""
        found = self._found.get(body)
        if found is None:
            text, signature = pointwise_ir(body, self.target)
            cones = tuple(needed_by(body, [v])[1] for v in body.outputs)
            found = self._found[body] = Pointwise(signature, Symbol(self._named(text, signature)), cones)
        return found

    def _named(self, text: str, signature: Signature) -> str:
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(";"))
        name = self._names.get((code, signature))
        if name is None:
            name = self._names[code, signature] = f"kernel{len(self._names)}"
            functions = [Symbol(f"{name}.compute{i}") for i in range(len(signature.variants))]
            self.modules[name] = code
            self.descriptions[name] = described(signature, self.target.lanes, functions)
        return name


def described(signature: Signature, lanes: int, functions: Sequence[Symbol]) -> list[int | Symbol]:
    """What the harness knows of a kernel, with names for the functions."""
    words: list[int | Symbol] = [int(n) for n in description(signature, lanes, [0] * len(functions))]
    words[4], words[5] = functions[0], functions[-1]
    return words


class Forms:
    """Runs blocks on operands. Raises UnsupportedError for what has no native form."""

    def __init__(self, kernels: Kernels, where: str) -> None:
        self.kernels = kernels
        self._where = where
        self._alone: dict[Operator, Block] = {}
        self._simple: dict[Block, Block] = {}

    def assembler(self, is_sample: bool) -> AheadAssembler:
        """One that runs blocks by these forms."""
        return AheadAssembler(self.kernels.of, self._run_block, self.kernels.target, is_sample)

    def run(self, assembler: Assembler, block: Block, values: Sequence[Any]) -> list[Any]:
        """The outputs of a block for these values, whose steps are added."""
        found: dict[Variable, Any] = dict(zip(block.inputs, values))
        for operator in block.ops:
            given = [_value(assembler, found, v) for v in operator.inputs]
            made = self._made(assembler, operator, given)
            for variable, value in zip(operator.outputs, made):
                _check(operator, variable, value)
                found[variable] = value
        return [_value(assembler, found, v) for v in block.outputs]

    def _run_block(self, assembler: Assembler, block: Block, values: Sequence[Any]) -> list[Any]:
        return self.run(assembler, block, values)

    def _made(self, assembler: Assembler, operator: Operator, values: list[Any]) -> tuple[Any, ...]:
        """What the operator's form makes of these values."""
        try:
            made = self._form(assembler, operator, values)
        except NoNativeForm as reason:
            raise self._unsupported(operator, str(reason)) from None
        return made if isinstance(made, tuple) else (made,)

    def _unsupported(self, operator: Operator, reason: str) -> UnsupportedError:
        loc = operator.locs[0] if operator.locs else None
        return UnsupportedError(
            f"{self._where}: {operator.type} cannot be compiled ahead of time: {reason}", loc=loc, hint=_WAY_OUT
        )

    def _form(self, assembler: Assembler, operator: Operator, values: list[Any]) -> Any:
        op = operator.op
        if op.random or op.effect or operator.ref_count:
            raise NoNativeForm("it does more than compute its outputs")
        form = op.ahead or op.native
        if form is not None:
            return form(assembler, *values, **operator.attrs)
        if op.scalar is None and op.view and len(values) == 1:
            return assembler.view(lambda x: op.on_numpy(x, **operator.attrs), values[0])
        body = self._alone_of(operator)
        given = {k: v for k, v in zip(operator.inputs, values) if isinstance(k, Variable)}
        if op.scalar is not None:
            return assembler.elementwise(body, list(given.values()))
        return tuple(self.run(assembler, self._simpler(body), list(given.values())))

    def _alone_of(self, operator: Operator) -> Block:
        found = self._alone.get(operator)
        if found is None:
            found = self._alone[operator] = alone(operator)
        return found

    def _simpler(self, body: Block) -> Block:
        """The block written in simpler operators. Raises NoNativeForm where it has none."""
        found = self._simple.get(body)
        if found is None:
            graph = graph_of(body)
            simple = expanded(graph)
            if len(simple.ops) == len(graph.ops) and all(a is b for a, b in zip(simple.ops, graph.ops)):
                raise NoNativeForm("it has no native form")
            found = self._simple[body] = block_of(simple)
        return found


def _value(assembler: Assembler, found: dict[Variable, Any], value: Any) -> Any:
    if isinstance(value, Literal):
        return assembler.full((), value.value, value.dtype.np)
    return None if value is None else found[value]


def _check(operator: Operator, variable: Variable, value: Any) -> None:
    """The form gives what the program says of the variable."""
    meta = variable.meta
    if not isinstance(meta, Meta) or not isinstance(value, Operand):
        raise UnsupportedError(
            f"{operator.type} gives something else than an array", loc=operator.locs[0] if operator.locs else None
        )
    fits = len(meta.shape) == value.ndim and all(m in (UNKNOWN, n) for m, n in zip(meta.shape, value.shape))
    assert fits and _of(meta) == value.dtype, f"{operator.type} gives {value.dtype}{value.shape}, not {meta}"


def _of(meta: Meta) -> Dtype:
    return meta.dtype.np

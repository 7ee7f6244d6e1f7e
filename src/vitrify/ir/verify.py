"""Is a Program well formed? Definitions before uses, closed blocks, arguments that fit, metas that the ops confirm."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..core.dtype import DType
from ..core.errors import InternalError, VitrifyError
from ..core.meta import UNKNOWN, ListMeta, Meta
from ..core.source import Loc
from ..ops.registry import VARIADIC_OUTPUTS, OpDef
from .attributes import blocks_of
from .program import Block, Operator, Program, Variable, refs_in
from .text import meta_text, operator_text, variable_name

MAX_OUTPUTS = 1_000_000
# A meta rule is ordinary Python over the attributes: nonsense in these makes it fail in any of these ways.
_RULE_FAILURES = (
    VitrifyError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, AssertionError,
    RecursionError, MemoryError,
)  # fmt: skip


class VerifyError(InternalError):
    """A Program breaks a rule that every Program keeps: whoever built or changed it has a bug."""


def verify(program: Program, *, infer: bool = True) -> None:
    """Return when `program` is well formed; raise VerifyError about the first thing that isn't.

    infer: also run every op's meta rule and compare with the declared types. The error shows the operator between
    its neighbours, the user's line, and what was expected and found.

    >>> from vitrify.ir.program import Program
    >>> verify(Program())
    """
    _check_block_graph(program)
    signatures: dict[OpDef, _Signature] = {}
    for block in program.blocks:
        _BlockCheck(block, signatures, infer).run()


# --- the graph of blocks ---------------------------------------------------------------------------------------------


def _check_block_graph(program: Program) -> None:
    """Blocks know their places, lie inside earlier ones, and no block but a function contains itself."""
    if not program.blocks or program.blocks[0].parent is not None:
        raise VerifyError("a program starts with a block that no other encloses")
    for index, block in enumerate(program.blocks):
        parent = block.parent
        if block.index != index or block.program is not program:
            raise VerifyError(f"block {index} says that it is block {block.index} of another program")
        if block.name and (parent is not None or block.captures or not index):
            raise VerifyError(f"function @{block.name} lies in a block or captures values, and functions are closed")
        if parent is not None and not (parent.index < index and program.blocks[parent.index] is parent):
            raise VerifyError(f"block {index} lies inside block {parent.index}, which does not come before it")
    names = [block.name for block in program.blocks if block.name]
    if len(set(names)) < len(names):
        raise VerifyError(f"two functions have one name: {', '.join(sorted(names))}")
    _check_acyclic(program)


def _check_acyclic(program: Program) -> None:
    runs = {block: set(_blocks_run_by(block)) for block in program.blocks}
    strangers = {b for called in runs.values() for b in called} - set(runs)
    if strangers:
        raise VerifyError("an operator runs a block that is not in the program's list")
    # Functions may call themselves; no other block may run itself.
    runs = {block: {b for b in called if not b.name} for block, called in runs.items()}
    # Take away, again and again, the blocks that run nothing which is left, then those that nothing left runs.
    left = _peeled(runs)
    callers = {block: {b for b, called in left.items() if block in called} for block in left}
    circle = _peeled(callers)
    if circle:
        raise VerifyError(f"block {min(block.index for block in circle)} runs itself")


def check_owners(program: Program) -> None:
    """Every block but functions is run by one operator; raises VerifyError.

    Each level of blocks that two operators run would double what reading and running them takes.
    """
    taken: set[Block] = set()
    for inner in [inner for block in program.blocks for op in block.ops for inner in op.blocks.values()]:
        if inner in taken:
            raise VerifyError(f"block {inner.index} is run by two operators")
        taken.add(inner)


def _peeled(graph: dict[Block, set[Block]]) -> dict[Block, set[Block]]:
    left = dict(graph)
    while ready := [block for block, others in left.items() if not others & left.keys()]:
        for block in ready:
            del left[block]
    return left


def _blocks_run_by(block: Block) -> Iterable[Block]:
    return (b for operator in block.ops for b in blocks_of(operator.attrs))


# --- one block -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Signature:
    """What an op takes: how many inputs, which attributes it must have."""

    least: int
    most: float
    required: frozenset[str]
    known: frozenset[str]


def _signature(op: OpDef) -> _Signature:
    parameters = list(inspect.signature(op.kernel).parameters.values())[1:]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty)
    return _Signature(
        least=sum(p.default is p.empty for p in positional),
        most=float("inf") if op.variadic else len(positional),
        required=required & frozenset(op.attrs),
        known=frozenset(op.attrs),
    )


@dataclass
class _BlockCheck:
    block: Block
    signatures: dict[OpDef, _Signature]
    infer: bool
    defined: set[Variable] = field(default_factory=set)
    at: int = -1

    def run(self) -> None:
        self.check_vars()
        self.defined = set(self.block.inputs)
        if self.block.index == 0:
            self.defined |= set(self.block.persistables)
        if len(set(self.block.inputs)) != len(self.block.inputs):
            self.fail("an input is listed twice")
        self.check_captures()
        for index, operator in enumerate(self.block.ops):
            self.at = index
            self.check_operator(operator)
        self.at = -1
        for var in self.block.outputs:
            if var is not None and var not in self.defined:
                self.fail(f"output {variable_name(var)} is not defined in it")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise, with the operator in question between its neighbours."""
        if self.at < 0:
            raise VerifyError(f"block {self.block.index}: {message}", hint=hint)
        operator = self.block.ops[self.at]
        loc: Loc | None = operator.locs[0] if operator.locs else None
        head = f"{operator.op.name}: {message}\n  operator {self.at} of block {self.block.index}:"
        raise VerifyError("\n".join([head, *self.neighbours()]), loc=loc, hint=hint)

    def neighbours(self) -> Iterable[str]:
        for i in range(max(self.at - 1, 0), min(self.at + 2, len(self.block.ops))):
            yield f"  {'>' if i == self.at else ' '} {operator_text(self.block.ops[i])}"

    def check_vars(self) -> None:
        for name, var in self.block.vars.items():
            if var.name != name or var.block is not self.block:
                self.fail(f"its variable %{name} is called {variable_name(var)} or belongs to another block")
            if var.persistable and self.block.index:
                self.fail(f"{variable_name(var)} is persistable, which only variables of block 0 are")

    def check_captures(self) -> None:
        inputs = set(self.block.inputs)
        for outer, inner in self.block.captures.items():
            if outer.block is not self.block.parent or inner not in inputs:
                self.fail(
                    f"{variable_name(inner)} captures {variable_name(outer)}: expected an input of this block and a "
                    "variable of the enclosing one"
                )

    def check_operator(self, operator: Operator) -> None:
        self.check_attrs(operator)
        self.check_refs(operator)
        self.check_inputs(operator)
        self.check_outputs(operator)
        if self.infer:
            self.check_metas(operator)
        self.defined.update(operator.outputs)

    def signature(self, op: OpDef) -> _Signature:
        found = self.signatures.get(op)
        if found is None:
            found = self.signatures[op] = _signature(op)
        return found

    def check_inputs(self, operator: Operator) -> None:
        for var in operator.variables:
            if var.block is not self.block:
                self.fail(f"reads {variable_name(var)} of block {var.block.index}, and blocks are closed")
            if var not in self.defined:
                self.fail(f"reads {variable_name(var)} before it is defined")
        count = len(operator.inputs) - operator.ref_count
        signature = self.signature(operator.op)
        if not signature.least <= count <= signature.most:
            most = "or more" if signature.most == float("inf") else f"to {signature.most}"
            self.fail(f"takes {signature.least} {most} inputs ({', '.join(operator.op.inputs)}), got {count}")

    def check_attrs(self, operator: Operator) -> None:
        signature = self.signature(operator.op)
        given = set(operator.attrs)
        if given - signature.known:
            self.fail(f"has no attribute {sorted(given - signature.known)}, only {sorted(signature.known)}")
        if signature.required - given:
            self.fail(f"needs the attributes {sorted(signature.required - given)}")

    def check_refs(self, operator: Operator) -> None:
        """Refs stand only where the op reads values from tensors, and together they name the inputs at the end."""
        named: set[int] = set()
        for name, value in operator.attrs.items():
            for ref in refs_in(value):
                if name not in operator.op.dynamic:
                    self.fail(f"attribute {name} is {ref}, but must be known when the program is built")
                self.check_ref(operator, ref.index, ref.item)
                named.add(ref.index)
        last = range(len(operator.inputs) - operator.ref_count, len(operator.inputs))
        if named != set(last):
            self.fail(f"its attributes name the inputs {sorted(named)}, expected {list(last)}")

    def check_ref(self, operator: Operator, index: int, item: int | None) -> None:
        var = operator.inputs[index] if 0 <= index < len(operator.inputs) else None
        meta = var.meta if isinstance(var, Variable) else None
        if not isinstance(meta, Meta) or meta.dtype.is_complex:
            self.fail(f"an attribute is %{index}, which is no input that holds numbers")
        fits = meta.shape in ((), (1,)) if item is None else meta.ndim == 1 and 0 <= item < meta.shape[0]
        if not fits:
            self.fail(f"an attribute is %{index}{'' if item is None else f'[{item}]'}, and input {index} is {meta}")

    def check_outputs(self, operator: Operator) -> None:
        for i, var in enumerate(operator.outputs):
            if self.block.vars.get(var.name) is not var:
                self.fail(f"its output {variable_name(var)} is no variable of this block")
            if (var in self.defined and not var.persistable) or any(var is v for v in operator.outputs[:i]):
                self.fail(f"defines {variable_name(var)} a second time")

    def check_metas(self, operator: Operator) -> None:
        self.check_counts(operator)
        count = len(operator.inputs) - operator.ref_count
        metas = [None if v is None else v.meta for v in operator.inputs[:count]]
        try:
            found = operator.op.meta(*metas, **operator.attrs)
        except _RULE_FAILURES as err:
            reason = err.message if isinstance(err, VitrifyError) else f"{type(err).__name__}: {err}"
            self.fail(f"its inputs or attributes don't fit: {reason}")
        inferred: Sequence[Any] = found if operator.op.multiple else (found,)
        if len(inferred) != len(operator.outputs):
            self.fail(f"gives {len(inferred)} outputs, and {len(operator.outputs)} are declared")
        for var, meta in zip(operator.outputs, inferred):
            if isinstance(meta, Meta) and not isinstance(meta.dtype, DType):
                self.fail(f"its attributes make {meta.dtype!r} the dtype of output {variable_name(var)}")
            if not agree(var.meta, meta):
                self.fail(
                    f"output {variable_name(var)} is declared {meta_text(var.meta)}, "
                    f"but these inputs give {meta_text(meta)}"
                )

    def check_counts(self, operator: Operator) -> None:
        """Stop a forged file from asking the rule for billions of outputs."""
        if operator.op.outputs == VARIADIC_OUTPUTS:
            for name, value in operator.attrs.items():
                if type(value) is int and value > MAX_OUTPUTS:
                    self.fail(f"{name}={value} is more than the {MAX_OUTPUTS} outputs that an operator may have")


def agree(a: Any, b: Any) -> bool:
    """Whether two metas may describe one value: same kind, dtype and rank, and equal sizes where both are known."""
    if isinstance(a, ListMeta) or isinstance(b, ListMeta):
        return isinstance(a, ListMeta) and isinstance(b, ListMeta) and agree(a.item, b.item)
    if not (isinstance(a, Meta) and isinstance(b, Meta)):
        return type(a) is type(b)
    if a.dtype is not b.dtype or len(a.shape) != len(b.shape):
        return False
    return all(x == y or UNKNOWN in (x, y) for x, y in zip(a.shape, b.shape))

"""Pointwise kernels: a closed Block of elementwise operators as a function of contiguous operands and whole vectors.

    void compute(intp size, char **pointers)

It is written in vectors from the start: one pass over the operators' scalar expressions, with registers of `lanes`
elements. Whatever else arrays may be (strided, broadcast, of odd sizes) is the business of the harness that calls it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ..core.meta import Meta
from ..ir.program import Block, Literal, Operator, Variable
from .emit import FLOAT16, Dtype, Emitter, Register, register_type
from .errors import NoNativeForm
from .llvm import Target
from .memory import load, store
from .scalars import LlvmScalars, Operand, evaluated

# NumPy's ufuncs take up to 64 operands.
MOST_OPERANDS = 60


@dataclass(frozen=True)
class Signature:
    """What a kernel reads and writes: which inputs of the block, their dtypes, and which of them are constant along
    the last dimension as far as was known when the program was recorded.
    """

    reads: tuple[int, ...]
    inputs: tuple[Dtype, ...]
    outputs: tuple[Dtype, ...]
    fixed: tuple[bool, ...]

    @property
    def variants(self) -> list[tuple[bool, ...]]:
        """For each function of the kernel, which inputs are single elements."""
        contiguous = (False,) * len(self.inputs)
        return [contiguous] if self.fixed == contiguous or all(self.fixed) else [contiguous, self.fixed]

    @property
    def dtypes(self) -> tuple[Dtype, ...]:
        """The dtypes of all operands."""
        return (*self.inputs, *self.outputs)


def why_not(op: Operator) -> str:
    """Why an operator is no part of a pointwise kernel; empty if it may be one."""
    if op.op.scalar is None:
        return f"{op.op.name} is no elementwise operator"
    if op.op.effect or op.op.random or op.op.multiple or op.ref_count:
        return f"{op.op.name} does more than compute each element"
    return ""


def needed_by(body: Block, outputs: Sequence[object]) -> tuple[list[Operator], tuple[int, ...]]:
    """The operators that these outputs depend on, in order, and the places of the inputs that they do."""
    needed = {id(v) for v in outputs}
    operators = []
    for op in reversed(body.ops):
        if any(id(v) in needed for v in op.outputs):
            operators.append(op)
            needed.update(id(v) for v in op.inputs)
    return operators[::-1], tuple(i for i, v in enumerate(body.inputs) if id(v) in needed)


def signature_of(body: Block) -> Signature:
    """The operands of a kernel of this block. Raises NoNativeForm."""
    made = {id(v) for op in body.ops for v in op.outputs}
    if not body.outputs or any(id(v) not in made for v in body.outputs):
        raise NoNativeForm("an output is none of what the operators compute")
    _, reads = needed_by(body, body.outputs)
    if len(reads) + len(body.outputs) > MOST_OPERANDS or not reads:
        raise NoNativeForm(f"{len(reads)} inputs and {len(body.outputs)} outputs are not what a ufunc takes")
    metas = [_meta(body.inputs[i]) for i in reads]
    return Signature(
        reads,
        tuple(m.dtype.np for m in metas),
        tuple(_meta(v).dtype.np for v in body.outputs),
        tuple(map(_is_fixed, metas)),
    )


def _meta(value: object) -> Meta:
    meta = getattr(value, "meta", None)
    if not isinstance(meta, Meta):
        raise NoNativeForm("lists and frames have no native form")
    register_type(meta.dtype.np)
    return meta


def structure(body: Block) -> Hashable | None:
    """All that the code of a group of elementwise operators depends on; None for other operators."""
    if any(op.op.scalar is None or op.op.decompose is not None for op in body.ops):
        return None
    names: dict[object, object] = {None: None}
    for number, variable in enumerate(body.inputs):
        meta = variable.meta
        if not isinstance(meta, Meta):
            return None
        names[variable] = number, meta.dtype.name, _is_fixed(meta)
    found: list[Hashable] = []
    for number, op in enumerate(body.ops):
        operands = tuple([names[v] if isinstance(v, Variable) else repr(v) for v in op.inputs])
        metas = tuple([str(getattr(v.meta, "dtype", None)) for v in op.outputs])
        found.append((op.op.name, operands, repr(sorted(op.attrs.items())), metas))
        names.update({v: (len(body.inputs) + number, i) for i, v in enumerate(op.outputs)})
    return tuple([names[v] for v in body.inputs]), tuple(found), tuple([names.get(v) for v in body.outputs])


def _is_fixed(meta: Meta) -> bool:
    """Whether an operand is constant along the last dimension."""
    return not meta.shape or meta.shape[-1] == 1


def pointwise_ir(body: Block, target: Target) -> tuple[str, Signature]:
    """The LLVM IR of the block, its functions `compute0` and, where operands are fixed, `compute1`, and its operands.

    Raises NoNativeForm.
    """
    signature = signature_of(body)
    if not target.has_f16 and FLOAT16 in signature.dtypes:
        raise NoNativeForm("this CPU does not convert float16")
    declarations: dict[str, str] = {}
    functions = []
    for number, fixed in enumerate(signature.variants):
        emit = Emitter(target.lanes)
        functions.append(_compute(emit, target, body, signature, fixed, f"compute{number}"))
        declarations |= emit.declarations
    return "\n\n".join([*functions, *declarations.values(), attributes(target)]), signature


def attributes(target: Target) -> str:
    """What the functions of a module say about themselves."""
    width = 8 * target.vector_bytes
    return (
        "attributes #0 = { nounwind willreturn memory(none) }\n"
        f'attributes #1 = {{ nounwind "prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}\n'
    )


def _compute(
    emit: Emitter, target: Target, body: Block, signature: Signature, fixed: Sequence[bool], name: str
) -> str:  # fmt: skip
    """The function of contiguous operands (those `fixed` are single elements) and a number of whole vectors."""
    count, lanes = len(signature.inputs), emit.lanes
    pointers = [f"%p{i}" for i in range(len(signature.dtypes))]
    for i, pointer in enumerate(pointers):
        emit.line(f"{pointer}p = getelementptr ptr, ptr %pointers, i64 {i}")
        emit.line(f"{pointer} = load ptr, ptr {pointer}p")
    singles = {i: load(emit, pointers[i], dtype, 1) for i, dtype in enumerate(signature.inputs) if fixed[i]}
    emit.line("br label %loop")
    emit.label("loop")
    emit.line("%i = phi i64 [0, %entry], [%next, %loop]")
    values = {}
    for i, dtype in enumerate(signature.inputs):
        values[signature.reads[i]] = singles[i] if i in singles else load(emit, pointers[i], dtype, lanes, "%i")
    found = computed(emit, target, body, values)
    for variable, pointer, dtype in zip(body.outputs, pointers[count:], signature.outputs):
        store(emit, emit.spread(found[id(variable)].register, lanes), pointer, dtype, "%i")
    emit.line(f"%next = add nuw i64 %i, {lanes}")
    emit.line("%more = icmp ult i64 %next, %n")
    emit.line("br i1 %more, label %loop, label %done")
    emit.label("done")
    emit.line("ret void")
    return f"define void @{name}(i64 %n, ptr %pointers) #1 {{\nentry:\n" + "\n".join(emit.lines) + "\n}"


def computed(emit: Emitter, target: Target, body: Block, inputs: dict[int, Register]) -> dict[int, Operand]:
    """What each variable of the block is, by its identity, given registers of inputs by their numbers."""
    scalars = LlvmScalars(emit, target)
    found = {id(body.inputs[i]): scalars.operand(r, _meta(body.inputs[i]).dtype.np) for i, r in inputs.items()}
    for op in needed_by(body, body.outputs)[0]:
        reason = why_not(op)
        if reason:
            raise NoNativeForm(reason)
        if op.locs:
            emit.comment(f"{op.op.name}, {op.locs[0].file}:{op.locs[0].line}: {op.locs[0].text}")
        operands = [_operand(scalars, found, v) for v in op.inputs]
        out = op.outputs[0]
        found[id(out)] = evaluated(scalars, op.op.scalar, operands, dict(op.attrs), _meta(out).dtype.np)
    return found


def _operand(scalars: LlvmScalars, found: dict[int, Operand], value: object) -> Operand | None:
    if isinstance(value, Variable):
        return found[id(value)]
    return scalars.number(value.value, value.dtype.np) if isinstance(value, Literal) else None

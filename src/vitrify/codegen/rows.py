"""Row kernels: a graph with reductions over the last dimensions as a function of many rows.

    void rows(char **arguments, intp *sizes, intp *steps, void *)

It is the inner loop of a generalized ufunc: NumPy calls it with a number of rows, the size of a row, and how far apart
the rows of each operand lie. The elements of a row lie side by side; those behind its last whole vector are loaded and
stored under masks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ..ir.ssa import Graph, Literal, Op, Operand, Value
from .accumulators import Accumulator, State, gathered_in
from .emit import FLOAT16, Dtype, Emitter, Register
from .errors import NoNativeForm
from .llvm import Target
from .memory import load, store
from .pointwise import MOST_OPERANDS, attributes
from .row_plan import RowPlan, dtype_of, plan_of
from .scalars import LlvmScalars, evaluated
from .scalars import Operand as Number

# Vectors of a row that one round of a loop takes, where it reduces them by instructions of several cycles.
_UNROLLED = 4
# The next row is fetched while this one is computed, if both are sure to stay in the second cache: a stream of a row's
# size is over before the CPU itself has seen that it is one.
_LARGEST_FETCHED, _CACHE_LINE = 1 << 16, 64


@dataclass(frozen=True)
class RowSignature:
    """What a row kernel reads and writes: places of inputs, dtypes, and which have a number for each row only.

    scratch: the sizes in bytes of an element of what it keeps in memory of its own. columns: the dtypes of what it
    gathers from all rows.
    """

    reads: tuple[int, ...]
    inputs: tuple[Dtype, ...]
    outputs: tuple[Dtype, ...]
    narrow: tuple[bool, ...]
    scratch: tuple[int, ...]
    columns: tuple[Dtype, ...] = ()

    @property
    def dtypes(self) -> tuple[Dtype, ...]:
        """The dtypes of all operands but the scratch memory."""
        return (*self.inputs, *self.outputs)

    @property
    def text(self) -> str:
        """The signature of the generalized ufunc; `n` is the size of a row, scratch memory has its own."""
        parts = ["()" if narrow else "(n)" for narrow in self.narrow]
        inputs = parts[: len(self.inputs)] + [f"(s{i})" for i in range(len(self.scratch))]
        inputs += ["(n)"] * len(self.columns)
        # A ufunc has a result: where rows have none, there is one that nobody writes.
        return f"{','.join(inputs)}->{','.join(parts[len(self.inputs) :] or ['()'])}"


def rows_ir(graph: Graph, target: Target) -> tuple[str, RowSignature, RowPlan]:
    """The LLVM IR of the function `rows`, its operands, and the plan that it follows. Raises NoNativeForm."""
    plan = plan_of(graph)
    used = {v for op in graph.ops for v in op.values}
    reads = tuple(i for i, v in enumerate(graph.inputs) if v in used)
    values = [*(graph.inputs[i] for i in reads), *plan.outputs]
    signature = RowSignature(
        reads,
        tuple(dtype_of(graph.inputs[i]) for i in reads),
        tuple(dtype_of(v) for v in plan.outputs),
        tuple(v not in plan.full for v in values),
        tuple(dtype_of(v).itemsize for v in plan.scratch),
        tuple(gathered_in(op) for op in plan.columns),
    )
    if len(values) + len(plan.scratch) + len(plan.columns) > MOST_OPERANDS:
        raise NoNativeForm(f"{len(values)} operands are not what a ufunc takes")
    if all(signature.narrow[: len(reads)]):
        raise NoNativeForm("no input has whole rows")
    if not target.has_f16 and FLOAT16 in signature.dtypes:
        raise NoNativeForm("this CPU does not convert float16")
    emit = Emitter(target.lanes)
    body = _Writer(emit, target, plan, signature).written()
    parts = [body, *emit.declarations.values(), attributes(target)]
    return "\n\n".join(parts), signature, plan


class _Writer:
    """Writes the function: a loop over rows, inside it a loop over the row for each phase."""

    def __init__(self, emit: Emitter, target: Target, plan: RowPlan, signature: RowSignature) -> None:
        self.emit = emit
        self.plan = plan
        self.scalars = LlvmScalars(emit, target)
        self.labels = count()
        read = [plan.graph.inputs[i] for i in signature.reads]
        # In the order of the ufunc's operands.
        columns = [op.outputs[0] for op in plan.columns]
        self.operands: list[Value] = [*read, *plan.scratch, *columns, *plan.outputs]
        self.pointers = {v: f"%p{i}" for i, v in enumerate(self.operands)}
        self.numbers: dict[Value, Number] = {}  # of the row
        self.fetched = [v for v in (*read, *plan.outputs) if v in plan.full]
        gathering = [phase for phase in sorted(plan.loops) if plan.reductions(phase)]
        # The first loop that gathers may itself wait for memory.
        self.fetching = gathering[:2][-1] if gathering else None

    def written(self) -> str:
        """The IR."""
        e = self.emit
        e.line("%rows = load i64, ptr %sizes")
        e.line("%n.at = getelementptr i64, ptr %sizes, i64 1")
        e.line("%n = load i64, ptr %n.at")
        e.line("%count = uitofp i64 %n to double")
        for i in range(len(self.operands)):
            e.line(f"%a{i}.at = getelementptr ptr, ptr %arguments, i64 {i}")
            e.line(f"%a{i} = load ptr, ptr %a{i}.at")
            e.line(f"%s{i}.at = getelementptr i64, ptr %steps, i64 {i}")
            e.line(f"%s{i} = load i64, ptr %s{i}.at")
        for v in self.fetched if self.fetching is not None else ():
            number = self.operands.index(v)
            e.line(f"%few{number} = icmp ule i64 %n, {_LARGEST_FETCHED // dtype_of(v).itemsize}")
            e.line(f"%ahead{number} = select i1 %few{number}, i64 %s{number}, i64 0")
        e.line("%any = icmp ne i64 %rows, 0")
        e.line("br i1 %any, label %row, label %end")
        e.label("row")
        e.line("%r = phi i64 [0, %entry], [%r.next, %row.end]")
        for i in range(len(self.operands)):
            e.line(f"%p{i} = phi ptr [%a{i}, %entry], [%q{i}, %row.end]")
        self._row()
        e.line("br label %row.end")
        e.label("row.end")
        for i in range(len(self.operands)):
            e.line(f"%q{i} = getelementptr i8, ptr %p{i}, i64 %s{i}")
        e.line("%r.next = add nuw i64 %r, 1")
        e.line("%r.more = icmp ult i64 %r.next, %rows")
        e.line("br i1 %r.more, label %row, label %end")
        e.label("end")
        e.line("ret void")
        head = "define void @rows(ptr %arguments, ptr %sizes, ptr %steps, ptr %data) #1 {\nentry:\n"
        return head + "\n".join(e.lines) + "\n}"

    def _row(self) -> None:
        plan = self.plan
        for value in plan.graph.inputs:
            if value in self.pointers and value not in plan.full:
                dtype = dtype_of(value)
                self.numbers[value] = self.scalars.operand(load(self.emit, self.pointers[value], dtype, 1), dtype)
        last = max((plan.phase[v] for v in plan.phase), default=0)
        here = "row"
        for phase in range(last + 1):
            for op in plan.numbers(phase):
                self.numbers[op.outputs[0]] = self._computed(op, self._number)
            if phase in plan.loops:
                here = self._loop(phase, here)
        for out in plan.outputs:
            if out not in plan.full:
                store(self.emit, self.numbers[out].register, self.pointers[out], dtype_of(out))

    def _number(self, value: Operand) -> Number | None:
        if type(value) is Literal:
            return self.scalars.number(value.value, value.dtype.np)
        return None if value is None else self.numbers[value]

    def _computed(self, op: Op, operand: Callable[[Operand], Number | None]) -> Number:
        if op.locs:
            self.emit.comment(f"{op.op.name}, {op.locs[0].file}:{op.locs[0].line}: {op.locs[0].text}")
        operands = [operand(v) for v in op.inputs]
        return evaluated(self.scalars, op.op.scalar, operands, dict(op.attrs), dtype_of(op.outputs[0]))

    # -- one loop over the row -----------------------------------------------------------------------------------------

    def _loop(self, phase: int, here: str) -> str:
        """Write the loop of a phase behind block `here`; gives the block behind it."""
        e, name = self.emit, f"l{next(self.labels)}"
        reductions = self.plan.reductions(phase)
        gathered = [Accumulator(op, e, self.scalars) for op in reductions]
        wide = {v: self.scalars.operand(e.spread(x.register, e.lanes), x.dtype) for v, x in self.numbers.items()}
        copies = _UNROLLED if gathered else 1
        step = copies * e.lanes
        e.line(f"%{name}.some = icmp uge i64 %n, {step}")
        e.line(f"br i1 %{name}.some, label %{name}.main, label %{name}.rest")
        # Of vectors side by side, one gathers widened sums for all.
        starts = [[a.begin() for a in gathered], [() if a.is_widened else a.begin() for a in gathered]]
        begin = [starts[c > 0] for c in range(copies)]
        main = self._body(phase, f"{name}.main", [(here, "0", begin)], gathered, wide, copies)
        e.line(f"%{name}.limit = add i64 {main.index}, {step}")
        e.line(f"%{name}.fits = icmp ule i64 %{name}.limit, %n")
        e.line(f"br i1 %{name}.fits, label %{name}.main, label %{name}.rest")
        # What is left, one vector after the other, under a mask.
        e.label(f"{name}.rest")
        index, states = self._phis([(here, "0", begin), (f"{name}.main", main.index, main.states)])
        e.line(f"%{name}.left = icmp ult i64 {index}, %n")
        e.line(f"br i1 %{name}.left, label %{name}.tail, label %{name}.done")
        tail = self._body(phase, f"{name}.tail", [(f"{name}.rest", index, states[:1])], gathered, wide, 0)
        e.line(f"%{name}.more = icmp ult i64 {tail.index}, %n")
        e.line(f"br i1 %{name}.more, label %{name}.tail, label %{name}.done")
        e.label(f"{name}.done")
        _, ends = self._phis([(f"{name}.rest", index, states[:1]), (f"{name}.tail", tail.index, tail.states)])
        for number, (op, one) in enumerate(zip(reductions, gathered)):
            merged = one.merge([copy[number] for copy in [*ends, *states[1:]] if copy[number]])
            self.numbers[op.outputs[0]] = one.end(merged, Register("double", "%count", 1))
        return f"{name}.done"

    def _phis(self, sources: list[tuple[str, str, list[list[State]]]]) -> tuple[str, list[list[State]]]:
        """An index and states that come from several blocks."""
        e = self.emit
        index = e.fresh("i")
        e.line(f"{index} = phi i64 " + ", ".join(f"[{i}, %{block}]" for block, i, _ in sources))
        found: list[list[State]] = []
        for c, copy in enumerate(sources[0][2]):
            found.append([])
            for a, state in enumerate(copy):
                merged = []
                for k, register in enumerate(state):
                    name = e.fresh("acc")
                    parts = ", ".join(f"[{states[c][a][k].text}, %{block}]" for block, _, states in sources)
                    e.line(f"{name} = phi {register.full_type} {parts}")
                    merged.append(Register(register.type, name, register.lanes))
                found[-1].append(tuple(merged))
        return index, found

    def _body(
        self, phase: int, name: str, sources: list[tuple[str, str, list[list[State]]]], gathered: list[Accumulator],
        wide: dict[Value, Number], copies: int,
    ) -> _Round:  # fmt: skip
        """A block that repeats itself: `copies` vectors, or for 0 one under a mask; it lacks its last branch."""
        e = self.emit
        e.label(name)
        at = len(e.lines)
        index, states = self._phis(sources)  # written again below, when it is known what the block hands to itself
        written = e.lines[at:]
        vectors = []
        for c in range(max(copies, 1)):
            where = index if c == 0 else e.value(f"add nuw i64 {index}, {c * e.lanes}", "i64", 1).text
            vectors.append(_Vector(self, phase, where, None if copies else self._mask(index), wide))
        ends = [vector.run(gathered, state) for vector, state in zip(vectors, states)]
        for number, (op, one) in enumerate(zip(self.plan.reductions(phase), gathered)):
            if one.is_widened and copies:
                ends[0][number] = one.take_all(ends[0][number], [vector.found[op.inputs[0]] for vector in vectors])
        if copies and phase == self.fetching:
            self._fetch(index, copies)
        step = e.value(f"add nuw i64 {index}, {max(copies, 1) * e.lanes}", "i64", 1).text
        flat = [step, *[r.text for copy in ends for state in copy for r in state]]
        e.lines[at : at + len(written)] = [f"{line}, [{text}, %{name}]" for line, text in zip(written, flat)]
        return _Round(step, ends)

    def _fetch(self, index: str, copies: int) -> None:
        """Let the CPU bring these vectors of the next row near; it does nothing where there is no memory."""
        e = self.emit
        e.declarations["@llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        for v in self.fetched:
            size, number = dtype_of(v).itemsize, self.operands.index(v)
            row = e.value(f"getelementptr i8, ptr {self.pointers[v]}, i64 %ahead{number}", "ptr", 1).text
            start = e.value(f"mul nuw i64 {index}, {size}", "i64", 1).text
            for line in range(0, copies * e.lanes * size, _CACHE_LINE):
                place = e.value(f"add nuw i64 {start}, {line}", "i64", 1).text
                address = e.value(f"getelementptr i8, ptr {row}, i64 {place}", "ptr", 1).text
                e.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 {int(v in self.plan.outputs)}, i32 3, i32 1)")

    def _mask(self, index: str) -> Register:
        """Which lanes of the vector at `index` lie in the row."""
        e = self.emit
        left = e.value(f"sub i64 %n, {index}", "i64", 1)
        few = e.convert("trunc", left, "i32")
        lanes = Register("i32", "<" + ", ".join(f"i32 {i}" for i in range(e.lanes)) + ">", e.lanes)
        return e.compare("icmp ult", lanes, few)


@dataclass
class _Round:
    """How a round of a loop ends: the next index, and the states by copy and reduction."""

    index: str
    states: list[list[State]]


class _Vector:
    """The computation of one vector of a row in one loop."""

    def __init__(
        self, writer: _Writer, phase: int, index: str, mask: Register | None, wide: dict[Value, Number]
    ) -> None:  # fmt: skip
        self.writer = writer
        self.plan = writer.plan
        self.phase = phase
        self.index = index
        self.mask = mask
        self.found: dict[Value, Number] = dict(wide)

    def run(self, gathered: list[Accumulator], states: list[State]) -> list[State]:
        """Compute and store what belongs into this loop; the states of reductions with these elements.

        Widened sums take vectors without a mask later, several at once.
        """
        plan, writer = self.plan, self.writer
        values_of = [self._of(op.inputs[0]) for op in plan.reductions(self.phase)]
        new = [
            state if one.is_widened and self.mask is None else one.take(state, x, self.mask)
            for one, x, state in zip(gathered, values_of, states)
        ]
        # Stores come last: a result may lie where this loop loads what was kept.
        due = [(v, place or v) for v, place in plan.kept.items() if plan.phase[v] == self.phase]
        due += [(v, v) for v in plan.outputs if v in plan.full and plan.phase[v] == self.phase]
        values = [(self._of(value), dtype_of(value), writer.pointers[place]) for value, place in dict.fromkeys(due)]
        for number, dtype, pointer in values:
            register = writer.emit.spread(number.register, writer.emit.lanes)
            store(writer.emit, register, pointer, dtype, self.index, self.mask)
        for op in plan.columns:
            if plan.phase[op.values[0]] == self.phase:
                self._gather(op)
        return new

    def _gather(self, op: Op) -> None:
        """Combine these elements with those of the rows before."""
        e, scalars, dtype = self.writer.emit, self.writer.scalars, gathered_in(op)
        pointer = self.writer.pointers[op.outputs[0]]
        before = load(e, pointer, dtype, e.lanes, self.index, self.mask)
        one = Accumulator(op, e, scalars, is_column=True)
        (after,) = one.take((before,), self._of(op.values[0]), None)
        store(e, after, pointer, dtype, self.index, self.mask)

    def _of(self, value: Operand) -> Number:
        """A value's elements in this vector."""
        found = self.found.get(value)
        if found is None:
            found = self.found[value] = self._made(value)
        return found

    def _made(self, value: Value) -> Number:
        plan, writer = self.plan, self.writer
        if value not in plan.made:
            return self._loaded(value, value)
        if value in plan.kept and plan.phase[value] < self.phase:
            return self._loaded(value, plan.kept[value] or value)
        return writer._computed(plan.made[value], self._operand)

    def _operand(self, value: Operand) -> Number | None:
        if type(value) is Literal:
            return self.writer.scalars.number(value.value, value.dtype.np)
        return None if value is None else self._of(value)

    def _loaded(self, value: Value, place: Value) -> Number:
        writer, dtype = self.writer, dtype_of(value)
        register = load(writer.emit, writer.pointers[place], dtype, writer.emit.lanes, self.index, self.mask)
        return writer.scalars.operand(register, dtype)


__all__ = ["RowSignature", "rows_ir"]

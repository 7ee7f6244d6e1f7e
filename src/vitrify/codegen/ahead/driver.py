"""Programs in which sizes are known only while they run: parts compiled for open sizes, and instructions between them.

Operators whose results have a size before they run are put together into parts, each a program of its own with open
sizes. Between them stand results whose size depends on values (`nonzero`, masks, `nms`), lists, and branches and loops
whose variables change their shape: instructions that work on slots (`driver_steps.py`), in memory of their own.

Sizes have symbols, by which parts see that two of them are equal. A symbol is a row of numbers, a sample of what it may
be: sizes computed from symbols are the rows that the polynomials of a part give, so equal rows are equal sizes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import ShapeError, UnsupportedError
from ...core.meta import UNKNOWN, Meta, Ref
from ...ir.program import Block, Literal, Operator, Program, Variable
from ...ops.registry import get_op
from ..errors import NoNativeForm
from .abi import ARRAY_SIZE
from .assembler import Symbol
from .expansions import expanded_operator, is_primitive
from .sizes import MOST_SIZES, OpenShape, Plus
from .symbols import SAMPLES, Size, Sizes, Symbols, minus, ports, relative, shapes_of

SLOT = ARRAY_SIZE + 8
_MOST_ROUNDS = 12
_MOST_VERSIONS = 8
_NONE = -1
# Numbers that are computed of sizes alone are computed again in each part that needs them.
_FEW = 16


@dataclass
class Held:
    """A value of the program: the slot that it lies in (none for parameters) and its sizes; None for lists."""

    slot: int | None
    sizes: Sizes | None
    parameter: Any = None


@dataclass
class Label:
    """A place among the instructions."""

    at: int = 0


@dataclass(frozen=True)
class Part:
    """The model of a part, by its number."""

    index: int


@dataclass
class Driver:
    """The instructions between parts. `room`: bytes behind the slots, for the arrays of calls."""

    parts: list[Any] = field(default_factory=list)
    words: list[Any] = field(default_factory=list)
    slots: int = 0
    room: int = 0
    outputs: tuple[int, ...] = ()


# Makes a part, or several for ranges of sizes: a block, sizes of its inputs, its parameters.
Compile = Callable[[Block, Sequence[OpenShape], Sequence[Any]], list[Any]]


class Lowering:
    """Puts the driver of a program together. Raises UnsupportedError for what has no form here."""

    def __init__(self, name: str, compile_part: Compile) -> None:
        self.name = name
        self.driver = Driver()
        self._compile = compile_part
        self._held: dict[Variable, Held] = {}
        self._alias: dict[Variable, Any] = {}
        self._sized: dict[Variable, Operator] = {}  # what computes numbers of sizes alone
        self._pending: list[Operator] = []
        self._readers: dict[Variable, set[int]] = {}
        self._kept: set[Variable] = set()  # whose sizes are read in other parts
        self._symbols = Symbols()

    # -- the whole program ---------------------------------------------------------------------------------------------

    def lowered(
        self, block: Block, shapes: Sequence[Sequence[int | str | Plus]], parameters: Sequence[Any]
    ) -> tuple[Driver, list[tuple[int, ...]]]:
        """The driver of a block whose first inputs have these sizes, and the outputs' shapes, -1 for what is open."""
        symbols: dict[str, Size] = {}
        for variable, shape in zip(block.inputs, shapes):
            sizes = tuple(
                (n,) * SAMPLES if isinstance(n, int) else symbols.setdefault(str(n), self._symbols.symbol(n))
                for n in shape
            )
            self._held[variable] = Held(self._slot(), sizes)
        for variable, array in zip(block.inputs[len(shapes) :], parameters):
            self._held[variable] = Held(None, tuple((n,) * SAMPLES for n in array.shape), array)
        self._note_readers(block)
        self._block(block)
        outputs = [self._in_slot(v) for v in block.outputs]
        self.driver.outputs = tuple(h.slot for h in outputs if h.slot is not None)
        self.driver.words.append(0)
        return self.driver, [tuple(n[0] if len(set(n)) == 1 else -1 for n in h.sizes or ()) for h in outputs]

    def _note_readers(self, block: Block) -> None:
        """Who reads each variable; inner blocks alias theirs, so all that they take is read by their operator."""
        for operator in block.ops:
            for v in operator.inputs:
                if isinstance(v, Variable):
                    self._readers.setdefault(v, set()).add(id(operator))
                    if operator.op.shape_only:
                        self._kept.add(v)
            for inner in operator.attrs.values():
                if isinstance(inner, Block) and _is_control(operator):
                    self._note_readers(inner)
        for v in block.outputs:
            if isinstance(v, Variable):
                self._readers.setdefault(v, set()).add(id(block))

    def _slot(self) -> int:
        self.driver.slots += 1
        return self.driver.slots - 1

    def _value(self, v: Any) -> Any:
        while isinstance(v, Variable) and v in self._alias:
            v = self._alias[v]
        return v

    def _add(self, name: str, *words: Any) -> None:
        self.driver.words += [Symbol(f"drive.{name}"), len(words) + 2, *words]

    def _jump(self, name: str, to: Label, *words: Any) -> None:
        self._add(name, to, *words)

    def _mark(self, label: Label) -> None:
        label.at = len(self.driver.words)

    # -- operators -----------------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        """The instructions of a block, whose inputs are bound."""
        for operator in block.ops:
            self._operator(operator)
        self._flush()

    def _operator(self, operator: Operator) -> None:
        form = _DRIVEN.get(operator.op.name)
        inner = expanded_operator(operator)
        if inner is not None:
            self._inline(operator, inner)
        elif form is not None and (operator.op.name not in _CONTROL or _changes(operator)):
            if not is_primitive(operator):
                raise NoNativeForm(f"{operator.op.name} has no native form with these arguments")
            self._flush()
            form(self, operator)
        else:
            self._defer(operator)

    def _inline(self, operator: Operator, block: Block) -> None:
        """An operator as simpler ones."""
        given = [v for v in operator.inputs if isinstance(v, Variable)]
        self._alias.update(zip(block.inputs, given))
        for inner, outer in zip(block.outputs, operator.outputs):
            self._alias[outer] = inner
            if inner is not None:
                self._readers.setdefault(inner, set()).update(self._readers.get(outer, set()))
                if outer in self._kept:
                    self._kept.add(inner)
        self._note_readers(block)
        for own in block.ops:
            self._operator(own)

    def _defer(self, operator: Operator) -> None:
        """Put an operator into the part that is being collected."""
        values = [self._value(v) for v in operator.inputs]
        if self._is_of_sizes(operator, values):
            self._sized.update(dict.fromkeys(operator.outputs, operator))
        if self._pending and len(self._open_sizes([*self._pending, operator])) > MOST_SIZES:
            self._flush()
        self._pending.append(operator)

    def _is_of_sizes(self, operator: Operator, values: Sequence[Any]) -> bool:
        """Whether a few numbers are computed of sizes alone."""
        op = operator.op
        if op.random or op.effect or any(isinstance(a, Block) for a in operator.attrs.values()):
            return False
        for v in operator.outputs:
            meta = v.meta
            if not isinstance(meta, Meta) or not meta.is_static or np.prod(meta.shape, dtype=np.int64) > _FEW:
                return False
        names = (*op.inputs, *op.inputs[-1:] * len(values))
        return all(not isinstance(v, Variable) or n in op.shape_only or v in self._sized for n, v in zip(names, values))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _closure(self, operators: Sequence[Operator]) -> tuple[list[Operator], list[Variable]]:
        """The operators with those before them that compute numbers of sizes, and what they take from elsewhere."""
        made = {v for operator in operators for v in operator.outputs}
        first: list[Operator] = []
        outside: dict[Variable, None] = {}

        def visit(v: Any) -> None:
            v = self._value(v)
            if not isinstance(v, Variable) or v in made or v in outside:
                return
            source = self._sized.get(v)
            if source is None:
                outside[v] = None
                return
            made.update(source.outputs)
            for x in source.inputs:
                visit(x)
            first.append(source)

        for operator in operators:
            for v in operator.inputs:
                visit(v)
        return [*first, *operators], [*outside]

    def _open_sizes(self, operators: Sequence[Operator]) -> list[Size]:
        """The sizes that a part of these operators takes."""
        _, outside = self._closure(operators)
        return ports([self._held[v].sizes or () for v in outside if v in self._held])[1]

    def _flush(self) -> None:
        """Make a part of what was collected."""
        operators, self._pending = self._pending, []
        if not operators:
            return
        own = {id(operator) for operator in operators}
        made = [v for operator in operators for v in operator.outputs]
        outputs = [v for v in made if self._is_needed(v, own)]
        if outputs or any(operator.op.effect for operator in operators):
            self._part(operators, outputs)

    def _is_needed(self, v: Variable, own: set[int]) -> bool:
        if v in self._sized and not self._readers.get(v, set()) - own:
            return False
        return bool(self._readers.get(v, set()) - own) or v in self._kept

    def _part(self, operators: Sequence[Operator], outputs: Sequence[Variable]) -> None:
        """A part that gives these variables, and the call of it."""
        whole, outside = self._closure(operators)
        given = [v for v in outside if self._held[v].parameter is None]
        fixed = [v for v in outside if self._held[v].parameter is not None]
        if any(self._held[v].sizes is None for v in given):
            raise NoNativeForm("a list is used where an array is needed")
        rows = [self._held[v].sizes or () for v in given]
        versions = self._versions(whole, [*given, *fixed], outputs, rows)
        slots = [self._slot() for _ in outputs]
        ins = [self._held[v].slot for v in given]
        self.driver.room = max(self.driver.room, ARRAY_SIZE * len(ins) + (ARRAY_SIZE + SLOT) * len(slots))
        end, shapes = Label(), []
        for number, (part, names) in enumerate(versions):
            other, is_last = Label(), number == len(versions) - 1
            self.driver.parts.append(part)
            call = [Part(len(self.driver.parts) - 1), len(ins), len(slots), _ROOM, _NONE if is_last else other]
            self._add("call", *call, *ins, *slots)
            self._jump("jump", end)
            self._mark(other)
            shapes.append(list(shapes_of(part, names)))
        self._mark(end)
        for at, (v, slot) in enumerate(zip(outputs, slots)):
            self._held[v] = Held(slot, self._symbols.one_of(outputs[0], [s[at] for s in shapes]))

    def _versions(
        self, operators: Sequence[Operator], inputs: Sequence[Variable], outputs: Sequence[Variable],
        rows: Sequence[Sizes],
    ) -> list[tuple[Any, list[Size]]]:  # fmt: skip
        """Parts for inputs of these sizes, each with its open ones in their order.

        Where operators take sizes as equal that are not known to be, or as those that a branch gives, the part does,
        too: its call finds whether they are, and tries the next one.
        """
        found: list[tuple[Any, list[Size]]] = []
        first: UnsupportedError | ShapeError | None = None
        done: set[Any] = set()
        for group, same in self._symbols.ways([n for sizes in rows for n in sizes]):
            shapes, names = ports([[same(n) for n in row] for row in rows])
            if group in done or any(isinstance(n, int) and n < 0 for shape in shapes for n in shape):
                continue
            block = self._copied(operators, inputs, outputs, shapes)
            try:
                parts = self._compile(block, shapes, [self._held[v].parameter for v in inputs[len(shapes) :]])
            except (UnsupportedError, ShapeError) as err:
                first = first or err
                continue
            done.add(group)
            found += [(part, names) for part in parts]
            if first is None or len(found) >= _MOST_VERSIONS:
                break
        # Parts for arrays without elements, which need no operator's form, do not make up for what was refused.
        useful = [part for part, _ in found if not any(0 in port.shape for port in part.inputs)]
        is_of_nothing = not all(any(n) for row in rows for n in row)
        if first is not None and not (useful or (found and is_of_nothing)):
            raise first
        return found

    def _copied(
        self, operators: Sequence[Operator], inputs: Sequence[Variable], outputs: Sequence[Variable],
        ports: Sequence[OpenShape],
    ) -> Block:  # fmt: skip
        """The operators in a block of their own."""
        block = Program().global_block()
        inner: dict[Variable, Variable] = {}
        for i, v in enumerate(inputs):
            meta = v.meta
            assert isinstance(meta, Meta)
            known = ports[i] if i < len(ports) else meta.shape
            inner[v] = block.add_input(meta.with_shape([n if isinstance(n, int) else UNKNOWN for n in known]))
        for operator in operators:
            values = tuple(
                inner[self._value(v)] if isinstance(self._value(v), Variable) else self._value(v)
                for v in operator.inputs
            )
            made = tuple(block.create_var(v.meta) for v in operator.outputs)
            inner.update(zip(operator.outputs, made))
            block.ops.append(Operator(operator.op, values, made, operator.attrs, operator.locs))
        block.outputs = [inner[self._value(v)] for v in outputs]
        return block

    def _in_slot(self, v: Any) -> Held:
        """A value that lies in a slot: numbers and parameters are put into one."""
        v = self._value(v)
        if isinstance(v, Variable) and v in self._held and self._held[v].slot is not None:
            return self._held[v]
        block = Program().global_block()
        meta = v.meta if isinstance(v, Variable) else Meta((), v.dtype)
        assert isinstance(meta, Meta)
        out = block.create_var(meta)
        if isinstance(v, Literal):
            attrs = {"shape": (), "fill_value": v.value, "dtype": v.dtype}
            self._part([Operator(get_op("full"), (), (out,), attrs)], [out])
            return self._held[out]
        if v in self._sized:
            self._part([self._sized[v]], [v])
            return self._held[v]
        if v not in self._held:
            raise NoNativeForm(f"{v.name} is needed before it is there")
        zero = Literal(0, meta.dtype)
        self._part([Operator(get_op("add"), (v, zero), (out,), {})], [out])
        return self._held[out]

    # -- branches and loops --------------------------------------------------------------------------------------------

    def _if(self, operator: Operator) -> None:
        then, orelse = operator.attrs["then"], operator.attrs["orelse"]
        other, end = Label(), Label()
        self._jump("jump_unless", other, self._in_slot(operator.inputs[0]).slot)
        slots = [self._slot() for _ in operator.outputs]
        found = []
        for block in (then, orelse):
            self._alias.update(zip(block.inputs, operator.inputs[1:]))
            sized = dict(self._sized)
            self._block(block)
            found.append([None if v is None else self._in_slot(v) for v in block.outputs])
            self._sized = sized  # what a branch has computed is not there behind it
            for slot, value in zip(slots, found[-1]):
                if value is not None:
                    self._add("move", slot, value.slot)
            if block is then:
                self._jump("jump", end)
                self._mark(other)
        self._mark(end)
        for v, slot, a, b in zip(operator.outputs, slots, *found):
            self._held[v] = Held(slot, self._merged(operator, a, b))

    def _merged(self, operator: Operator, a: Held | None, b: Held | None) -> Sizes | None:
        """The sizes of a value that is one thing or another."""
        if a is None or b is None:
            found = a or b
            return None if found is None else found.sizes
        if a.sizes is None or b.sizes is None:
            return None
        if len(a.sizes) != len(b.sizes):
            raise NoNativeForm("a value has one number of dimensions or another")
        return self._symbols.one_of(operator, [a.sizes, b.sizes])

    def _while(self, operator: Operator) -> None:
        cond, body, n = operator.attrs["cond"], operator.attrs["body"], operator.attrs["n_carried"]
        if operator.attrs["n_xs"] or len(body.outputs) != n:
            raise NoNativeForm("a loop that reads or writes lists item by item has no native form")
        values = operator.inputs if cond is not None else operator.inputs[1:]
        most = None if cond is not None else self._in_slot(operator.inputs[0]).slot
        start = [self._in_slot(v) for v in values[:n]]
        slots, temporary, steps = [self._slot() for _ in start], [self._slot() for _ in start], self._slot()
        for slot, value in zip(slots, start):
            self._add("move", slot, value.slot)
        self._add("plus", steps, _NONE, 0)
        groups: dict[Any, Any] = {}
        for _ in range(_MOST_ROUNDS):
            state = self._state()
            sizes = [self._entering(operator, i, s.sizes, groups) for i, s in enumerate(start)]
            ended = self._once(cond, body, values, [Held(s, z) for s, z in zip(slots, sizes)], (most, steps), temporary)
            refined = self._refined(sizes, [h.sizes for h in ended], start, groups)
            if refined is None:
                break
            groups = refined
            self._restore(state)
        else:
            raise NoNativeForm("the sizes in a loop have no relation that holds in each round")
        for v, slot, size in zip(operator.outputs, slots, sizes):
            self._held[v] = Held(slot, size)
        self._held[operator.outputs[n]] = Held(steps, ())

    def _state(self) -> Any:
        driver = self.driver
        return len(driver.parts), len(driver.words), driver.slots, dict(self._sized), dict(self._held)

    def _restore(self, state: Any) -> None:
        parts, words, self.driver.slots, self._sized, self._held = state
        del self.driver.parts[parts:], self.driver.words[words:]

    def _entering(self, operator: Operator, number: int, sizes: Sizes | None, groups: dict[Any, Any]) -> Sizes | None:
        """The sizes of a variable in a loop: those it has before, but for the ones that some round changes."""
        if sizes is None:
            return None
        return tuple(
            self._symbols.related(operator, groups[number, d], n) if (number, d) in groups else n
            for d, n in enumerate(sizes)
        )

    def _refined(
        self, sizes: Sequence[Sizes | None], ended: Sequence[Sizes | None], start: Sequence[Held],
        groups: Mapping[Any, Any],
    ) -> dict[Any, Any] | None:  # fmt: skip
        """Which sizes change, in groups of those that rounds change alike; None where the groups are these already."""
        found: dict[Any, Any] = {}
        for i, (a, b, s) in enumerate(zip(sizes, ended, start)):
            if (a is None) != (b is None) or len(a or ()) != len(b or ()):
                raise NoNativeForm("a variable of a loop changes its number of dimensions")
            for d, (x, y) in enumerate(zip(a or (), b or ())):
                assert s.sizes is not None
                if x != y or (i, d) in groups:
                    before = groups.get((i, d))
                    found[i, d] = (relative(s.sizes[d]),) if before is None else (*before, minus(y, x))
        if found.keys() == groups.keys():
            split = {own[:-1]: own for own in found.values()}
            if all(split[own[:-1]] == own for own in found.values()):
                return None
        return found

    def _once(
        self, cond: Block | None, body: Block, values: Sequence[Any], carried: Sequence[Held],
        counts: tuple[int | None, int], temporary: Sequence[int],
    ) -> list[Held]:  # fmt: skip
        """The instructions of a loop; what a round gives."""
        begin, end = Label(), Label()
        most, steps = counts
        outer = dict(self._sized)
        self._mark(begin)
        n = len(carried)
        if cond is None:
            self._jump("jump_from", end, steps, most)
        else:
            self._bind(cond, values, carried)
            self._block(cond)
            self._jump("jump_unless", end, self._in_slot(cond.outputs[0]).slot)
            self._sized = dict(outer)
        self._bind(body, values, carried)
        self._block(body)
        ended = [self._in_slot(v) for v in body.outputs[:n]]
        for to, value in zip(temporary, ended):
            self._add("move", to, value.slot)
        for held, other in zip(carried, temporary):
            self._add("move", held.slot, other)
            self._add("drop", other)
        self._add("plus", steps, steps, 1)
        self._jump("jump", begin)
        self._mark(end)
        self._sized = outer
        return ended

    def _bind(self, block: Block, values: Sequence[Any], carried: Sequence[Held]) -> None:
        n = len(carried)
        self._held.update(zip(block.inputs[:n], carried))
        self._alias.update(zip(block.inputs[n:], values[n:]))

    # -- lists, and results whose size depends on values ---------------------------------------------------------------

    def _made(self, operator: Operator) -> int:
        """A slot for the operator's result, whose unknown sizes are new ones."""
        out = operator.outputs[0]
        slot, meta = self._slot(), out.meta
        sizes = None
        if isinstance(meta, Meta):
            sizes = tuple(
                self._symbols.symbol((id(operator), d)) if n == UNKNOWN else (n,) * SAMPLES
                for d, n in enumerate(meta.shape)
            )
        self._held[out] = Held(slot, sizes)
        return slot

    def _list_of(self, operator: Operator) -> None:
        lists = {"list_append": (1, 0), "list_extend": (1, 1)}.get(operator.op.name, (0,) * len(operator.inputs))
        parts = [w for v, is_list in zip(operator.inputs, lists) for w in (self._in_slot(v).slot, is_list)]
        self._add("list_of", self._made(operator), len(lists), *parts)

    def _list_len(self, operator: Operator) -> None:
        source = self._in_slot(operator.inputs[0]).slot
        self._add("list_len", self._made(operator), source)

    def _list_get(self, operator: Operator) -> None:
        source, index = self._in_slot(operator.inputs[0]).slot, operator.attrs["index"]
        at = [_NONE, index]
        if isinstance(index, Ref):
            at = [self._in_slot(operator.inputs[index.index]).slot, 0]
        self._add("list_get", self._made(operator), source, *at)

    def _list_slice(self, operator: Operator) -> None:
        ends = [operator.attrs[k] for k in ("start", "stop")]
        source, step = self._in_slot(operator.inputs[0]).slot, operator.attrs["step"] or 1
        given = [0 if e is None else e for e in ends]
        self._add("list_slice", self._made(operator), source, *given, step, *[int(e is not None) for e in ends])

    def _list_join(self, operator: Operator) -> None:
        source, out = self._in_slot(operator.inputs[0]).slot, operator.outputs[0].meta
        assert isinstance(out, Meta)
        axis = operator.attrs["axis"] % len(out.shape)
        is_new = int(operator.op.name == "list_stack")
        self._add("list_join", self._made(operator), source, axis, is_new, out.dtype.np.itemsize)

    def _nonzero(self, operator: Operator) -> None:
        source = self._in_slot(operator.inputs[0]).slot
        self._add("nonzero", self._made(operator), source)

    def _bincount(self, operator: Operator) -> None:
        source = self._in_slot(operator.inputs[0]).slot
        self._add("bincount", self._made(operator), source, operator.attrs["minlength"])

    def _nms(self, operator: Operator) -> None:
        boxes, groups = operator.inputs[0], operator.inputs[2]
        given = [self._in_slot(boxes).slot, _NONE if groups is None else self._in_slot(groups).slot]
        threshold = struct.unpack("<q", struct.pack("<d", operator.attrs["threshold"]))[0]
        most = operator.attrs["top_k"]
        assert isinstance(boxes, Variable) and isinstance(boxes.meta, Meta)
        name = {"float32": "nms_float", "float64": "nms_double"}[boxes.meta.dtype.name]
        self._add(name, self._made(operator), *given, threshold, 1 << 62 if most is None else most)


_ROOM = "room"


_CONTROL = ("if", "while")
_DRIVEN: dict[str, Callable[[Lowering, Operator], None]] = {
    "if": Lowering._if, "while": Lowering._while, "list_of": Lowering._list_of, "list_append": Lowering._list_of,
    "list_extend": Lowering._list_of, "list_len": Lowering._list_len, "list_get": Lowering._list_get,
    "list_slice": Lowering._list_slice, "list_stack": Lowering._list_join, "list_join": Lowering._list_join,
    "nonzero": Lowering._nonzero, "bincount": Lowering._bincount, "nms": Lowering._nms,
}  # fmt: skip


def _is_control(operator: Operator) -> bool:
    return operator.op.name in _CONTROL


def is_driven(block: Block) -> bool:
    """Whether a program has operators that only a driver runs."""
    return any(
        (operator.op.name in _DRIVEN and (not _is_control(operator) or _changes(operator)))
        or expanded_operator(operator) is not None
        for operator in block.ops
    )


def _changes(operator: Operator) -> bool:
    """Whether the sizes of a branch's or loop's values are known only when it runs, or something inside needs that."""
    metas = [v.meta for v in operator.outputs]
    if any(not isinstance(m, Meta) or not m.is_static for m in metas):
        return True
    return any(is_driven(b) for b in operator.attrs.values() if isinstance(b, Block))


def resolved(driver: Driver) -> list[Any]:
    """The words with places in the stead of labels, and where room for arrays begins."""
    room = driver.slots * SLOT
    return [w.at if isinstance(w, Label) else room if w == _ROOM else w for w in driver.words]


__all__ = ["SLOT", "Driver", "Lowering", "Part", "is_driven", "resolved"]

"""The end of a training step: updates of parameters and optimizer state, done in the memory that they have.

Operators of a program that say how they work in place (`OpDef.in_place`), and what follows from them alone, run behind
all others, when nothing can fail any more: a program that raises has changed nothing. What they change are the arrays
of the tensors themselves, so that no second copy of parameters or state is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_, itemgetter
from threading import Lock
from typing import Any

import numpy as np

from ..core.inspector import show
from ..core.setting import WATCH
from ..device.api import namespace_of
from ..eager.tensor import Tensor
from ..ir.attributes import blocks_of
from ..ir.dead_code import must_run
from ..ir.program import Block, Literal, Operator, Variable
from ..ops.registry import NativeInPlace, OpDef
from ..runtime.instruction import pure_call

_ndarray = np.ndarray
Frame = list[Any]
Writes = Sequence[tuple[int, Variable]]


@dataclass(frozen=True)
class UpdatesFound:
    """operators: those that run behind the others. needs: what these compute for them. writes: what they change."""

    operators: tuple[Operator, ...]
    needs: tuple[Variable, ...]
    writes: tuple[tuple[int, Variable], ...]


def find_updates(block: Block, seen: Sequence[Variable], writes: Writes) -> UpdatesFound | None:
    """The operators that can run at the end: updates of which nothing but `writes` depends; None where there are none.

    seen: the variables that others look at, the results of the program among them.
    """
    late = _late(block.ops, set(seen))
    if not late:
        return None
    made = {v for operator in late for v in operator.outputs}
    inputs = set(block.inputs)
    needs = dict.fromkeys(v for op in late for v in op.variables if v not in made and v not in inputs)
    return UpdatesFound(tuple(late), tuple(needs), tuple((i, v) for i, v in writes if v in made))


def _late(operators: Sequence[Operator], seen: set[Variable]) -> list[Operator]:
    """Updates, and what depends on them, of which nothing else depends."""
    behind: set[Variable] = set()
    found: list[Operator] = []
    for operator in operators:
        if operator.op.in_place is not None or any(v in behind for v in operator.variables):
            behind.update(operator.outputs)
            found.append(operator)
    early = set(seen)  # what must be there before
    late: list[Operator] = []
    for operator in reversed(found):
        # What runs blocks needs them lowered, with the rest of the program.
        if must_run(operator) or blocks_of(operator.attrs) or any(v in early for v in operator.outputs):
            early.update(operator.variables)
        else:
            late.append(operator)
    return late[::-1]


class Updates:
    """The operators behind a program, ready to run."""

    def __init__(self, block: Block, found: UpdatesFound) -> None:
        self.found = found
        self._lock = Lock()
        self._scratch: dict[Any, Any] = {}
        self._slots: dict[Variable, int] = {v: i for i, v in enumerate((*block.inputs, *found.needs))}
        self._needed = set(found.needs)
        self._rest: Frame = []
        self._n_inputs = len(block.inputs)
        targets = {v: block.inputs[i] for i, v in found.writes}
        self._uses = _Uses(found.operators, targets)
        self._own: list[int] = []  # inputs whose arrays are changed
        self._results: list[tuple[OpDef, Sequence[int]]] = []  # what each operator gives, for those who look at it
        self._owned: list[Any] = []
        self._changed: set[int] = set()  # ids of the memory of these
        steps = [self._step(op, n) for n, op in enumerate(found.operators)]
        self._owned = [None] * len(self._own)
        self._pick_own = _items(self._own)
        joined = _joined_steps(steps)
        self._steps = [step if not isinstance(step, list) else _joined(step, self._scratch) for step in joined]
        self._writes = [(i, self._slots[v]) for i, v in found.writes]
        # Whether all that is written are the arrays that are changed: nothing is left to write then.
        places = {slot: place for step in steps if isinstance(step, _Call) for slot, place in step.moved}
        self._is_in_place = sorted(self._own) == sorted(i for i, _ in self._writes) and all(
            _origin(slot, places) == i for i, slot in self._writes
        )
        self.groups = self._groups(joined)

    def run(self, inputs: Sequence[Tensor], needs: Sequence[Any], results: Sequence[Any]) -> Sequence[tuple[int, Any]]:
        """Change the tensors given as `inputs`; (input, array) where one must be written by who called.

        needs: the arrays that the program computed for this; results: its tensors, which keep what they hold.
        """
        with self._lock:
            arrays = [t._data for t in inputs]
            if not all(map(is_, self._pick_own(arrays), self._owned)):
                self._look_at(inputs)
                arrays = [t._data for t in inputs]
            changed = self._changed
            if not _are_apart(needs, changed):
                needs = [array.copy() if _memory_id(array) in changed else array for array in needs]
            frame = [*arrays, *needs, *self._rest]
            for tensor in results:
                if isinstance(tensor, Tensor) and _memory_id(tensor._data) in changed:
                    tensor._data = tensor._data.copy()
            for step in self._steps:
                step(frame)
            if WATCH.on:
                for op, slots in self._results:
                    show(op, (), [frame[slot] for slot in slots])
            if self._is_in_place:
                for tensor in self._pick_own(inputs):
                    (tensor._cell or tensor.version_cell())[0] += 1
                return ()
            left = []
            for index, slot in self._writes:
                tensor = inputs[index]
                if frame[slot] is tensor._data:
                    (tensor._cell or tensor.version_cell())[0] += 1
                else:
                    left.append((index, frame[slot]))
            return left

    def _groups(self, joined: Sequence[Step | list[_Call]]) -> list[UpdateGroup] | None:
        """The steps as what a native program can end in; None where it cannot."""
        groups = [UpdateGroup.of(step) for step in joined if isinstance(step, list)]
        if not self._is_in_place or len(groups) < len(joined):
            return None
        found = [group for group in groups if group is not None and self._is_given(group)]
        return found if len(found) == len(groups) else None

    def _is_given(self, group: UpdateGroup) -> bool:
        """Whether all that a group reads is there before it, its numbers before the program runs."""
        n_inputs, n_given = self._n_inputs, self._n_inputs + len(self.found.needs)
        numbers = {slot for column in group.small for slot in column}
        others = {slot for column in group.columns for slot in column} - numbers
        constants = {n_given + n for n, value in enumerate(self._rest) if value is not None}
        return all(s < n_inputs or s in constants for s in numbers) and all(s < n_given for s in others)

    def run_at_end(
        self, inputs: Sequence[Tensor], function: Callable[..., Any], numbers: Sequence[Any]
    ) -> Sequence[Any] | None:
        """What a native program gives that ends in the updates; None, with nothing changed, where it cannot run.

        numbers: an array for each group, which it is given behind the inputs.
        """
        assert self.groups is not None
        with self._lock:
            arrays = [t._data for t in inputs]
            frame = [*arrays, *[None] * len(self.found.needs), *self._rest]
            undo: list[Callable[[], None]] = []
            made = None
            try:
                for group, own in zip(self.groups, numbers):
                    if not group.prepare(frame, own, undo):
                        break
                else:
                    made = function(*arrays, *numbers)
            except MemoryError:  # the operators themselves raise it, with the user's line
                pass
            finally:
                if made is None:
                    for do in undo:
                        do()
            if made is not None:
                for tensor in self._pick_own(inputs):
                    (tensor._cell or tensor.version_cell())[0] += 1
            return made

    def _look_at(self, inputs: Sequence[Tensor]) -> None:
        """Remember the arrays that are changed; what cannot be written is copied first."""
        for index in self._own:
            tensor = inputs[index]
            if not getattr(tensor._data.flags, "writeable", True):
                tensor._data = tensor._data.copy()
        self._owned = [inputs[index]._data for index in self._own]
        self._changed = {_memory_id(array) for array in self._owned}

    def _slot(self, value: Any) -> int:
        if isinstance(value, Variable):
            return self._slots[value]
        constant = None if value is None else np.asarray(value.value, value.dtype.np)
        assert value is None or isinstance(value, Literal)
        self._rest.append(constant)
        return self._new()

    def _new(self) -> int:
        return self._n_inputs + len(self.found.needs) + len(self._rest) - 1

    def _step(self, operator: Operator, number: int) -> Callable[[Frame], None] | _Call:
        reads = [self._slot(v) for v in operator.inputs]
        writes = []
        for var in operator.outputs:
            self._rest.append(None)
            self._slots[var] = self._new()
            writes.append(self._slots[var])
        self._results.append((operator.op, writes))
        form, places = operator.op.in_place, self._places(operator, number)
        if form is None or places is None:
            return _plain_step(operator, reads, writes)
        changed = [reads[p] for p in places]
        self._own += [slot for slot in changed if slot < self._n_inputs and slot not in self._own]
        return _Call(operator, reads, list(zip(writes, changed)))

    def _places(self, operator: Operator, number: int) -> Sequence[int] | None:
        """The positions of the inputs that the operator overwrites; None where others still need one of them.

        Each is an input of the program that its output is written to, or what an operator before it made for it alone.
        """
        if operator.op.in_place is None:
            return None
        places = operator.op.in_place.places(len(operator.outputs))
        for place, output in zip(places, operator.outputs):
            var = operator.inputs[place]
            if self._slots[var] < self._n_inputs and self._uses.written_to(output) is not var:
                return None
            if var in self._needed or self._uses.last[var] > number:
                return None
        return places


class _Uses:
    """Which of some operators read a variable. targets: the inputs of the program that variables are written to."""

    def __init__(self, operators: Sequence[Operator], targets: Mapping[Variable, Variable]) -> None:
        self._targets = targets
        self.last: dict[Variable, int] = {}
        """The number of the last one that reads it."""
        self._in_place: dict[Variable, tuple[Operator, int]] = {}  # the first one in place, and where it reads it
        for number, operator in enumerate(operators):
            for place, var in enumerate(operator.inputs):
                if isinstance(var, Variable):
                    self.last[var] = number
                    if operator.op.in_place is not None:
                        self._in_place.setdefault(var, (operator, place))

    def written_to(self, var: Variable) -> Variable | None:
        """The input of the program that `var`, or what later updates make of it in place, is written to."""
        while var not in self._targets:
            operator, position = self._in_place.get(var, (None, 0))
            if operator is None or operator.op.in_place is None:
                return None
            places = list(operator.op.in_place.places(len(operator.outputs)))
            if position not in places:
                return None
            var = operator.outputs[places.index(position)]
        return self._targets[var]


@dataclass(frozen=True)
class _Call:
    """An operator that works in place. moved: which slot takes over the array of which."""

    operator: Operator
    reads: list[int]
    moved: list[tuple[int, int]]

    def is_like(self, other: _Call) -> bool:
        """Whether the two may run together."""
        mine, theirs = self.operator, other.operator
        return (
            mine.op is theirs.op
            and mine.op.in_place is not None
            and mine.op.in_place.run_many is not None
            and mine.attrs == theirs.attrs
        )


Step = Callable[[Frame], None]


@dataclass(frozen=True)
class UpdateGroup:
    """Calls that are alike, at the end of a native program. columns: for each input the slots of all calls."""

    form: NativeInPlace
    attrs: Mapping[str, Any]
    columns: Sequence[Sequence[int]]
    small: Sequence[Sequence[int]] = field(init=False)
    """The columns that numbers are made from, each slot once; the others are empty."""
    _picks: Sequence[Callable[[Frame], Sequence[Any]]] = field(init=False)

    def __post_init__(self) -> None:
        is_small = self.form.small
        found = [tuple(dict.fromkeys(slots)) if is_small(p) else () for p, slots in enumerate(self.columns)]
        object.__setattr__(self, "small", found)
        object.__setattr__(self, "_picks", [_items(slots) for slots in found])

    @staticmethod
    def of(calls: Sequence[_Call]) -> UpdateGroup | None:
        """These calls; None where they have no such form."""
        in_place = calls[0].operator.op.in_place
        if in_place is None or in_place.native is None:
            return None
        return UpdateGroup(in_place.native, calls[0].operator.attrs, [*zip(*[call.reads for call in calls])])

    def prepare(self, frame: Frame, numbers: Any, undo: list[Callable[[], None]]) -> bool:
        """Whether the calls have numbers in common, which are put there; `undo` gets what takes it back."""
        found = self.form.numbers([pick(frame) for pick in self._picks], **self.attrs)
        if found is None:
            return False
        undo.append(found[1])
        for place, value in enumerate(found[0]):
            numbers[place] = value
        return True

    def emit(self, assembler: Any, numbers: Any, frame: Sequence[Any]) -> None:
        """Add the steps to a native program. Raises NoNativeForm."""
        columns = [() if numbers else [frame[s] for s in slots] for numbers, slots in zip(self.small, self.columns)]
        self.form.emit(assembler, numbers, columns, **self.attrs)


def _joined_steps(steps: Sequence[Step | _Call]) -> list[Step | list[_Call]]:
    """The steps, with calls that are alike and do not depend on each other in one list."""
    found: list[Step | list[_Call]] = []
    groups: list[list[_Call]] = []
    made: set[int] = set()
    for step in steps:
        if not isinstance(step, _Call) or not made.isdisjoint(step.reads):
            found += groups
            groups, made = [], set()
        if not isinstance(step, _Call):
            found.append(step)
            continue
        like = next((calls for calls in groups if calls[0].is_like(step)), None)
        groups.append([step]) if like is None else like.append(step)
        made.update(slot for slot, _ in step.moved)
    return [*found, *groups]


def _joined(calls: Sequence[_Call], scratch: dict[Any, Any]) -> Step:
    """One step for calls that are alike."""
    form, attrs = calls[0].operator.op.in_place, calls[0].operator.attrs
    assert form is not None
    reads, moved = [call.reads for call in calls], [pair for call in calls for pair in call.moved]
    columns = [_items(slots) for slots in zip(*reads)]

    def one(frame: Frame) -> None:
        form.run(scratch, *[frame[s] for s in reads[0]], **attrs)
        for slot, place in moved:
            frame[slot] = frame[place]

    def many(frame: Frame) -> None:
        form.run_many(scratch, [column(frame) for column in columns], **attrs)  # type: ignore[misc]
        for slot, place in moved:
            frame[slot] = frame[place]

    return one if form.run_many is None else many


def _origin(slot: int, places: Mapping[int, int]) -> int:
    """The slot that had the array first which ends in `slot`; `places`: which slot takes over the array of which."""
    while slot in places:
        slot = places[slot]
    return slot


def _items(slots: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """What takes these slots of a frame."""
    if not slots:
        return lambda frame: ()
    found = itemgetter(*slots)
    return found if len(slots) > 1 else lambda frame: (found(frame),)


def _plain_step(operator: Operator, reads: Sequence[int], writes: Sequence[int]) -> Callable[[Frame], None]:
    multiple = operator.op.multiple

    def step(frame: Frame) -> None:
        arrays = [frame[s] for s in reads]
        made = pure_call(operator, operator.attrs, namespace_of(arrays))(*arrays)
        for slot, value in zip(writes, made if multiple else (made,)):
            frame[slot] = value

    return step


def _are_apart(arrays: Sequence[Any], changed: set[int]) -> bool:
    """Whether it is seen at once that none of these lies in memory that is changed."""
    for array in arrays:
        if array.__class__ is not _ndarray or array.base is not None or id(array) in changed:
            return False
    return True


def _memory_id(array: Any) -> int:
    """The id of the array that owns the memory."""
    base = getattr(array, "base", None)
    while base is not None:
        array, base = base, getattr(base, "base", None)
    return id(array)

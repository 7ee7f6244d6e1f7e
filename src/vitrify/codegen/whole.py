"""Whole programs as one native call: a block in which every operator has a native form.

    program = whole_program(block, outputs)
    program(arrays)  ->  the outputs, or None where the interpreter has to run the block

A plan is made for each signature of arrays: dtypes, sizes, steps. The code of kernels is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..core.cache import BoundedCache
from ..core.collecting import collection_paused
from ..core.config import NATIVE
from ..core.dump import dump, is_dumped
from ..core.meta import UNKNOWN, FrameMeta, ListMeta, Meta, Ref
from ..ir.decompose import simpler
from ..ir.program import Block, Literal, Operator, Variable
from ..ops.like import shows_input
from ..ops.registry import OpDef
from .assembler import Assembler
from .calls import MOST_TRIES, Kind, OtherwiseError, build_functions
from .elements import Pointwise
from .emit import INT64
from .entry import may_refuse
from .errors import NoNativeForm
from .host_steps import Host, host_call, settle
from .listing import listing
from .lists import given_list
from .llvm import why_not_here
from .missing import is_surely_array
from .native import for_steps
from .objects import layout_is_known
from .operands import INPUT, Buffer, Frame, Listed, Operand
from .ordering import OrderingAssembler
from .packing import pack_once
from .plan import Planned, plan_of
from .row_steps import RowLoop
from .single import alone
from .sums import gathered, sums_of_products
from .team import team

MAX_PLANS = 128
"""Signatures of arrays that a program keeps plans for."""
LARGE_STEP = 1 << 18
"""Bytes that a step writes on average from which on it matters little what calls it, but for convolutions: those of
native programs take less time than the interpreter's."""
LARGE_RUN = 1 << 25
"""Bytes of arena and results from which on the interpreter runs a program: it frees each array as soon as it can."""
MAX_STEPS = 2048
"""Steps of a program: where arrays lie takes time to find that grows with the square of them."""
MOST_UNSUITED = 64
"""Runs that a plan refuses for what frames hold, after which it is not tried any more."""
MAX_REFUSED = 4
"""Signatures that cannot be planned for, after which no more are tried if none could."""
_OBJECTS = (tuple, list)
"""What a program is given beside arrays: frames and lists."""
Found = dict[Variable, Any]


def _no_plan(*arrays: Any) -> None:
    """None: there is no plan yet."""


_REFUSED = Planned(_no_plan, 0, 0, 0)


def _always() -> bool:
    """True."""
    return True


def why_not(operators: Sequence[Operator], has_host: bool = False, seen: Collection[Block] = ()) -> str:
    """Why operators have no native form; empty as far as can be said before arrays are known.

    has_host: whether Python may be called back; seen: functions that were looked at, or are being.
    """
    for operator in operators:
        op = operator.op
        is_called = has_host and op.called_back is not None
        has_places = bool(operator.ref_count) and not (op.native_places or op.ahead_places)
        if (op.random and op.native is None) or (op.effect and not is_called) or has_places:
            return f"{op.name} does more than compute its outputs"
        if not is_called and op.native is None and op.scalar is None and op.decompose is None and not op.view:
            return f"{op.name} has no native form"
        lists = [v for v in operator.variables if isinstance(v.meta, ListMeta)]
        if lists and any(isinstance(b, Block) and b.name for b in operator.attrs.values()):
            return "functions take and give no lists"
        if not all(map(is_plain_list, lists)):
            return f"{op.name} works on lists of lists"
        for block in operator.attrs.values():
            if isinstance(block, Block) and block not in seen:
                reason = why_not(block.ops, has_host, {*seen, block} if block.name else seen)
                if reason:
                    return reason
    return ""


def is_plain_list(variable: Variable) -> bool:
    """Whether a variable is a list of arrays."""
    return isinstance(variable.meta, ListMeta) and isinstance(variable.meta.item, Meta)


@dataclass(frozen=True)
class Ending:
    """What a native program does at its end, with values that then are no outputs.

    `emit(assembler, inputs, needs, given)` adds the steps; needs: the values; given: more inputs, which are `arrays`.
    outputs: what the program gives, each a value of its own that it makes.
    """

    outputs: Sequence[Variable]
    needs: Sequence[Variable]
    arrays: Sequence[Any]
    emit: Callable[..., None]


class WholeProgram:
    """A block for all signatures of arrays. Threads may share it."""

    def __init__(
        self, inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], is_part: bool = False,
        host: Host | None = None,
    ) -> None:  # fmt: skip
        """is_part: of a program, so that it was looked at how much each operator works on; host: runs Python's code."""
        self._inputs = inputs
        self._is_part = is_part
        self._host = host
        self._operators = operators
        given = _unchanged(inputs, operators)
        made = dict.fromkeys(v for v in outputs if v is not None and v not in given)
        self._outputs = tuple(made)
        self._sums = sums_of_products(operators, self._outputs)
        places = {v: i for i, v in enumerate((*made, *inputs)) if i < len(made) or v in given} | {None: -1}
        picks = [places[v] for v in outputs]
        self._picks = None if picks == list(range(len(made))) else picks
        self._kernels: dict[Block, Pointwise | RowLoop | str] = {}  # or why there is none
        self._alone: dict[Operator, Block] = {}
        self._simple: dict[Block, Block | None] = {}
        self._plans: BoundedCache[Any, Planned] = BoundedCache("plans of a program", limit=MAX_PLANS)
        self._lock = Lock()
        self._latest: Callable[..., tuple[Any, ...] | None] = _no_plan
        self._refused = self._unsuited = 0
        is_static = all(isinstance(v.meta, Meta) and v.meta.is_static for v in inputs)
        self._most_refused = 0 if is_static else MAX_REFUSED
        self.refused_at: Operator | None = None

    def __call__(self, arrays: Sequence[Any], may_plan: Callable[[], bool] = _always) -> tuple[Any, ...] | None:
        """The outputs; None where the operators must be run one by one.

        may_plan: asked before arrays of a new signature are planned for.
        """
        found = self._latest(*arrays)
        if found is None:
            found = self._by_signature(arrays, may_plan)
            if found is None:
                return None
        if self._picks is None:
            return found
        whole = (*found, *arrays, None)
        return tuple([whole[i] for i in self._picks])

    def _by_signature(self, given: Sequence[Any], may_plan: Callable[[], bool]) -> tuple[Any, ...] | None:
        arrays = given
        if any(a.__class__ is not np.ndarray for a in arrays):
            if not all(map(_may_be_taken, self._inputs, arrays)):
                return None
            arrays = [a if a.__class__ in _OBJECTS else np.asarray(a) for a in arrays]
        planned = self._plan_for(arrays, may_plan)
        if planned is None or planned.function is _no_plan:
            return None
        is_given = all(a is b for a, b in zip(arrays, given))
        if planned.function is self._latest and is_given:  # has refused these a moment ago
            self._give_up_on(arrays)
            return None
        self._latest = planned.function
        try:
            found: tuple[Any, ...] | None = planned.function(*arrays)
        except MemoryError:  # the operators themselves raise it, with the user's line
            if planned.has_others:
                raise
            return None
        return found

    def _give_up_on(self, arrays: Sequence[Any]) -> None:
        """No longer try a plan that frames or lists never suit: the interpreter's may hold others than native ones."""
        if any(a.__class__ in _OBJECTS for a in arrays):
            self._unsuited += 1
            if self._unsuited > MOST_UNSUITED:
                self._plans.put(_signature(arrays), _REFUSED)
                self._latest = _no_plan

    def _plan_for(self, arrays: Sequence[Any], may_plan: Callable[[], bool]) -> Planned | None:
        """The plan for the signature of these arrays; None where there is none and none may be made."""
        key = _signature(arrays)
        planned = self._plans.get(key)
        if planned is None and may_plan():
            planned = self._plans.put(key, self._planned(arrays))
        return planned

    def function_for(self, arrays: Sequence[Any]) -> tuple[Callable[..., Any], int, Sequence[int]] | None:
        """The plan for arrays like these, how many results it has, and which of these the program gives, or of the
        arrays, which are counted behind them; -1 for None. None where there is no plan.
        """
        if any(a.__class__ is not np.ndarray for a in arrays):
            return None
        planned = self._plan_for(arrays, _always)
        if planned is None or planned.function is _no_plan or planned.has_others:
            return None
        count = len(self._outputs)
        return planned.function, count, range(count) if self._picks is None else self._picks

    @property
    def has_run(self) -> bool:
        """Whether there is a plan."""
        return self._latest is not _no_plan

    @property
    def is_refused(self) -> bool:
        """Whether no signature so far could be planned for, of more than a few."""
        return self._refused > self._most_refused and self._latest is _no_plan

    def _planned(self, arrays: Sequence[Any]) -> Planned:
        try:
            with self._lock, collection_paused():
                return self.plan(arrays)
        except NoNativeForm:
            self._refused += 1
            return _REFUSED

    def plan(self, arrays: Sequence[Any], ending: Ending | None = None) -> Planned:
        """The plan for arrays like these. Raises NoNativeForm."""
        known: dict[Any, tuple[Kind, ...]] = {}
        for _ in range(MOST_TRIES):
            try:
                return self._plan(arrays, ending, known)
            except OtherwiseError:
                continue
        raise NoNativeForm("what its functions give takes long to find")

    def _plan(self, arrays: Sequence[Any], ending: Ending | None, known: dict[Any, tuple[Kind, ...]]) -> Planned:
        """known: what functions give, as far as that was found."""
        more = () if ending is None else ending.arrays
        key = Operand(Buffer(INPUT, 16, len(arrays) + len(more)), 0, (2,), (8,), INT64)
        assembler = OrderingAssembler(self._kernel, self._run_block, key, team())
        assembler.functions.known, assembler.host = known, self._host
        given = [_given(i, a) for i, a in enumerate((*arrays, *more))]
        values = [given_list(assembler, x, a) if isinstance(a, list) else x for x, a in zip(given, arrays)]
        found: Found = dict(zip(self._inputs, values))
        self._run(assembler, self._operators, found)
        wanted = self._outputs if ending is None else ending.outputs
        outputs = [self._value(assembler, found, v) for v in wanted]
        pack_once(assembler)
        if ending is not None:  # writes inputs, when nothing reads them any more
            needs = [self._value(assembler, found, v) for v in ending.needs]
            if not all(map(is_surely_array, (*outputs, *needs))):
                raise NoNativeForm("an output may be missing")
            ending.emit(assembler, given[: len(arrays)], needs, given[len(arrays) :])
        build_functions(assembler)
        if assembler.counted is not None:
            assembler.counted.finish(assembler)
        settle(assembler, may_refuse)
        if ending is not None and assembler.calls_host:
            raise NoNativeForm("a program that calls Python ends in nothing else")
        count = len(assembler.steps) + sum(len(f.steps) for f in assembler.functions)
        is_large = assembler.bytes > LARGE_STEP * max(count, 1)
        if is_large and not self._is_part and not assembler.has_windows:
            raise NoNativeForm("it works on much at a time")
        if count > MAX_STEPS:
            raise NoNativeForm("it has too many steps to plan for")
        planned = plan_of(assembler, given, outputs)
        if is_dumped("steps"):
            dump("steps", "txt", listing(assembler))
        if planned.arena + planned.results > LARGE_RUN:
            raise NoNativeForm("it needs much memory at a time")
        return planned

    def ended(self, arrays: Sequence[Any], first: int, end: int, ending: Callable[..., Ending]) -> Any:
        """The function of arrays like these, and of more, that ends in something else than giving the outputs from
        `first` to `end`; None where there is none. `ending(outputs, needs)` says in what.
        """
        if self._picks is not None or self._latest is _no_plan or self._most_refused:
            return None
        needs = self._outputs[first:end]
        try:
            with self._lock:
                plan = self.plan(arrays, ending([*self._outputs[:first], *self._outputs[end:]], needs))
        except NoNativeForm:
            return None
        return plan.function

    def _kernel(self, body: Block) -> Pointwise | RowLoop:
        found = self._kernels.get(body)
        if found is None:
            try:
                found = for_steps(body)
            except NoNativeForm as reason:
                found = str(reason)
            self._kernels[body] = found
        if isinstance(found, str):
            raise NoNativeForm(found)
        return found

    def _run(self, assembler: Assembler, operators: Sequence[Operator], found: Found) -> None:
        around = assembler.operator
        for operator in operators:
            assembler.operator = operator
            try:
                self._run_one(assembler, operator, found)
            except NoNativeForm:
                if operators is self._operators:
                    self.refused_at = operator
                raise
            finally:
                assembler.operator = around

    def _run_one(self, assembler: Assembler, operator: Operator, found: Found) -> None:
        values = [self._value(assembler, found, v) for v in operator.inputs]
        if None in values and not may_miss(operator):
            given = zip(operator.inputs, values)
            if any(x is None and v is not None for v, x in given):
                raise NoNativeForm("an operator reads what is missing")
        known = self._sums.get(operator)
        own = None if known is None else gathered(assembler, known, operator, values, found)
        made = self._form(assembler, operator, values) if own is None else own
        made = made if isinstance(made, tuple) else (made,)
        if len(made) != len(operator.outputs):
            raise NoNativeForm(f"{operator.op.name} gives {len(made)} values")
        for variable, value in zip(operator.outputs, made):
            _check(operator, variable, value)
            found[variable] = value

    def _value(self, assembler: Assembler, found: Found, value: Any) -> Any:
        if isinstance(value, Literal):
            return assembler.full((), value.value, value.dtype.np)
        return None if value is None else found[value]

    def _form(self, assembler: Assembler, operator: Operator, values: list[Any]) -> Any:
        """What the operator's native form makes of these values."""
        op: OpDef = operator.op
        if operator.ref_count:
            return _with_places(assembler, operator, values)
        if op.called_back is not None and assembler.host is not None:
            host = assembler.host
            call = partial(host_call, assembler, host, operator, values)
            return op.called_back(assembler, call, *values, **operator.attrs)
        if op.native is not None:
            return op.native(assembler, *values, **operator.attrs)
        if op.scalar is not None or op.decompose is not None:
            block = self._alone.get(operator)
            if block is None:
                block = self._alone[operator] = alone(operator)
            variables = {k: v for k, v in zip(operator.inputs, values) if isinstance(k, Variable)}
            own = list(variables.values())
            return assembler.elementwise(block, own) if op.scalar is not None else assembler.group(block, own)
        if not op.view or len(values) != 1:
            raise NoNativeForm(f"{op.name} has no native form")
        return assembler.view(lambda x: op.on_numpy(x, **operator.attrs), values[0])

    def _run_block(self, assembler: Assembler, block: Block, values: Sequence[Any], in_simple_ops: bool) -> list[Any]:
        """The outputs of a block inside, whose steps are added; where that is asked for, those of its simpler form."""
        if in_simple_ops:
            if block not in self._simple:
                self._simple[block] = simpler(block)
            form = self._simple[block]
            if form is None:
                raise NoNativeForm("an operator of a group has no native form")
            block = form
        found: Found = dict(zip(block.inputs, values))
        self._run(assembler, block.ops, found)
        return [self._value(assembler, found, v) for v in block.outputs]


def _with_places(assembler: Assembler, operator: Operator, values: list[Any]) -> Any:
    """What the form makes of an operator with attributes that only the run knows."""
    op = operator.op
    form = op.native if op.native_places else op.ahead or op.native
    if form is None:
        raise NoNativeForm(f"{op.name} has no native form for what only the run knows")
    attrs = {k: _filled(v, values) for k, v in operator.attrs.items()}
    return form(assembler, *values[: len(values) - operator.ref_count], **attrs)


def _filled(value: Any, values: Sequence[Any]) -> Any:
    """An attribute with the arrays of one number in it that the run knows."""
    if isinstance(value, Ref):
        found = values[value.index]
        if value.item is not None or not is_surely_array(found) or found.size != 1:
            raise NoNativeForm("an attribute is no number of the run's")
        return found
    if isinstance(value, slice) and any(isinstance(v, Ref) for v in (value.start, value.stop, value.step)):
        raise NoNativeForm("sizes that only the run knows")
    return type(value)(_filled(v, values) for v in value) if isinstance(value, (list, tuple)) else value


def _signature(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """What a plan is for."""
    return tuple([_kind_of(a) if a.__class__ in _OBJECTS else (a.shape, a.strides, a.dtype) for a in arrays])


def _kind_of(given: Any) -> tuple[Any, ...]:
    """What a plan is for of a frame or list: of the latter, what its first array is."""
    first = next((x for x in given if isinstance(x, np.ndarray)), None) if given.__class__ is list else None
    return (given.__class__,) if first is None else (list, first.shape, first.dtype)


def may_miss(operator: Operator) -> bool:
    """Whether an operator takes and gives values that may be missing."""
    return operator.op.passes or operator.op.steps is not None or _has_frame(operator)


def _has_frame(operator: Operator) -> bool:
    return any(isinstance(v.meta, FrameMeta) for v in operator.variables)


def _may_be_taken(variable: Variable, value: Any) -> bool:
    """Whether a value is one that a program may be planned for."""
    if isinstance(variable.meta, FrameMeta):
        return value.__class__ is tuple
    if isinstance(variable.meta, ListMeta):
        return value.__class__ is list
    return isinstance(value, (np.ndarray, np.generic))


def _given(number: int, value: Any) -> Operand:
    """What a program is given."""
    if value.__class__ in _OBJECTS:
        return Frame(Buffer(INPUT, 8, number), 0, (), (), INT64, is_list=value.__class__ is list)
    return Operand(Buffer(INPUT, value.nbytes, number), 0, value.shape, value.strides, value.dtype)


def _check(operator: Operator, variable: Variable, value: Any) -> None:
    """Raise NoNativeForm unless the value is what the program says of the variable."""
    meta = variable.meta
    is_frame = isinstance(meta, FrameMeta) and isinstance(value, Frame)
    if (value is None and may_miss(operator)) or is_frame or (is_plain_list(variable) and isinstance(value, Listed)):
        return
    if value is None or not isinstance(meta, Meta):
        raise NoNativeForm(f"{operator.op.name} gives something else than an array")
    fits = len(meta.shape) == value.ndim and all(m in (UNKNOWN, n) for m, n in zip(meta.shape, value.shape))
    if not fits or meta.dtype.np != value.dtype:
        raise NoNativeForm(f"{operator.op.name} gives {value.dtype}{value.shape}, not {meta}")


def whole_program(
    inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], is_part: bool = False,
    host: Host | None = None,
) -> WholeProgram | None:  # fmt: skip
    """The operators as a native program; None where one has no native form, or outputs must share memory.

    host: runs those that call Python's code.
    """
    if not NATIVE.value or why_not_here() or not layout_is_known() or why_not(operators, host is not None):
        return None
    if not _are_separate(inputs, operators, outputs):
        return None
    return WholeProgram(inputs, operators, outputs, is_part, host)


def _unchanged(inputs: Sequence[Variable], operators: Sequence[Operator]) -> set[Variable]:
    """The inputs that a program, which may write a variable anew, gives back as they were if it gives them."""
    return set(inputs).difference(*[operator.outputs for operator in operators])


def _are_separate(inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any]) -> bool:
    """Whether no output is a view of an input or of another output: those of a native program share no memory."""
    roots = {v: v for v in inputs}
    for operator in operators:
        if shows_input(operator.op) and isinstance(operator.inputs[0], Variable):
            root = roots.get(operator.inputs[0], operator.inputs[0])
            roots.update(dict.fromkeys(operator.outputs, root))
    given = _unchanged(inputs, operators)
    made = {v for v in outputs if v is not None and v not in given}
    found = [roots.get(v, v) for v in made]
    return len(set(found)) == len(found) and given.isdisjoint(found)


__all__ = ["WholeProgram", "is_plain_list", "whole_program", "why_not"]

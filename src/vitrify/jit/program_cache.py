"""ProgramCache: the programs of one static function, found by exact call signature or by fitting specs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.meta import UNKNOWN, Shape
from ..core.modes import amp_state, grad_enabled
from ..eager.tensor import Tensor
from .arguments import Arguments
from .key import CacheKey
from .partial_program import PartialProgramLayer

MAX_PROGRAMS = 64
MAX_FAMILIES = 1024
MAX_SIGNATURES = 4096
_ndarray = np.ndarray


class CacheInfo(NamedTuple):
    """hits: calls that found their program (of those still held); misses: programs built; and how many are held."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


class Substitute(Protocol):
    """What takes the place of a program where none could be built."""

    @property
    def captured(self) -> Sequence[Any]:
        """No tensors."""

    def current_inputs(self) -> Sequence[Any] | None:
        """No tensors, and it is never outdated."""

    @property
    def runs_python(self) -> bool:
        """Whether nothing compiled runs in it."""

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The result of a call."""


Executable = PartialProgramLayer | Substitute


@dataclass
class Family:
    """The programs of calls that differ in sizes alone, and the sizes seen so far (-1 where they varied)."""

    seen: list[Shape] | None = None
    pinned: bool = False
    entries: list[tuple[CacheKey, PartialProgramLayer]] = field(default_factory=list)
    substitute: Substitute | None = None
    """What runs in place of programs, where none could be built."""
    errors: int = 0
    """How often a trace failed where the function itself raised."""
    calls: int = 0
    """How often its programs had run when somebody last looked for one to forget."""

    def was_used(self) -> bool:
        """Whether its programs ran since this was asked before."""
        before, self.calls = self.calls, sum(program.total_calls for _, program in self.entries)
        return self.calls > before

    def widen(self, shapes: Sequence[Shape]) -> list[Shape]:
        """The sizes to build for: those of this call, -1 where an earlier call had another size (D10)."""
        if self.pinned or self.seen is None:
            return list(shapes)
        self.seen = [tuple(a if a == b else UNKNOWN for a, b in zip(old, new)) for old, new in zip(self.seen, shapes)]
        return list(self.seen)


MISS: Any = object()
"""What `Recent.call` gives for a call that is another one."""


class Recent:
    """The program of the latest call whose arguments were tensors of the host, in order, and what tells another such.

    Most calls are like the one before: comparing with it takes less than making a key and finding that. `call(args)`
    does both, as long as the modes that `MODES` watches are as always; it is made for the number of arguments, as every
    step counts here.
    """

    __slots__ = ("call",)

    def __init__(
        self, modes: Callable[[], tuple[Any, ...]], tensors: Sequence[Tensor], program: PartialProgramLayer
    ) -> None:
        kinds = [(t.__class__, t._data.dtype, t._data.shape, t.stop_gradient) for t in tensors]
        run, inputs = program.direct, None if program.depends_on_nothing else program.inputs_of_call
        self.call = (
            _call_of_one(modes, *kinds[0], inputs, run) if len(kinds) == 1 else _call_of_many(modes, kinds, inputs, run)
        )


Call = Callable[[tuple[Any, ...]], Any]
Run = Callable[[Sequence[Any], Sequence[Any]], Any]
Inputs = Callable[[], Sequence[Any] | None] | None  # None: there is nothing to look at


def _call_of_one(
    modes: Callable[[], tuple[Any, ...]], kind: Any, dtype: Any, shape: Any, stops: bool, inputs: Inputs, run: Run
) -> Call:
    grad, amp = modes()[:2]
    is_enabled, state = grad_enabled.get, amp_state.get

    def call(args: tuple[Any, ...]) -> Any:
        if len(args) != 1:
            return MISS
        tensor = args[0]
        if tensor.__class__ is not kind or tensor.stop_gradient is not stops:
            return MISS
        data = tensor._data
        if data.__class__ is not _ndarray or data.dtype is not dtype or data.shape != shape:
            return MISS
        if is_enabled() is not grad or (state() is not amp and state() != amp):
            return MISS
        if inputs is None:
            return run(args, ())
        captured = inputs()
        return MISS if captured is None else run(args, captured)

    return call


def _call_of_many(
    modes: Callable[[], tuple[Any, ...]], kinds: Sequence[tuple[Any, ...]], inputs: Inputs, run: Run
) -> Call:
    (grad, amp), count = modes()[:2], len(kinds)
    is_enabled, state = grad_enabled.get, amp_state.get

    def call(args: tuple[Any, ...]) -> Any:
        if len(args) != count or is_enabled() is not grad or (state() is not amp and state() != amp):
            return MISS
        for value, (kind, dtype, shape, stops) in zip(args, kinds):
            if value.__class__ is not kind or value.stop_gradient is not stops:
                return MISS
            data = value._data
            if data.__class__ is not _ndarray or data.dtype is not dtype or data.shape != shape:
                return MISS
        if inputs is None:
            return run(args, ())
        captured = inputs()
        return MISS if captured is None else run(args, captured)

    return call


def _nothing() -> None:
    """None."""


class ProgramCache:
    """An exact signature (one dict lookup), behind it families of fitting specs; in front of both the latest call."""

    def __init__(self) -> None:
        self.recent: Recent | None = None
        self.when_forgotten: Callable[[], None] = _nothing  # called when programs are
        self.exact: OrderedDict[Any, Executable] = OrderedDict()
        self._families: OrderedDict[Any, Family] = OrderedDict()
        self.forgotten = 0

    def info(self) -> CacheInfo:
        """How often a program was found and how often one was built, as `functools.lru_cache` tells it."""
        built, calls = len(self) + self.forgotten, sum(p.total_calls for p in self.programs())
        return CacheInfo(max(calls - len(self), 0), built, MAX_PROGRAMS, len(self))

    def family(self, signature: Any) -> Family:
        """The family of this signature (all but sizes), created when missing."""
        found = self._families.get(signature)
        if found is None:
            found = self._families[signature] = Family()
            self._trim()
        return found

    @staticmethod
    def fits(key: CacheKey, shapes: Sequence[Shape]) -> bool:
        """Whether a program takes tensors of these sizes, whose dtypes are known to fit."""
        return all(s.accepts(shape, s.dtype) for s, shape in zip(key.specs, shapes))

    def find(self, family: Family, shapes: Sequence[Shape], dtypes: Sequence[Any]) -> PartialProgramLayer | None:
        """The current program of `family` whose specs accept these sizes; the newest wins."""
        for key, program in reversed(family.entries):
            fits = all(s.accepts(shape, d) for s, shape, d in zip(key.specs, shapes, dtypes))
            if fits and program.current_inputs() is not None:
                return program
        return None

    @property
    def runs_python(self) -> bool:
        """Whether every call met so far runs as Python."""
        return all(f.substitute is not None and f.substitute.runs_python for f in self._families.values())

    def add(self, family: Family, key: CacheKey, program: PartialProgramLayer) -> None:
        """Keep a newly built program."""
        family.entries.append((key, program))
        if len(family.entries) > MAX_PROGRAMS:
            self.forgotten += 1
            self.drop(family.entries[0][1])
        self._trim()

    def remember(self, signature: Any, program: Executable) -> None:
        """Let the exact signature find `program` at once."""
        self.exact[signature] = program
        if len(self.exact) > MAX_SIGNATURES:
            self.exact.popitem(last=False)

    def drop(self, program: PartialProgramLayer) -> None:
        """Forget a program."""
        self.recent = None
        self.when_forgotten()
        for signature in [s for s, p in self.exact.items() if p is program]:
            del self.exact[signature]
        for family in self._families.values():
            family.entries = [e for e in family.entries if e[1] is not program]

    def pin_sizes_taken(self) -> bool:
        """Forget programs that take unknown sizes for known ones, and let no more be built; whether there were any."""
        found = False
        for family in self._families.values():
            for key, program in family.entries:
                if program.concrete.takes_sizes and any(UNKNOWN in spec.shape for spec in key.specs):
                    self.drop(program)
                    family.pinned = found = True
        return found

    def _trim(self) -> None:
        """Forget families that were not used for long (each gets a second chance) until there are few enough."""
        while len(self._families) > 1 and (len(self) > MAX_PROGRAMS or len(self._families) > MAX_FAMILIES):
            signature, family = next(iter(self._families.items()))
            if family.was_used():
                self._families.move_to_end(signature)
                continue
            del self._families[signature]
            self.forgotten += len(family.entries)
            for _, program in family.entries:
                self.drop(program)

    def entries(self) -> Iterator[tuple[CacheKey, PartialProgramLayer]]:
        """All programs with their keys, oldest first."""
        for family in self._families.values():
            yield from family.entries

    def programs(self) -> Iterator[PartialProgramLayer]:
        """All programs, oldest first."""
        return (program for _, program in self.entries())

    def keys(self) -> list[CacheKey]:
        """The keys of all programs."""
        return [key for key, _ in self.entries()]

    def concrete_programs(self) -> list[Any]:
        """The ConcretePrograms, oldest first."""
        return [program.concrete for _, program in self.entries()]

    def last(self) -> PartialProgramLayer | None:
        """The program built last."""
        programs = [program for _, program in self.entries()]
        return programs[-1] if programs else None

    def clear(self) -> None:
        """Forget everything."""
        self.recent = None
        self.when_forgotten()
        self.exact.clear()
        self._families.clear()

    def __len__(self) -> int:
        return sum(len(f.entries) for f in self._families.values())

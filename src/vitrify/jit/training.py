"""Training inside a trace: backward, `.grad` and updates of parameters become part of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..convert.guards.kinds import AnyNumber, Expected, Found, Guard, Source
from ..convert.guards.observe import MethodCall, current_observer
from ..convert.state.journal import is_nested, note_write
from ..convert.state.places import AttrPlace
from ..core.errors import StaleBackwardError, UnsupportedError
from ..core.modes import recorder, scoped
from ..eager.tensor import Tensor, wrap
from ..ir.graph_tensor import as_number
from ..ir.program import Variable
from ..ops.methods import TensorMethods
from .ended_blocks import differentiated
from .leaves import OUTSIDE
from .spent import freed
from .stale import StaleResult, refused_results, stale_results
from .traced_backward import TracedBackward

if TYPE_CHECKING:
    from .tracing import Trace


Origins = Callable[[Variable, Callable[[Variable], bool]], set[Variable]]


class LeafState(Expected):
    """That leaves want gradients as they did, and have the hooks that they had."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted

    def fits(self, value: Any, found: Found) -> bool:
        return bool(value == self.wanted)

    def __str__(self) -> str:
        return "as before"


@dataclass(eq=False)
class Pending:
    """A number that traced code sets, or counts, by the path taken; a method of `owner` takes it after the run."""

    owner: Any
    method: str
    value: Any

    @property
    def place(self) -> AttrPlace:
        """Where branches and loops find that it was set."""
        return AttrPlace(self, "value")


class Repeated:
    """Calls a method as often as a run says."""

    def __init__(self, owner: Any, method: str) -> None:
        self._owner, self._method = owner, method

    def call(self, count: int) -> None:
        """Call it so many times."""
        for _ in range(count):
            getattr(self._owner, self._method)()


class Training(TracedBackward):
    """What one trace knows of training: its gradients, numbers that change from run to run, and what ends each run."""

    kind = TensorMethods

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.calls: list[MethodCall] = []
        self.late: dict[int, tuple[Any, list[MethodCall]]] = {}
        """Objects by id that methods are called of after the run, with these calls."""
        self.on_failure: list[Callable[[], Any]] = []
        """What takes back what the trace made for its program, where none comes of it."""
        self._set: dict[int, Pending] = {}
        """What is set by a method of an object once the run has ended, by the object's id."""
        self._numbers: dict[Any, Variable] = {}

    @contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Take back what was made for the program if an exception leaves."""
        try:
            yield
        except BaseException:
            for undo in self.on_failure:
                undo()
            raise

    def stops_gradient(self, tensor: Any) -> bool:
        """The stop_gradient of a tensor from outside, as the function has set it by now."""
        builder = self._trace.builder
        var = builder.stands_for.get(id(tensor))
        return bool(tensor.stop_gradient if var is None else builder.held(var).stop_gradient)

    # -- what changes from run to run ---------------------------------------------------------------------------------

    def number(self, key: Any, label: str, read: Callable[[], float]) -> Variable:
        """What `read()` gives before each run, a float or int, as an input of the program."""
        found = self._numbers.get(key)
        if found is None:
            observer = current_observer()
            assert observer is not None
            with scoped(recorder, None):
                value = read()
            tensor = wrap(np.asarray(value, "int64" if type(value) is int else "float64"))
            found = self._numbers[key] = as_number(self._trace.lift(tensor))
            observer.guards[key] = Guard(Source(label, read), value, AnyNumber(tensor, type(value)), key)
        return found

    def watch(self, key: Any, label: str, read: Callable[[], Any]) -> None:
        """Let the program hold only while `read()` gives what it gives now."""
        observer = current_observer()
        assert observer is not None
        with scoped(recorder, None):
            wanted = read()
        observer.guards.setdefault(key, Guard(Source(label, read), wanted, LeafState(wanted), key))

    def after_run(self, owner: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Let each run of the program end with `owner.method(*args, **kwargs)`."""
        counted = id(owner) in self._set
        if is_nested() or counted:
            if args or kwargs:
                raise UnsupportedError(f"{type(owner).__name__}.{method} where a tensor decides whether it is called")
            self._count(owner, method)
            return
        call = MethodCall(owner, method, args, kwargs)
        self.calls.append(call)
        self.late.setdefault(id(owner), (owner, []))[1].append(call)
        self._note_late(owner, method)

    def _note_late(self, owner: Any, method: str) -> None:
        observer = current_observer()
        assert observer is not None
        observer.late[id(owner)] = f"{type(owner).__name__}.{method}()"

    def _count(self, owner: Any, method: str) -> None:
        """Call a method once more after the run, where the path taken comes by here."""
        found = self._set.setdefault(id(owner), Pending(Repeated(owner, method), "call", 0))
        note_write(found.place)
        found.value = found.value + 1
        self._note_late(owner, method)

    def is_set(self, owner: Any) -> bool:
        """Whether `set_after_run` was called of it."""
        return id(owner) in self._set

    def held_for(self, owner: Any) -> Any:
        """What `set_after_run` was given for it last, by the path taken."""
        return self._set[id(owner)].value

    def set_after_run(self, owner: Any, method: str, value: Any, before: Any) -> None:
        """Let each run end with `owner.method(value)`; with what was there `before` where the path does not come by."""
        found = self._set.setdefault(id(owner), Pending(owner, method, before))
        note_write(found.place)
        found.value = value
        self._note_late(owner, method)

    def settle(self) -> None:
        """Take what was set by the path taken for calls of the end of the run. No journal knows it from here on."""
        observer = current_observer()
        assert observer is not None
        for pending in self._set.values():
            observer.journal.before.pop(pending.place.key, None)
            self.calls.append(MethodCall(pending.owner, pending.method, (pending.value,), {}))
        self.hooks.settle(observer.journal, self.gets_gradient)

    def held_before(self, owner: Any, attribute: str) -> Any:
        """What an attribute that the trace wrote held before."""
        observer = current_observer()
        assert observer is not None
        return observer.journal.before[id(owner), attribute][1]

    def calls_of(self, owner: Any) -> Sequence[MethodCall]:
        """The calls of methods of `owner` that wait for the end of the run, without those that are counted."""
        return tuple(self.late.get(id(owner), (owner, []))[1])

    def count_of(self, owner: Any) -> Any:
        """How often a method of `owner` is called after these, by the path taken."""
        found = self._set.get(id(owner))
        return found.value if found is not None and isinstance(found.owner, Repeated) else 0

    def has_stepped(self, owner: Any) -> bool:
        """Whether a method of `owner` may wait for the end of the run."""
        return id(owner) in self._set or id(owner) in self.late

    # -- the end of a trace -------------------------------------------------------------------------------------------

    def finish(self, outputs: Sequence[Variable]) -> Mapping[int, StaleBackwardError]:
        """The numbers of the outputs that no backward may come by, and why; what no program can do is refused."""
        tensors = list(self.pinned.values())
        if tensors:
            self.watch("leaves", "what gradients the parameters want", lambda: _state_of(tensors))
            self._watch_missing(tensors)
        for var in outputs:
            if var.__dict__.get("_grad") is not None:
                raise UnsupportedError("a tensor with a gradient of its own leaves the function", hint=OUTSIDE)
            if var in self.mixed:
                raise UnsupportedError(
                    "a tensor leaves the function that is a leaf on one path of a tensor's decision, and on the other "
                    "is none or has been used",
                    hint="make the leaf (stop_gradient = False) after the `if`",
                )
        self._check_carried()
        spent = self._spent()
        self._check_flow([v for v in outputs if v not in spent])
        self._check_changes([v for v in outputs if v not in spent])
        stale = stale_results(differentiated(self.block), self._trace.builder.aliases)
        reasons = stale | dict.fromkeys(spent, freed())
        return {i: reasons[v] for i, v in enumerate(outputs) if v in reasons}

    def partly_spent(self, outputs: Sequence[Variable]) -> Mapping[int, StaleResult]:
        """The numbers of the outputs from which no backward may come to some variables, with these and why."""
        found = refused_results(self.block, self._trace.builder.aliases, outputs)
        return {i: found[v] for i, v in enumerate(outputs) if v in found}

    def ending(self, outputs: Sequence[Variable], origins: Origins) -> frozenset[int]:
        """The numbers of the outputs that are no leaves, but may want a gradient of one that the program made.

        origins: gives what an output may be, or hold, of what is no such leaf.
        """
        if not any(self.is_made(var) for var in (*self.leaf_of, *self.copies)):
            return frozenset()
        wanting = [(i, var) for i, var in enumerate(outputs) if not var.stop_gradient]
        return frozenset(i for i, var in wanting if not any(map(self.is_made, origins(var, self.is_made))))

    def _watch_missing(self, tensors: Sequence[Tensor]) -> None:
        """Look at all gradients at once that were None."""
        observer = current_observer()
        assert observer is not None
        keys = {id(t): (id(t), "grad") for t in tensors}
        none = [t for t in tensors if keys[id(t)] in observer.guards and observer.guards[keys[id(t)]].value is None]
        for tensor in none:
            del observer.guards[keys[id(tensor)]]
        if none:
            source = Source("which parameters have gradients", lambda: [t for t in none if t._grad is not None])
            observer.guards["no gradients"] = Guard(source, [], LeafState([]), "no gradients")


def _state_of(tensors: Sequence[Tensor]) -> list[Any]:
    """Whether each tensor wants a gradient, and its hooks."""
    return [t.stop_gradient if not t._hooks else (t.stop_gradient, *t._hooks) for t in tensors]

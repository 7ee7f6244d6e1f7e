"""Training inside a trace: backward, `.grad` and updates of parameters become part of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..convert.guards.kinds import AnyNumber, Expected, Found, Guard, Source
from ..convert.guards.observe import MethodCall, current_observer
from ..convert.state.journal import is_nested
from ..core.errors import StaleBackwardError, UnsupportedError
from ..core.modes import recorder, scoped
from ..eager.tensor import Tensor, wrap
from ..ir.graph_tensor import as_number
from ..ir.program import Variable
from ..ops.methods import TensorMethods
from .ended_blocks import differentiated
from .leaves import OUTSIDE
from .spent import freed
from .stale import stale_results
from .traced_backward import TracedBackward

if TYPE_CHECKING:
    from .tracing import Trace


class LeafState(Expected):
    """That leaves want gradients as they did, and have the hooks that they had."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted

    def fits(self, value: Any, found: Found) -> bool:
        return bool(value == self.wanted)

    def __str__(self) -> str:
        return "as before"


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
        self.rates: dict[int, Any] = {}
        """The learning rates that the function set, by the ids of the optimizers."""
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

    # -- what changes from run to run ---------------------------------------------------------------------------------

    def number(self, key: Any, label: str, read: Callable[[], float]) -> Variable:
        """What `read()` gives before each run, a float, as an input of the program."""
        found = self._numbers.get(key)
        if found is None:
            observer = current_observer()
            assert observer is not None
            with scoped(recorder, None):
                value = read()
            tensor = wrap(np.asarray(value, "float64"))
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
        if is_nested():
            raise UnsupportedError(f"{type(owner).__name__}.{method} where a tensor decides whether it is called")
        call = MethodCall(owner, method, args, kwargs)
        self.calls.append(call)
        self.late.setdefault(id(owner), (owner, []))[1].append(call)
        observer = current_observer()
        assert observer is not None
        observer.late[id(owner)] = f"{type(owner).__name__}.{method}()"

    def held_before(self, owner: Any, attribute: str) -> Any:
        """What an attribute that the trace wrote held before."""
        observer = current_observer()
        assert observer is not None
        return observer.journal.before[id(owner), attribute][1]

    def calls_of(self, owner: Any) -> Sequence[MethodCall]:
        """The calls of methods of `owner` that wait for the end of the run."""
        return tuple(self.late.get(id(owner), (owner, []))[1])

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
        stale = stale_results(differentiated(self.block), self._trace.builder.aliases)
        reasons = stale | dict.fromkeys(spent, freed())
        return {i: reasons[v] for i, v in enumerate(outputs) if v in reasons}

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

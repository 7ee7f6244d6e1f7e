"""StandaloneExecutor: a prepared program, lowered once, that runs against any number of scopes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..core.place import CPUPlace, Place
from ..ir.program import Variable
from .dense_tensor import DenseTensor
from .feeding import FeedSlot
from .lowering import InterpreterCore, lower
from .options import DEFAULT, ExecutionOptions
from .prepare import PreparedProgram
from .scope import Scope, no_value


class StandaloneExecutor:
    """Runs one prepared program: what is fed, what is fetched, the place and the options are fixed.

    The lowered program belongs to no scope, so all scopes share it; what belongs to a scope is a `_Binding`, the
    tensors that a run reads and writes there. Scopes are referred to weakly: one that dies takes its binding along,
    and the executor keeps none alive. Threads may share it.
    """

    def __init__(
        self, prepared: PreparedProgram, place: Place | None = None, options: ExecutionOptions = DEFAULT
    ) -> None:
        self.prepared = prepared
        self.place = CPUPlace() if place is None else place
        self.options = options
        self.slots = [FeedSlot(var) for var in prepared.fed]
        self._kept = _temporaries(prepared) if options.keep_scopes > 1 else []
        self._n_outputs = len(prepared.block.outputs)
        self._more_runs = options.iterations - 1
        self._bindings: WeakKeyDictionary[Scope, _Binding] = WeakKeyDictionary()
        self._locals: WeakKeyDictionary[Scope, _LocalScope] = WeakKeyDictionary()
        self._lock = Lock()
        self._core = self._lowered()

    def _lowered(self) -> InterpreterCore:
        block = self.prepared.block
        outputs = [*block.outputs, *self.prepared.written, *self._kept]
        inputs = [*block.inputs, *self.prepared.read]
        return lower(block, inputs, outputs, place=self.place, options=self.options, label="Executor.run")

    def run(self, feed: Mapping[str, Any], scope: Scope) -> Sequence[Any]:
        """The fetched arrays, which belong to the caller; variables that live in `scope` are read and written there.

        Nothing is written when the run fails. Raises FeedFetchError or ShapeError for a feed that does not fit,
        ArgumentError for a variable without a value.
        """
        arrays = [slot.array_of(feed[slot.name]) for slot in self.slots]
        binding = self._bindings.get(scope)
        if binding is None or binding.epoch != scope.epoch.value:
            binding = self._bind(scope)
        if self._more_runs:
            for _ in range(self._more_runs):
                self._run_once(arrays, binding, scope)
        return self._run_once(arrays, binding, scope)[: self._n_outputs]

    def _run_once(self, arrays: list[Any], binding: _Binding, scope: Scope) -> Sequence[Any]:
        if binding.reads:
            arrays = arrays.copy()
            for read in binding.reads:
                tensor = read.tensor
                if tensor.fits is not read.meta:
                    read.check()
                arrays.append(tensor.array)
        results = self._core(*arrays)
        if binding.writes:
            for (tensor, meta), value in zip(binding.writes, results[self._n_outputs :]):
                tensor.hold(value, meta)
        if self._kept:
            self._keep(scope, results[-len(self._kept) :])
        return results

    def _keep(self, scope: Scope, values: Sequence[Any]) -> None:
        with self._lock:
            local = self._locals.setdefault(scope, _LocalScope())
            local.keep(scope, zip(self._kept, values), self.options.keep_scopes)

    def _bind(self, scope: Scope) -> _Binding:
        binding = _Binding(self.prepared, scope)
        with self._lock:
            self._bindings[scope] = binding
        return binding


class _Read:
    """A tensor of a scope that a run reads, and what the program declares it as."""

    __slots__ = ("meta", "name", "tensor")

    def __init__(self, var: Variable, tensor: DenseTensor) -> None:
        assert isinstance(var.meta, Meta)
        self.name = var.name
        self.meta = var.meta
        self.tensor = tensor

    def check(self) -> None:
        """Raise unless the tensor, which may have been set by hand, holds what is declared."""
        array, want = self.tensor.array, self.meta
        if array is None:
            raise no_value(self.name)
        found = f"variable {self.name!r} of the scope: expected {want}, got {array.dtype}{list(array.shape)}"
        hint = "set it to an array of the kind that the program was built with"
        if array.dtype != want.dtype.np:
            raise DTypeError(found, hint=hint)
        if len(array.shape) != want.ndim or any(w not in (UNKNOWN, g) for w, g in zip(want.shape, array.shape)):
            raise ShapeError(found, hint=hint)
        self.tensor.fits = want


class _Binding:
    """The tensors of one scope that a prepared program reads and writes, looked up once.

    `epoch` is the scope's: when a variable of its tree has come or gone since, the names are looked up again. It refers
    to tensors only, never to the scope, so it keeps no scope alive.
    """

    __slots__ = ("epoch", "reads", "writes")

    def __init__(self, prepared: PreparedProgram, scope: Scope) -> None:
        for var in prepared.read:
            if scope.find_var(var.name) is None:
                raise no_value(var.name, scope)
        for var in prepared.written:
            if scope.find_var(var.name) is None:
                scope.root().var(var.name)
        self.epoch = scope.epoch.value  # before looking up: what changes meanwhile is seen at the next run
        self.reads = [_Read(var, scope.tensor_of(var.name)) for var in prepared.read]
        self.writes = [(scope.tensor_of(var.name), var.meta) for var in prepared.written]


class _LocalScope:
    """The child of a scope that keeps the temporaries of the last run, until so many runs are over."""

    __slots__ = ("_kid", "_runs")

    def __init__(self) -> None:
        self._kid: ref[Scope] | None = None  # weak, for a kid refers to its parent
        self._runs = 0

    def keep(self, scope: Scope, values: Iterable[tuple[Variable, Any]], limit: int) -> None:
        """Let the child of `scope` hold these values, and drop it when this is run number `limit`."""
        kid = None if self._kid is None else self._kid()
        if kid is None:  # the first run, or somebody has dropped the kids
            kid, self._runs = scope.new_scope(), 0
            self._kid = ref(kid)
        for var, value in values:
            kid.var(var.name).tensor.hold(value)
        self._runs += 1
        if self._runs >= limit:
            scope.drop_kid(kid)
            self._kid = None


def _temporaries(prepared: PreparedProgram) -> list[Variable]:
    """The tensors that live for a run only: all but those that live in a scope, and what fetch operators give."""
    fetched = set(prepared.block.outputs)
    made = [v for op in prepared.block.ops for v in op.outputs]
    return [v for v in made if isinstance(v.meta, Meta) and not v.persistable and v not in fetched]

"""StaticFunction: a function that runs as cached programs. Its call is the hot path of compiled code."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from threading import RLock
from types import FunctionType
from typing import Any

import numpy as np

from ..convert import entered
from ..convert.values.user_errors import is_internal
from ..core.dtype import default_dtype
from ..core.errors import ArgumentError, TakenSizeError, VitrifyError
from ..core.interrupts import may_be_caught
from ..core.meta import Shape
from ..core.modes import amp_state, grad_enabled, recorder
from ..core.place import current_place, place_guard
from ..core.pytree import TreeDef
from ..core.setting import MODES, Setting
from ..core.source import user_stacklevel
from ..device.api import place_of
from ..eager.tensor import Tensor, as_tensor
from ..runtime.options import DEFAULT, ExecutionOptions
from ..transformers import NoSourceError
from .faults import release_frames, warn_of_fault
from .key import BY_VALUE, content
from .number_inputs import NumberInputs
from .partial_program import PartialProgramLayer, UnfitError
from .program_cache import MISS, Executable, Family, Recent, Substitute
from .report import cause_of, presented, show_users_frames
from .retrace import NoSourceWarning
from .ripening import Ripening
from .split import CONVINCED, PATIENCE, SMALLEST_PART, AfterErrors, AsPython, CompiledCalls, Split, SplitProgram
from .traceable import Traceable
from .unfinished import Unfinished, unfinished

ENABLED: Setting[bool] = Setting("to_static_enabled", True, MODES)

N_MODES = 5  # what a signature starts with: structure, grad mode, amp, place, default dtype

MAX_VARIANTS = 16
"""With so many programs, hardly used, of one function it is run as Python from then on."""

_enabled = ENABLED.get
_recorder = recorder.get
_grad = grad_enabled.get
_amp = amp_state.get
_place = current_place
_ndarray = np.ndarray
_default_dtype = default_dtype


def _modes() -> tuple[Any, ...]:
    """The modes that a program is made for."""
    return _grad(), _amp(), _place(), _default_dtype()


class TraceFailure(Exception):
    """Carries what stopped a trace to where the call can go on without a program."""

    def __init__(self, error: Exception, family: Family, kinds: Any) -> None:
        super().__init__(str(error))
        self.error = error
        self.family = family
        self.kinds = kinds


class StaticFunction(Traceable):
    """What `to_static` returns: call it like the function it wraps.

    Attributes: `code` (the converted source), `concrete_program`, `main_program`, `program_cache`, `inputs`,
    `outputs`; `rollback()` gives the eager function back. Source: paddle.jit.to_static.
    """

    __slots__ = ("__call__",)  # of each function its own: what calls it in Python, or as machine code
    __call__: Callable[..., Any]
    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Any = None,
        *,
        instance: Any = None,
        full_graph: bool = True,
        options: ExecutionOptions = DEFAULT,
        on_failure: Callable[[Exception], None] | None = None,
        on_idle: Callable[[], None] | None = None,
    ) -> None:
        """on_failure, on_idle: of parts of other functions, told of a failed trace, and when it settles as Python."""
        functools.update_wrapper(self, function)
        super().__init__(function, input_spec, instance, full_graph, options)
        if instance is not None:
            self.__signature__ = inspect.signature(self._eager)  # without `self`, which the wrapped function has
        self._on_failure = on_failure
        self._on_idle = on_idle
        self._python = AsPython(self._settle, CONVINCED if on_idle is None else PATIENCE)
        self._direct: Substitute | None = None
        self.settled = False
        self._split: Split | None = None
        self._split_kinds: set[Any] = set()
        self._numbers = None if on_idle is None else NumberInputs()
        self._warned = False
        self._exact = self.program_cache.exact
        self._lock = RLock()
        self._ripening = Ripening(self._called, self._call_by)
        self.program_cache.when_forgotten = self._ripening.forget
        self._call_by(self._called)

    # -- calling ----------------------------------------------------------------------------------------------------

    def _call_by(self, call: Callable[..., Any]) -> None:
        self.__call__ = call

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, as Python finds it."""
        if _recorder() is not None or (MODES.on and not _enabled()):
            return self._call_uncached(args, kwargs)
        recent = self.program_cache.recent
        try:
            if recent is not None and not kwargs and not MODES.on:
                result = recent.call(args)
                if result is not MISS:
                    return result
            return self._call(args, kwargs)
        except KeyboardInterrupt:
            may_be_caught()
            raise
        except Exception as err:  # noqa: BLE001 - dealt with behind the handler, so that it is nobody's context
            failure = err
        try:
            return self._after(failure, args, kwargs)
        except Exception as err:
            show_users_frames(err)
            raise
        finally:
            del failure  # it knows this frame

    def _after(self, failure: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call that `failure` ended, if eager code has one."""
        if isinstance(failure, UnfitError):  # the tensors of this call are not what a program can change
            return self._in_eager(args, kwargs)
        if isinstance(failure, TraceFailure):
            return self._run_eagerly(failure, args, kwargs)
        ended = unfinished(failure)
        if ended is None:
            raise presented(failure)
        return self._run_again(ended, failure, args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call by its signature. Raises TraceFailure where no program can be built for it."""
        if self._direct is not None:
            return self._direct.call((), (), (args, kwargs), self._eager)
        self.renew()
        leaves: list[Any] = []
        tree = self.function_spec.flatten_call(args, kwargs, leaves)
        fed = self._numbers.feed(tree, leaves) if self._numbers else ()
        key = [(tree, fed) if fed else tree, _grad(), _amp(), _place(), _default_dtype()]
        tensors = self._tell_apart(leaves, key)
        signature = tuple(key)
        try:
            program = self._exact.get(signature)
        except TypeError:  # a static argument without a hash
            signature = tuple(map(content, key))
            program = self._exact.get(signature)
        captured = None if program is None else program.current_inputs()
        if captured is None:
            if self._numbers is not None and self._numbers.learn(tree, leaves):
                return self(*args, **kwargs)
            try:
                program = self._find_or_build(signature, tree, leaves, tensors)
            except TraceFailure as found:
                if fed and self._numbers is not None and self._numbers.pin(tree):
                    found.family.substitute = self._python  # nobody comes back to it
                    return self(*args, **kwargs)
                raise
            captured = program.current_inputs()
            if captured is None:  # tracing itself changed, unnoticed, something it had read
                captured = program.captured
        assert program is not None
        if isinstance(program, PartialProgramLayer) and program.is_plain_call:
            if fed or MODES.on:
                return program(tensors, captured)
            return self._run_plain(program, tensors, captured, args, kwargs)
        return program.call(tensors, captured, self.function_spec.bound(args, kwargs), self._eager)

    def _tell_apart(self, leaves: Sequence[Any], key: list[Any]) -> list[Tensor]:
        """Add to `key` what tells a call with these leaves from others; the tensors among them."""
        tensors: list[Tensor] = []
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                if not isinstance(leaf, np.ndarray):
                    kind = leaf.__class__
                    if kind is float:
                        leaf = leaf.hex()  # tells -0.0, and nan is nan
                    key += (kind, leaf if kind in BY_VALUE else content(leaf))
                    continue
                shown = leaf.__class__ if self._input_spec is None else True
                leaf = _tensor_of(leaf)
                key += (leaf._data.dtype, leaf._data.shape, shown)
                tensors.append(leaf)
                continue
            data = leaf._data
            if data.__class__ is not _ndarray:
                key[3] = place_of(data)  # a program runs where its tensors are
            key += (data.dtype, data.shape, leaf.stop_gradient)
            tensors.append(leaf)
        return tensors

    def _run_plain(
        self, program: PartialProgramLayer, tensors: Sequence[Tensor], captured: Sequence[Tensor],
        args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Run a program that needs its tensors alone, and let calls like this one find it by a shorter way."""
        self._ripening.watch(program)
        if not kwargs and self.function_spec.is_plain(args):
            self.program_cache.recent = Recent(_modes, tensors, program)
            program.takes_tensors_alone = True
            return program(tensors, captured)
        running = self._ripening.running
        before, running.call = running.call, (program, (args, kwargs))
        try:
            return program(tensors, captured)
        finally:
            running.call = before

    def _in_eager(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same call in eager code."""
        try:
            return self._eager(*args, **kwargs)
        except Exception as err:  # noqa: BLE001 - raised again, cut to what concerns the user
            raise presented(err)  # noqa: B904 - it is `err` itself

    def _run_again(self, ended: Unfinished, err: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same call in eager code, which raises likewise, once it has changed what it changes before.

        Where a program took a size for another than it is, the same call by a program for its sizes. Where eager code
        does not raise, and a function of ours raised `err` or caused it, a whole function says so.
        """
        told = cause_of(err)
        is_ours = ended.is_of_trace and (is_internal(told) or isinstance(told, VitrifyError))
        with ended.again():
            if isinstance(err, TakenSizeError) and self.program_cache.pin_sizes_taken():
                return self._called(*args, **kwargs)
            result = self._in_eager(args, kwargs)
        if is_ours and self._full_graph:
            raise presented(told)
        return result

    def _run_eagerly(self, failure: TraceFailure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result by the function itself, where it cannot be one program; later calls find it split.

        What fails eagerly, too, is the user's own mistake and says nothing about the function.
        """
        family = failure.family
        try:
            result = self._eager(*args, **kwargs)
        except Exception as err:  # noqa: BLE001 - raised again, cut to what concerns the user
            family.errors += 1
            family.substitute = AfterErrors(family.errors)
            raise presented(err)  # noqa: B904 - it is `err` itself
        self._note_failure(failure, family)
        release_frames(failure)
        return result

    def _note_failure(self, failure: TraceFailure, family: Family) -> None:
        """Let later calls find the function split."""
        if isinstance(failure.error, NoSourceError) and not self._warned:
            self._warned = True
            warnings.warn(f"to_static: {failure.error}\nit runs eagerly", NoSourceWarning, stacklevel=user_stacklevel())
        self._warned = self._warned or warn_of_fault(self.__name__, failure.error)
        if self._on_failure is not None:
            self._on_failure(failure.error)
            family.substitute = self._python
        elif isinstance(self._function, FunctionType):
            self.split.record(failure.error)
            self._split_kinds.add(failure.kinds)
            family.substitute = self._split_program()
        else:
            family.substitute = self._python

    def _split_program(self) -> SplitProgram:
        return SplitProgram(self.split, self._instance, self._python, self._settle)

    def _settle(self, found: Substitute) -> None:
        """Run `found` whatever the call, if programs never did. Parts that run nothing compiled are called no more."""
        if found.runs_python and self._on_idle is not None:
            self.settled = self.program_cache.runs_python
            if self.settled:
                self._on_idle()
        elif len(self.program_cache) == 0 and self._input_spec is None:
            self._direct = found

    @property
    def split_state(self) -> Split | None:
        """How the function is split; None while it is whole."""
        return self._split

    @property
    def split(self) -> Split:
        """How the function is split, if it cannot be one program."""
        if self._split is None:
            assert isinstance(self._function, FunctionType)
            self._split = Split(self._function, functools.partial(_part, options=self._options), _COMPILED_CALLS)
        return self._split

    def _call_uncached(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _enabled():  # inside another trace: become part of it
            return entered(self.converted)(*args, **kwargs)
        return self._eager(*args, **kwargs)

    # -- building ---------------------------------------------------------------------------------------------------

    def _find_or_build(
        self, signature: Any, tree: TreeDef, leaves: Sequence[Any], tensors: Sequence[Tensor]
    ) -> Executable:
        with self._lock, place_guard(signature[3]):
            family = self.program_cache.family((*signature[:N_MODES], *map(_without_size, leaves)))
            shapes = [tuple(t._data.shape) for t in tensors]
            dtypes = [t.dtype for t in tensors]
            if family.substitute is not None and family.substitute.current_inputs() is None:
                family.substitute = None
            found: Executable | None = family.substitute or self.program_cache.find(family, shapes, dtypes)
            if found is None:
                found = self._build_or_give_up(family, tree, leaves, shapes)
            self.program_cache.remember(signature, found)
            return found

    def _varies_too_much(self) -> bool:
        """Whether programs are built again and again and hardly any of them is used twice."""
        programs = list(self.program_cache.programs())
        return len(programs) >= MAX_VARIANTS and sum(p.total_calls for p in programs) < 2 * len(programs)

    def _build_or_give_up(
        self, family: Family, tree: TreeDef, leaves: Sequence[Any], shapes: Sequence[Shape]
    ) -> Executable:
        user_specs = self.function_spec.specs_for(tree, leaves, lambda v: isinstance(v, (Tensor, np.ndarray)))
        if self._full_graph:
            return self._builder.build(family, tree, leaves, shapes, user_specs)
        if self._on_failure is None and self._split is not None and _kinds(tree, leaves) in self._split_kinds:
            family.substitute = self._split_program()
            return family.substitute
        if self._varies_too_much():
            self._builder.warn_of_retracing(tree, "It runs as Python from now on")
            family.substitute = self._python
            return self._python
        try:
            found = self._builder.build(family, tree, leaves, shapes, user_specs)
        except Exception as err:  # noqa: BLE001 - whatever it is, the function itself is run and may raise it again
            raise TraceFailure(err, family, _kinds(tree, leaves)) from None
        if self._on_idle is not None and (found.does_nothing or found.concrete.work < _least_work(leaves)):
            family.substitute = self._python
            return self._python
        return found

    def __repr__(self) -> str:
        return f"<StaticFunction {self._function.__qualname__}, {len(self.program_cache)} programs>"


def _tensor_of(array: Any) -> Tensor:
    """A tensor that holds what an array does. Raises UnfitError for one of objects or texts."""
    try:
        made: Tensor = as_tensor(array)
        return made
    except ArgumentError as err:
        raise UnfitError(err.message) from None


def _part(function: FunctionType, **options: Any) -> StaticFunction:
    return StaticFunction(function, full_graph=False, **options)


_COMPILED_CALLS = CompiledCalls(_part)


def _least_work(leaves: Sequence[Any]) -> int:
    """Operators that make a part worth compiling. A nested function among its arguments is another one in each call."""
    return SMALLEST_PART.get() * (5 if any(isinstance(leaf, FunctionType) for leaf in leaves) else 1)


def _kinds(tree: TreeDef, leaves: Sequence[Any]) -> Any:
    """A call by the kinds of its arguments: where one such call is split, another with other numbers will be, too."""
    numbers = (int, float)
    return tree, tuple([leaf.__class__ if leaf.__class__ in numbers else _without_size(leaf) for leaf in leaves])


def _without_size(leaf: Any) -> Any:
    """What of an argument tells families of programs apart."""
    if isinstance(leaf, Tensor):
        return leaf._data.dtype, leaf._data.ndim, leaf.stop_gradient
    if isinstance(leaf, np.ndarray):
        return leaf.dtype, leaf.ndim, leaf.__class__
    return leaf.__class__, content(leaf.hex() if leaf.__class__ is float else leaf)

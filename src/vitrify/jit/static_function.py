"""StaticFunction: a function that runs as cached programs. Its call is the hot path of compiled code."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from threading import RLock
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..convert import Converted, entered, source_of
from ..core.dtype import default_dtype
from ..core.errors import InternalError
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
from .concrete_program import ConcreteProgram
from .function_spec import FunctionSpec
from .key import content
from .number_inputs import NumberInputs
from .partial_program import PartialProgramLayer
from .program_builder import ProgramBuilder
from .program_cache import MISS, CacheInfo, Executable, Family, ProgramCache, Recent, Substitute
from .report import presented
from .retrace import NoSourceWarning
from .split import CONVINCED, PATIENCE, SMALLEST_PART, AfterErrors, AsPython, CompiledCalls, Split, SplitProgram
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


class StaticFunction:
    """What `to_static` returns: call it like the function it wraps.

    Attributes: `code` (the converted source), `concrete_program`, `main_program`, `program_cache`, `inputs`,
    `outputs`; `rollback()` gives the eager function back. Source: paddle.jit.to_static.
    """

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
        self._function = function
        self._instance = instance
        self._input_spec = input_spec
        self._full_graph = full_graph
        self._options = options
        self._on_failure = on_failure
        self._on_idle = on_idle
        self._python = AsPython(self._settle, CONVINCED if on_idle is None else PATIENCE)
        self._direct: Substitute | None = None
        self.settled = False
        self._split: Split | None = None
        self._split_kinds: set[Any] = set()
        self._numbers = None if on_idle is None else NumberInputs()
        self._warned = False
        bound = function if instance is None else function.__get__(instance)
        self._eager: Callable[..., Any] = bound
        self.program_cache = ProgramCache()
        self._exact = self.program_cache.exact
        self._lock = RLock()
        self._of_classes: WeakKeyDictionary[type, StaticFunction] = WeakKeyDictionary()
        self._owner: type | None = None
        self._attribute: str | None = None

    # -- binding ----------------------------------------------------------------------------------------------------

    def __set_name__(self, owner: type, name: str) -> None:
        if self._attribute is None:
            self._owner, self._attribute = owner, name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if isinstance(instance, type):  # a classmethod asks on behalf of its class
            return self._of_class(instance)
        held = getattr(instance, "__dict__", None)
        if held is None:  # nowhere to keep programs: the instance becomes an argument like others
            return MethodType(self, instance)
        name = self._attribute or self._function.__name__
        if getattr(type(instance), name, None) is not self:  # by way of super()
            name = f"{self._function.__qualname__} of {id(self)}"
            if name in held:
                return held[name]
        # Kept where the next attribute lookup finds it without coming here.
        held[name] = bound = self._bound_to(instance)
        bound._owner, bound._attribute = self._owner, self._attribute
        return bound

    def _of_class(self, owner: type) -> StaticFunction:
        """The function bound to a class, kept beside it."""
        bound = self._of_classes.get(owner)
        if bound is None:
            bound = self._of_classes[owner] = self._bound_to(owner)
        return bound

    def _bound_to(self, instance: Any) -> StaticFunction:
        """The same function bound to an instance or class, with programs of its own."""
        return _bound_again(self._function, self._input_spec, instance, self._full_graph, self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._instance is None:
            return self
        instance = memo.get(id(self._instance), self._instance)
        return self._bound_to(instance)

    def __reduce__(self) -> Any:
        """Pickles hold where the function is found and what it is bound to, never programs."""
        if self._owner is not None:
            return _found_again, (self._owner, self._attribute, self._instance)
        if self._instance is not None:
            return _bound_again, (self._function, self._input_spec, self._instance, self._full_graph, self._options)
        return self._function.__qualname__

    # -- calling ----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _recorder() is not None or (MODES.on and not _enabled()):
            return self._call_uncached(args, kwargs)
        recent = self.program_cache.recent
        try:
            if recent is not None and not kwargs and not MODES.on:
                result = recent.call(args)
                if result is not MISS:
                    return result
            return self._call(args, kwargs)
        except TraceFailure as found:
            failure: TraceFailure | Unfinished = found
        except Exception as err:  # noqa: BLE001 - raised again, cut to what concerns the user
            ended = unfinished(err)
            if ended is None:
                raise presented(err)  # noqa: B904 - it is `err` itself
            failure = ended
        if isinstance(failure, Unfinished):
            return self._run_again(failure, args, kwargs)
        return self._run_eagerly(failure, args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call by its signature. Raises TraceFailure where no program can be built for it."""
        if self._direct is not None:
            return self._direct.call((), (), (args, kwargs), self._eager)
        leaves: list[Any] = []
        tree = self.function_spec.flatten_call(args, kwargs, leaves)
        fed = self._numbers.feed(tree, leaves) if self._numbers else ()
        key = [(tree, fed) if fed else tree, _grad(), _amp(), _place(), _default_dtype()]
        tensors: list[Tensor] = []
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                if not isinstance(leaf, np.ndarray):
                    kind = leaf.__class__
                    key += (kind, leaf if kind is not float else leaf.hex())  # tells -0.0, and nan is nan
                    continue
                leaf = as_tensor(leaf)
            data = leaf._data
            if data.__class__ is not _ndarray:
                key[3] = place_of(data)  # a program runs where its tensors are
            key += (data.dtype, data.shape, leaf.stop_gradient)
            tensors.append(leaf)
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
            if not fed and not kwargs and not MODES.on and self.function_spec.is_plain(args):
                self.program_cache.recent = Recent(_modes, tensors, program)
            return program(tensors, captured)
        return program.call(tensors, captured, self.function_spec.bound(args, kwargs), self._eager)

    def _run_again(self, ended: Unfinished, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same call in eager code, which raises likewise, once it has changed what it changes before."""
        try:
            with ended.again():
                return self._eager(*args, **kwargs)
        except Exception as err:  # noqa: BLE001 - raised again, cut to what concerns the user
            raise presented(err)  # noqa: B904 - it is `err` itself

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
        if isinstance(failure.error, NoSourceError) and not self._warned:
            self._warned = True
            warnings.warn(f"to_static: {failure.error}\nit runs eagerly", NoSourceWarning, stacklevel=user_stacklevel())
        if self._on_failure is not None:
            self._on_failure(failure.error)
            family.substitute = self._python
        elif isinstance(self._function, FunctionType):
            self.split.record(failure.error)
            self._split_kinds.add(failure.kinds)
            family.substitute = self._split_program()
        else:
            family.substitute = self._python
        return result

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

    @functools.cached_property
    def function_spec(self) -> FunctionSpec:
        """The signature of the function, with the given input_spec."""
        return FunctionSpec(self._eager, self._input_spec)

    @functools.cached_property
    def _builder(self) -> ProgramBuilder:
        """What traces the function. Its parts are compiled in silence: whoever called them warns."""
        warns = self._on_failure is None
        return ProgramBuilder(self._eager, self.function_spec, self.program_cache, self._options, warns)

    @property
    def converted(self) -> Converted:
        """The function with its control flow converted, bound to the instance."""
        return self._builder.converted

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
        return len(programs) >= MAX_VARIANTS and sum(p.calls for p in programs) < 2 * len(programs)

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
        except InternalError:
            raise
        except Exception as err:  # noqa: BLE001 - whatever it is, the function itself is run and may raise it again
            raise TraceFailure(err, family, _kinds(tree, leaves)) from None
        if self._on_idle is not None and (found.does_nothing or found.concrete.work < _least_work(leaves)):
            family.substitute = self._python
            return self._python
        return found

    # -- inspection -------------------------------------------------------------------------------------------------

    @property
    def code(self) -> str:
        """The converted source, for reading."""
        return source_of(self.converted)

    def cache_info(self) -> CacheInfo:
        """Hits, misses, limit and number of programs. The programs' keys are `program_cache.keys()`."""
        return self.program_cache.info()

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The eager function."""
        return self._eager

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The program of the last new call signature; built from input_spec when there was no call yet."""
        last = self.program_cache.last()
        if last is None:
            return self.concrete_program_specify_input_spec()
        return last.concrete

    def concrete_program_specify_input_spec(self, input_spec: Any = None) -> ConcreteProgram:
        """A program for the given InputSpecs, with None dimensions kept."""
        spec = FunctionSpec(self._eager, input_spec) if input_spec is not None else self.function_spec
        return self.trace_call(*spec.call_from_specs())

    def trace_call(self, tree: TreeDef, leaves: Sequence[Any]) -> ConcreteProgram:
        """A program for a call of this structure, with InputSpecs in place of tensors."""
        try:
            return self._builder.trace(tree, leaves)
        except Exception as err:  # noqa: BLE001 - raised again, cut to what concerns the user
            raise presented(err)  # noqa: B904 - it is `err` itself

    @property
    def main_program(self) -> Any:
        """The forward Program of `concrete_program`."""
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[Any]:
        """The input Variables of `concrete_program`."""
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Any]:
        """The output Variables of `concrete_program`."""
        return self.concrete_program.outputs

    def rollback(self) -> Callable[..., Any]:
        """The eager function; on a Layer, `forward` becomes eager again."""
        instance = self._instance
        name = self._attribute or self._function.__name__
        if instance is not None and instance.__dict__.get(name) is self:
            del instance.__dict__[name]
            if isinstance(getattr(type(instance), name, None), StaticFunction):
                instance.__dict__[name] = self._eager
        return self._eager

    def __repr__(self) -> str:
        return f"<StaticFunction {self._function.__qualname__}, {len(self.program_cache)} programs>"


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
        return leaf.dtype, leaf.ndim, True
    return leaf.__class__, content(leaf.hex() if leaf.__class__ is float else leaf)


def _found_again(owner: type, attribute: str, instance: Any) -> Any:
    found = getattr(owner, attribute)
    return found if instance is None else found.__get__(instance)


def _bound_again(
    function: Any, input_spec: Any, instance: Any, full_graph: bool, options: ExecutionOptions
) -> StaticFunction:
    return StaticFunction(function, input_spec, instance=instance, full_graph=full_graph, options=options)

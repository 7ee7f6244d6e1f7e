"""Building the programs of one function: with which specs it is traced, what is tried next, and who warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..convert import Converted, convert
from ..convert.containers.stand_ins import learn_of, without_tables
from ..convert.containers.table_sites import NumberKeyError, TableSites
from ..convert.guards.array_sites import ArraySites
from ..convert.host.changes import ChangedArrayError
from ..convert.values.foreign import AskedInLoopError, ForkedError
from ..convert.values.handlers import learn, leave_to_eager
from ..core.collecting import collection_paused
from ..core.dtype import DType, default_dtype, from_np
from ..core.errors import InternalError, UnsupportedError
from ..core.meta import UNKNOWN, Shape
from ..core.modes import amp_state, grad_enabled
from ..core.place import current_place
from ..core.pytree import TreeDef
from ..core.source import user_stacklevel
from ..core.timeline import TracerEventType, span
from ..eager.tensor import Tensor
from ..ir.input_spec import ArraySpec, InputSpec, NumberSpec, WithoutOnes
from ..runtime.options import ExecutionOptions
from .concrete_program import ConcreteProgram
from .function_spec import FunctionSpec
from .key import CacheKey, content
from .marker import with_marks
from .number_inputs import NumberTensor
from .partial_program import OwnFieldError, PartialProgramLayer
from .program_cache import Family, ProgramCache
from .reach import layer_state
from .retrace import RetraceWarning, what_varies
from .tracing import Request, trace
from .variation import Variation

MAX_COMPARED = 4
"""So many of the latest programs are asked what changed since they were built."""

Attempt = tuple[list[Shape], Variation | None]


class ProgramBuilder:
    """Traces a function for calls that no program fits, and adds what comes of it to the function's cache."""

    def __init__(
        self, eager: Callable[..., Any], spec: FunctionSpec, cache: ProgramCache, options: ExecutionOptions, *,
        warns: bool, is_whole: bool,
    ) -> None:  # fmt: skip
        """is_whole: what cannot be converted is an error, not a segment."""
        self.eager = eager
        self._spec = spec
        self._cache = cache
        self._options = options
        self._warns = warns
        self._is_part = not warns
        self._is_whole = is_whole
        self._variation = Variation()
        self._table_sites = TableSites()
        self._array_sites = ArraySites()
        self._converted: Converted | None = None

    @property
    def converted(self) -> Converted:
        """The function with its control flow converted, bound to the instance."""
        if self._converted is None:
            self._converted = convert(self.eager)
        return self._converted

    def build(
        self, family: Family, tree: TreeDef, leaves: Sequence[Any], shapes: Sequence[Shape],
        user_specs: Sequence[InputSpec | None],
    ) -> PartialProgramLayer:  # fmt: skip
        """A program for this call, as general as it can be traced. Raises what the last attempt raised.

        Where code asks of an array what NumPy's have not, it is a tensor, as in PaddlePaddle.
        """
        try:
            return self._build(family, tree, leaves, shapes, user_specs)
        except Exception as err:
            if not self._takes_tensors(err, leaves):
                raise
            try:
                return self._build(family, tree, leaves, shapes, user_specs, InputSpec)
            except Exception:  # noqa: BLE001 - whatever it is, arrays are what the caller gave
                raise err from None

    def _takes_tensors(self, err: Exception, leaves: Sequence[Any]) -> bool:
        """Whether a trace that failed may succeed with tensors in place of the arrays that the call is given."""
        kinds = (Exception,) if self._is_whole else (AttributeError, TypeError)
        if self._is_part or not isinstance(err, kinds) or isinstance(err, (InternalError, ChangedArrayError)):
            return False
        return any(isinstance(leaf, np.ndarray) for leaf in leaves)

    def _build(
        self, family: Family, tree: TreeDef, leaves: Sequence[Any], shapes: Sequence[Shape],
        user_specs: Sequence[InputSpec | None], arrays: type[InputSpec] = ArraySpec,
    ) -> PartialProgramLayer:  # fmt: skip
        """arrays: what tells how the program sees NumPy's arrays."""
        if family.seen is None:
            family.seen = with_marks(leaves, shapes)
        wide = family.widen(shapes)
        if family.pinned:
            user_specs = [None] * len(leaves)  # what they leave open was needed
        attempts = self._attempts(family, wide, list(shapes), user_specs)
        has_own_one = any(map(_refuses_ones, family.entries)) and any(1 in shape for shape in shapes)
        if has_own_one:
            attempts = attempts[-1:]
        for number, (sizes, variation) in enumerate(attempts, 1):
            is_last = number == len(attempts)
            specs = _specs(leaves, sizes, user_specs if sizes is wide else [None] * len(leaves), arrays)
            try:
                program = self._trace(family, tree, leaves, specs, variation)
            except InternalError:
                raise
            except Exception as err:
                if self._is_whole and _is_own_field(err, leaves):
                    raise OwnFieldError() from err
                # With unknown sizes and numbers anything may fail that needs one as a Python value; with known ones the
                # failure is the user's own, and is raised by the last attempt.
                if is_last:
                    raise
                if variation is not None:
                    variation.pin()
                continue
            if not is_last and not self._cache.fits(family.entries[-1][0], shapes):
                has_own_one = True
                continue
            # Only known sizes worked: they are part of the key from now on.
            family.pinned = family.pinned or (is_last and sizes is not wide and not has_own_one)
            return program
        raise InternalError("no specs to build for")

    def _attempts(
        self, family: Family, wide: list[Shape], exact: list[Shape], user_specs: Sequence[InputSpec | None]
    ) -> list[Attempt]:
        """Sizes, and numbers that become inputs, in the order in which they are tried: the most general first."""
        self._variation.learn(p.concrete.guards for _, p in family.entries[-MAX_COMPARED:] if p.concrete.guards)
        attempts: list[Attempt] = [(wide, self._variation)] if self._variation else []
        attempts.append((wide, None))
        free = any(s is not None and -1 in s.shape for s in user_specs) and not family.pinned
        if free or wide != exact:
            attempts.append((exact, None))
        return attempts

    def _trace(
        self, family: Family, tree: TreeDef, leaves: Sequence[Any], specs: Sequence[InputSpec | None],
        variation: Variation | None,
    ) -> PartialProgramLayer:  # fmt: skip
        values = [spec if spec is not None else leaf for spec, leaf in zip(specs, leaves)]
        label = f"to_static builds {getattr(self.eager, '__name__', 'a function')}"
        with collection_paused(), span(TracerEventType.UserDefined, label):
            concrete = self.trace(tree, values, variation, is_called=True)
            layers = layer_state(self.eager, concrete.layers)
            program = PartialProgramLayer(concrete, layers, options=self._options)
        if concrete.without_ones:
            specs = [s and WithoutOnes(s.shape, s.dtype, s.name, s.stop_gradient) for s in specs]
        static = tuple((leaf.__class__, content(leaf)) for spec, leaf in zip(specs, leaves) if spec is None)
        key = CacheKey(
            tree, tuple(s for s in specs if s is not None), static, layers.flags, grad_enabled.get(), amp_state.get(),
            current_place(), default_dtype(),
        )  # fmt: skip
        self._cache.add(family, key, program)
        if self._cache.forgotten:
            self.warn_of_retracing(tree, "The oldest are forgotten")
        return program

    def trace(
        self, tree: TreeDef, values: Sequence[Any], variation: Variation | None = None, is_called: bool = False
    ) -> ConcreteProgram:
        """The program of a call of this structure, with InputSpecs in place of tensors; it is not kept.

        is_called: there is such a call, which another program can do.
        """
        sites = self._table_sites if self._is_whole else None
        request = Request(variation, self._is_whole, is_called, sites)
        request.array_sites = self._array_sites if self._is_whole else None
        was_kept = False
        while True:
            try:
                return trace(self.converted, tree, values, self._argument_names(tree), self.eager, request)
            except UnsupportedError as err:
                if self._is_whole and (
                    learn_of(err, request.foreign) or self._table_sites.learn_of(err) or self._array_sites.learn_of(err)
                ):
                    continue
                if learn(err):
                    self._converted = None
                elif isinstance(err, AskedInLoopError) and not request.numbers_heads:
                    request.numbers_heads = True
                elif isinstance(err, ForkedError) and not was_kept:
                    was_kept = request.keeps_containers = True
                elif request.keeps_containers:
                    request.keeps_containers = False  # the error of the shorter program says what to do about it
                elif self._is_whole and is_called and leave_to_eager(err, request.left_tries):
                    continue
                elif not self._array_sites.give_up() and not self._table_sites.give_up(
                    without_tables(request.foreign) or isinstance(err, NumberKeyError)
                ):
                    raise

    def warn_of_retracing(self, tree: TreeDef, consequence: str) -> None:
        """Say once which argument, or what else, asks for ever new programs."""
        if not self._warns:
            return
        self._warns = False
        entries = list(self._cache.entries())
        varies = what_varies(entries, self._argument_names(tree))
        name = getattr(self.eager, "__qualname__", repr(self.eager))
        warnings.warn(
            f"{name} has {len(entries)} programs: {varies}. {consequence}; pass what varies as a tensor, or leave the "
            "function out with @not_to_static",
            RetraceWarning,
            stacklevel=user_stacklevel(),
        )

    def _argument_names(self, tree: TreeDef) -> list[str | None]:
        """A readable variable name for each leaf: the parameter's, numbered where it has several leaves."""
        names: list[str | None] = []
        params = list(self._spec.signature.parameters)
        for index, part in enumerate(tree):
            base = params[index] if index < len(params) else params[-1] if params else "arg"
            if isinstance(part, tuple) and part and part[0] == "kwargs":
                part = part[1]
            count = _leaf_count(part)
            names += [base] if count == 1 else [f"{base}_{i}" for i in range(count)]
        return names


def _refuses_ones(entry: tuple[CacheKey, PartialProgramLayer]) -> bool:
    return any(isinstance(spec, WithoutOnes) and UNKNOWN in spec.shape for spec in entry[0].specs)


def _is_own_field(err: Exception, leaves: Sequence[Any]) -> bool:
    """Whether a trace failed for an attribute that the caller has set on a tensor, which a program knows nothing of."""
    name = err.name if isinstance(err, AttributeError) else None
    return name is not None and any(isinstance(leaf, Tensor) and name in leaf.__dict__ for leaf in leaves)


def _leaf_count(tree: TreeDef) -> int:
    return 1 if tree is None else sum(_leaf_count(c) for c in tree[1])


def _specs(
    leaves: Sequence[Any], sizes: Sequence[Shape], user: Sequence[InputSpec | None], arrays: type[InputSpec]
) -> list[InputSpec | None]:
    """The InputSpec of each leaf: the user's, else one with these sizes, of NumPy's arrays one of class `arrays`; None
    for static values.
    """
    remaining = iter(sizes)
    specs: list[InputSpec | None] = []
    for leaf, given in zip(leaves, user):
        if not isinstance(leaf, (Tensor, np.ndarray)):
            specs.append(None)
            continue
        shape = next(remaining)
        if isinstance(leaf, NumberTensor):
            specs.append(NumberSpec(leaf.dtype))
            continue
        stop = leaf.stop_gradient if isinstance(leaf, Tensor) else True
        dtype: DType = from_np(leaf._data.dtype if isinstance(leaf, Tensor) else leaf.dtype)
        if given is not None:
            specs.append(InputSpec(given.shape, dtype, given.name, stop))
        elif isinstance(leaf, np.ndarray):
            specs.append(arrays(shape, dtype, None, True))
        else:
            specs.append(InputSpec(shape, dtype, None, stop))
    return specs

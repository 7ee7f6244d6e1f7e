"""How a static function is traced, and what it shows of that: its signature, its converted source, its programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ..convert import Converted, source_of
from ..convert.guards.kinds import facts_of_function
from ..core.pytree import TreeDef
from ..eager.tensor import Tensor
from ..ir.input_spec import InputSpec
from ..runtime.options import ExecutionOptions
from .binding import Binding
from .concrete_program import ConcreteProgram
from .function_spec import FunctionSpec
from .partial_program import PartialProgramLayer
from .program_builder import ProgramBuilder
from .program_cache import CacheInfo, ProgramCache
from .reach import layer_state
from .report import at_border, presented


class Traceable(Binding):
    """A function with the programs that were made of it."""

    def __init__(
        self, function: Callable[..., Any], input_spec: Any, instance: Any, full_graph: bool, options: ExecutionOptions
    ) -> None:
        super().__init__(function, input_spec, instance, full_graph, options)
        self.program_cache = ProgramCache()
        self._facts = facts_of_function(function) if isinstance(function, FunctionType) else None
        self._by_name = dict(self._facts[2] or {}) if self._facts else {}  # that dict can be changed in place
        self._on_failure: Callable[[Exception], None] | None = None

    def renew(self) -> None:
        """Forget the signature and the converted form of the function if its code or defaults were exchanged.

        The programs made of it have guards on those.
        """
        function = self._function
        if isinstance(function, FunctionType):
            facts = facts_of_function(function)
            if facts != self._facts or (facts[2] is not None and not _holds_the_same(facts[2], self._by_name)):
                self._facts, self._by_name = facts, dict(facts[2] or {})
                self.__dict__.pop("function_spec", None)
                self.__dict__.pop("_builder", None)

    @functools.cached_property
    def function_spec(self) -> FunctionSpec:
        """The signature of the function, with the given input_spec."""
        return FunctionSpec(self._eager, self._input_spec)

    @functools.cached_property
    def _builder(self) -> ProgramBuilder:
        """What traces the function. Its parts are compiled in silence: whoever called them warns."""
        warns = self._on_failure is None
        return ProgramBuilder(
            self._eager, self.function_spec, self.program_cache, self._options, warns=warns, is_whole=self._full_graph
        )

    @property
    def converted(self) -> Converted:
        """The function with its control flow converted, bound to the instance."""
        return self._builder.converted

    @property
    @at_border
    def code(self) -> str:
        """The converted source, for reading."""
        return source_of(self.converted)

    def cache_info(self) -> CacheInfo:
        """Hits, misses, limit and number of programs. The programs' keys are `program_cache.keys()`."""
        return self.program_cache.info()

    @property
    @at_border
    def concrete_program(self) -> ConcreteProgram:
        """The program of the last new call signature; built from input_spec when there was no call yet."""
        last = self.program_cache.last()
        if last is None:
            return self.concrete_program_specify_input_spec()
        return last.concrete

    @at_border
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

    @at_border
    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, PartialProgramLayer]:
        """The program of a call with these arguments, tensors or InputSpecs, and what runs it; nothing runs.

        Source: `get_concrete_program` of PaddlePaddle's static functions.
        """
        leaves: list[Any] = []
        tree = self.function_spec.flatten_call(args, kwargs, leaves)
        concrete = self.trace_call(tree, [InputSpec.from_tensor(v) if isinstance(v, Tensor) else v for v in leaves])
        layers = layer_state(self._eager, concrete.layers)
        return concrete, PartialProgramLayer(concrete, layers, options=self._options)

    @property
    def is_property(self) -> bool:
        """Whether it is a value that `jit.save` keeps: False; those of `to_static(property=True)` are no functions."""
        return False

    @property
    def class_instance(self) -> Any:
        """The Layer or object that the function is a method of; None for a plain one."""
        return self._instance

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


def _holds_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two dicts hold the same objects; no `==` of theirs is asked."""
    return one.keys() == other.keys() and all(value is other[name] for name, value in one.items())

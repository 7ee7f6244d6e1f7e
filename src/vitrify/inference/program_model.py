"""What a predictor and its clones share of a model made of operators: the compiled program, and the parameters.

It takes and gives arrays and goes straight to the runtime: nothing here needs Tensors, the tape or converted code, and
most of the time until a first result is what is imported before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..core.blas_threads import blas_threads
from ..core.config import NUM_THREADS
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import grad_enabled, recorder, scoped
from ..core.place import Place, place_guard
from ..ir.model_file import SavedFunction, slots_in
from ..ir.program import Variable
from ..runtime.lowering import InterpreterCore, lower
from ..runtime.options import ExecutionOptions
from ..runtime.warming import run_to_optimize_at
from .config import Config
from .handle import Tensor
from .named import named

_eager = lazy_module("vitrify.eager.tensor")


class ProgramModel:
    """A program with the arrays of its parameters."""

    def __init__(self, config: Config) -> None:
        model, place = config.read_model(), config.place()
        function = model.functions.get("forward")
        if function is None:
            raise ArgumentError(f"the model has no function `forward`, it has {', '.join(model.functions)}")
        block = function.program.global_block()
        self._slots = slots_in(function.output_tree)
        self.inputs = named([spec.name or var.name for spec, var in zip(function.inputs, block.inputs)])
        self.input_metas = [spec.meta for spec in function.inputs]
        variables = [block.inputs[s.index] if s.kind == "input" else block.outputs[s.index] for s in self._slots]
        self.outputs = named([var.name for var in variables if var is not None])
        self.output_metas = [_tensor_meta(var) for var in variables if var is not None]
        self._place = place
        self._threads = config.cpu_math_library_num_threads()
        self._kept = [_placed(model.tensors[name], place) for name in function.tensors]
        self._writes = function.writes
        self._compiled = _Compiled(function, place, config.execution_options())

    def run(self, inputs: Sequence[Tensor]) -> list[Any]:
        """The outputs for what these handles hold, as arrays or, from a GPU, Tensors."""
        given = [handle.content() for handle in inputs]
        limits = NUM_THREADS.scope(self._threads), blas_threads(self._threads)
        with place_guard(self._place), scoped(grad_enabled, False), scoped(recorder, None), limits[0], limits[1]:
            results = self._compiled.run([*given, *self._kept])
        for index, value in zip(self._writes, results[len(results) - len(self._writes) :]):
            if index < len(inputs):
                inputs[index].overwrite(value)
            else:
                self._kept[index - len(inputs)] = value
        return [given[s.index] if s.kind == "input" else results[s.index] for s in self._slots]


class _Compiled:
    """The lowered program: at first as it was recorded, optimized once that pays (`runtime/warming.py`)."""

    def __init__(self, function: SavedFunction, place: Place, options: ExecutionOptions) -> None:
        self._block = function.program.global_block()
        self._outputs = [var for var in self._block.outputs if var is not None]
        self._place = place
        self._options = options
        self._left = run_to_optimize_at(self._block, options)
        self._core = self._lowered(self._left == 0)

    def _lowered(self, passes: bool) -> InterpreterCore:
        options = self._options if passes else replace(self._options, passes=False)
        return lower(self._block, outputs=self._outputs, place=self._place, options=options, label="predictor")

    def run(self, frame: list[Any]) -> list[Any]:
        """The results for arguments and parameters, of which it takes over the list."""
        left = self._left = self._left - 1
        if not left:
            self._core = self._lowered(True)
        return list(self._core.consume(frame))


def _placed(array: Any, place: Place) -> Any:
    return array if place.kind == "cpu" else _eager.wrap(array).to(place)._data


def _tensor_meta(var: Variable) -> Meta:
    if not isinstance(var.meta, Meta):
        raise DTypeError(f"output {var.name!r} is a list of tensors, which a predictor cannot give")
    return var.meta

"""What a predictor and its clones share of a model made of operators: the compiled program, and the parameters."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta
from ..core.modes import grad_enabled, recorder, scoped
from ..core.place import place_guard
from ..eager.tensor import Tensor, wrap
from ..ir.model_file import SavedFunction, Slot, slots_in
from ..ir.program import Variable
from ..jit.load import SavedProgram
from .config import Config
from .handle import Tensor as Handle
from .named import named


class ProgramModel:
    """What a predictor and its clones share: the program, compiled once, and the parameters."""

    def __init__(self, config: Config) -> None:
        model, place = config.read_model(), config.place()
        function = model.functions.get("forward")
        if function is None:
            raise ArgumentError(f"the model has no function `forward`, it has {', '.join(model.functions)}")
        block = function.program.global_block()
        slots = slots_in(function.output_tree)
        self.inputs = named([spec.name or var.name for spec, var in zip(function.inputs, block.inputs)])
        self.input_metas = [spec.meta for spec in function.inputs]
        variables = [block.inputs[s.index] if s.kind == "input" else block.outputs[s.index] for s in slots]
        self.outputs = named([var.name for var in variables if var is not None])
        self.output_metas = [_tensor_meta(var) for var in variables if var is not None]
        flat = SavedFunction(
            function.program,
            function.inputs,
            (tuple(Slot("input", i) for i in range(len(self.inputs))), {}),
            slots,
            function.tensors,
            function.writes,
        )
        self.place = place
        with place_guard(place):
            tensors = {name: wrap(model.tensors[name]).to(place) for name in function.tensors}
        self._program = SavedProgram("forward", flat, tensors, config.execution_options())

    def run(self, inputs: Sequence[Handle]) -> list[Tensor]:
        """The outputs for what these handles hold."""
        with place_guard(self.place), scoped(grad_enabled, False), scoped(recorder, None):
            return list(self._program(*[handle.value() for handle in inputs]))


def _tensor_meta(var: Variable) -> Meta:
    if not isinstance(var.meta, Meta):
        raise DTypeError(f"output {var.name!r} is a list of tensors, which a predictor cannot give")
    return var.meta

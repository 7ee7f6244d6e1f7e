"""What a Model computes in static mode: its batches as runs of programs that are recorded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, UnsupportedError
from ..core.sequences import as_list_if_given
from ..eager.layer import Layer
from ..ir.guard import data, default_main_program, default_startup_program
from ..ir.input_spec import InputSpec
from ..ir.program import Program
from ..runtime.scope import global_scope, read_value, write_value
from ..static.executor import Executor
from ..static.inference import save_inference_model


class ModelPrograms:
    """The programs of one Model, recorded into the default main program, where its parameters are.

    inputs, labels: InputSpecs of a batch. Raises ArgumentError without those of the inputs.
    """

    def __init__(
        self,
        network: Layer,
        inputs: Sequence[InputSpec],
        labels: Sequence[InputSpec],
        optimizer: Any,
        loss: Any,
        metrics: Sequence[Any],
    ) -> None:
        if not inputs:
            raise ArgumentError("Model: in static mode inputs=[InputSpec, ...] must say what a batch holds")
        self._network, self._loss, self._metrics = network, loss, list(metrics)
        self._inputs = [_placeholder(spec, f"input_{i}") for i, spec in enumerate(inputs)]
        self._labels = [_placeholder(spec, f"label_{i}") for i, spec in enumerate(labels)]
        self._executor = Executor()
        main = default_main_program()
        outputs, losses, measured = self._recorded(training=False)
        self._predicted: tuple[Program, list[Any]] = (main.prune(outputs), outputs)
        fetched = [*losses, *measured]
        self._evaluated: tuple[Program, list[Any]] = (main.prune(fetched) if fetched else main, fetched)
        self._trained: tuple[Program, list[Any]] | None = None
        if optimizer is not None and loss is not None:
            _, losses, measured = self._recorded(training=True)
            optimizer.minimize(losses[0] if len(losses) == 1 else sum(losses[1:], losses[0]))
            self._trained = (main, [*losses, *measured])
        self._loss_count = len(losses)
        self._start()

    def _recorded(self, training: bool) -> tuple[list[Any], list[Any], list[Any]]:
        """The outputs, the losses, and what the metrics want to know, as variables."""
        held = [(layer, layer.training) for layer in self._network.sublayers(include_self=True)]
        self._network.train() if training else self._network.eval()
        try:
            outputs = as_list_if_given(self._network(*self._inputs))
            losses = [] if self._loss is None else as_list_if_given(self._loss(*outputs, *self._labels))
            asked = [as_list_if_given(metric.compute(*outputs, *self._labels)) for metric in self._metrics]
        finally:
            for layer, flag in held:
                layer.training = flag
        self._widths = [len(values) for values in asked]
        return outputs, losses, [value for values in asked for value in values]

    def _start(self) -> None:
        """Fill what has no value yet; parameters that were loaded or trained before keep theirs."""
        startup, scope = default_startup_program(), global_scope()
        wanted = {var.name for var in startup.global_block().persistables}
        kept = {name: np.array(read_value(name, scope)) for name in scope.initialized() if name in wanted}
        self._executor.run(startup)
        for name, value in kept.items():
            write_value(name, value, scope)

    def train(self, inputs: Any, labels: Any) -> tuple[list[Any], list[Any]]:
        """Losses, and what each metric makes of the batch, after a step."""
        if self._trained is None:
            raise ArgumentError("Model.train_batch: give prepare an optimizer and a loss first")
        return self._run(self._trained, inputs, labels)

    def evaluate(self, inputs: Any, labels: Any) -> tuple[list[Any], list[Any]]:
        """Losses, and what each metric makes of the batch."""
        return self._run(self._evaluated, inputs, labels)

    def predict(self, inputs: Any) -> list[Any]:
        """The outputs as arrays."""
        program, outputs = self._predicted
        return self._executor.run(program, feed=self._feed(inputs, []), fetch_list=outputs)

    def save(self, path: str) -> None:
        """Write the program for inference."""
        program, outputs = self._predicted
        save_inference_model(path, self._inputs, outputs, self._executor, program=program)

    def _run(self, chosen: tuple[Program, list[Any]], inputs: Any, labels: Any) -> tuple[list[Any], list[Any]]:
        program, fetched = chosen
        found = self._executor.run(program, feed=self._feed(inputs, labels), fetch_list=fetched)
        losses, rest = found[: self._loss_count], found[self._loss_count :]
        results = []
        for metric, width in zip(self._metrics, self._widths):
            results.append(metric.update(*rest[:width]))
            rest = rest[width:]
        return losses, results

    def _feed(self, inputs: Any, labels: Any) -> dict[str, Any]:
        pairs = zip((*self._inputs, *self._labels), (*as_list_if_given(inputs), *as_list_if_given(labels)))
        return {var.name: np.asarray(value).astype(var.dtype.np, copy=False) for var, value in pairs}


def _placeholder(spec: InputSpec, name: str) -> Any:
    """A variable that batches are fed to; one that is there by that name is taken."""
    block = default_main_program().global_block()
    wanted = spec.name or name
    return block.vars[wanted] if wanted in block.vars else data(wanted, spec.shape, spec.dtype)


def parameters_of(network: Layer) -> dict[str, Any]:
    """What the scope holds of the Layer's parameters and buffers, as arrays by their names in it."""
    return {name: var.get_value() for name, var in network.state_dict().items()}


def put_parameters(network: Layer, state: Mapping[str, Any]) -> None:
    """Let the scope hold these values of the Layer's parameters and buffers; other names are passed over."""
    for name, var in network.state_dict().items():
        if name in state:
            var.set_value(np.asarray(state[name]))


def refuse_unlike_static(update: bool, amp: Any) -> None:
    """Raise UnsupportedError for what programs of a Model cannot do."""
    if not update:
        raise UnsupportedError(
            "Model.train_batch: update=False adds up gradients, which programs of static mode do not keep",
            hint="take larger batches, or call paddle.disable_static() first",
        )
    if amp:
        raise UnsupportedError(
            "Model.prepare: amp_configs are for dynamic mode", hint="call paddle.disable_static() first"
        )

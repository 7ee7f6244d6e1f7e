"""Model: a Layer with an optimizer, a loss and metrics, and the loops around them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import jit
from ..amp import GradScaler, auto_cast
from ..core.dispatch import in_dynamic_mode
from ..core.errors import ArgumentError
from ..core.lazy import lazy_module
from ..core.sequences import as_list_if_given
from ..eager.grad_mode import no_grad
from ..eager.layer import Layer
from ..eager.tensor import Tensor, to_tensor
from ..framework.save_load import load, save
from ..io import DataLoader, Dataset
from ..ir.guard import default_main_program
from ..ir.input_spec import InputSpec
from .callbacks import Callback, CallbackList, EarlyStopping, LRScheduler, ModelCheckpoint, ProgBarLogger
from .given import amp_settings, fitting, metrics_of
from .summary import summary

if TYPE_CHECKING:
    from .programs import ModelPrograms

_of_static_mode = lazy_module("vitrify.hapi.programs")

_OF_NO_TRAINING: dict[str, Any] = {"batch_size": None, "epochs": None, "steps": None}
"""What callbacks find in `params` besides, as in Paddle, where nothing is trained."""


def _all_gather(x: Tensor) -> Tensor:
    """What all processes have of `x`, one below the other: there is one. Metrics of model code ask for it here."""
    return x


def _tensors(values: Any) -> list[Any]:
    return [v if isinstance(v, Tensor) else to_tensor(np.asarray(v)) for v in as_list_if_given(values)]


def _arrays(values: Iterable[Any]) -> list[Any]:
    return [v.numpy() for v in values]


def _names(metric: Any) -> list[str]:
    return as_list_if_given(metric.name())


class Model:
    """Trains, evaluates and predicts with `network`. Source: paddle.Model.

    In static mode it records programs, for which `inputs` and `labels` must say what a batch holds.

    inputs, labels: InputSpecs; needed to save for inference without a batch seen before, and where a batch has more
    inputs than `forward` names.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Linear(4, 1)
        >>> model = paddle.Model(net)
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([8, 4]), paddle.zeros([8, 1])])
        >>> model.fit(data, epochs=3, batch_size=4, verbose=0)
        >>> model.evaluate(data, verbose=0)["loss"][0] < 1
        True
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        self.network = network
        self.mode = "train"
        self.stop_training = False
        self._inputs = as_list_if_given(inputs)
        self._labels = as_list_if_given(labels)
        self._seen: list[InputSpec] = []
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Any] = []
        self._amp: dict[str, Any] = {}
        self._scaler: GradScaler | None = None
        self._programs: ModelPrograms | None = None  # of static mode

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Give what training and evaluation need. Source: paddle.Model.prepare.

        amp_configs: a level ("O0", "O1", "O2") or a dict of it and of settings of `auto_cast` and `GradScaler`. Raises
        ArgumentError for a loss that cannot be called, for metrics that are none, and for unknown settings.
        """
        if loss is not None and not callable(loss):
            raise ArgumentError(f"Model.prepare: loss must be a Layer or a function, got {type(loss).__name__}")
        self._amp, scaling = amp_settings(amp_configs)
        self._scaler = GradScaler(**scaling) if self._amp else None
        self._optimizer, self._loss, self._metrics = optimizer, loss, metrics_of(as_list_if_given(metrics))
        self._programs = None

    # --- one batch ---------------------------------------------------------------------------------------------------

    def _outputs_and_losses(self, inputs: Any, labels: Any) -> tuple[list[Any], list[Any], list[Any]]:
        given, wanted = self._given(inputs), _tensors(labels)
        with auto_cast(enable=bool(self._amp), **self._amp):
            outputs = as_list_if_given(self.network(*given))
            losses = [] if self._loss is None else as_list_if_given(self._loss(*outputs, *wanted))
        return outputs, losses, wanted

    def _given(self, inputs: Any) -> list[Any]:
        """The inputs as Tensors; how they look, but for their number, is kept for `save`."""
        found = _tensors(inputs)
        self._seen = [InputSpec([None, *x.shape[1:]], x.dtype) for x in found if x.ndim]
        return found

    def _static(self) -> ModelPrograms:
        """The programs of static mode, recorded at the first batch after `prepare`."""
        _of_static_mode.refuse_unlike_static(True, self._amp)
        if self._programs is None:
            self._programs = _of_static_mode.ModelPrograms(
                self.network, self._inputs, self._labels, self._optimizer, self._loss, self._metrics
            )
        return self._programs

    def _measure(self, outputs: list[Any], labels: list[Any]) -> list[Any]:
        return [m.update(*as_list_if_given(m.compute(*outputs, *labels))) for m in self._metrics]

    def _result(self, losses: list[Any], metrics: list[Any]) -> Any:
        return self._told(_arrays(losses), metrics)

    def _told(self, losses: list[Any], metrics: list[Any]) -> Any:
        return (losses, metrics) if self._metrics else losses

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """The losses of one step, with metrics a pair of losses and metrics. update=False only adds to the gradients.

        Raises ArgumentError before `prepare`. Source: paddle.Model.train_batch.
        """
        if self._optimizer is None or self._loss is None:
            raise ArgumentError("Model.train_batch: give prepare an optimizer and a loss first")
        self.mode = "train"
        if not in_dynamic_mode():
            _of_static_mode.refuse_unlike_static(update, self._amp)
            return self._told(*self._static().train(inputs, labels))
        self.network.train()
        outputs, losses, wanted = self._outputs_and_losses(inputs, labels)
        total = losses[0] if len(losses) == 1 else sum(losses[1:], losses[0])
        (total if self._scaler is None else self._scaler.scale(total)).backward()
        if update:
            if self._scaler is None:
                self._optimizer.step()
            else:
                self._scaler.step(self._optimizer)
                self._scaler.update()
            self._optimizer.clear_grad()
        return self._result(losses, self._measure(outputs, wanted))

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """The losses, with metrics a pair of losses and metrics. Source: paddle.Model.eval_batch."""
        self.mode = "eval"
        if not in_dynamic_mode():
            return self._told(*self._static().evaluate(inputs, labels))
        self.network.eval()
        with no_grad():
            outputs, losses, wanted = self._outputs_and_losses(inputs, labels)
            return self._result(losses, self._measure(outputs, wanted))

    def predict_batch(self, inputs: Any) -> list[Any]:
        """The outputs as arrays. Source: paddle.Model.predict_batch."""
        self.mode = "test"
        if not in_dynamic_mode():
            return self._static().predict(inputs)
        self.network.eval()
        with no_grad():
            return _arrays(as_list_if_given(self.network(*self._given(inputs))))

    # --- loops -------------------------------------------------------------------------------------------------------

    def _input_count(self) -> int:
        if self._inputs:
            return len(self._inputs)
        parameters = inspect.signature(self.network.forward).parameters.values()
        return max(len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]), 1)

    def _split(self, batch: Any) -> tuple[list[Any], list[Any]]:
        items = as_list_if_given(batch)
        count = self._input_count() if len(items) > 1 else 1
        return items[:count], items[count:]

    def _loss_names(self) -> list[str]:
        return ["loss"] if self._loss is not None else []

    def _metric_names(self) -> list[str]:
        return self._loss_names() + [name for metric in self._metrics for name in _names(metric)]

    def _logs(self, result: Any) -> dict[str, Any]:
        """What is told of a batch: its losses, and what the metrics say of all batches since they were reset."""
        losses = result[0] if self._metrics else result
        logs: dict[str, Any] = {"loss": [float(np.mean(v)) for v in losses]} if self._loss is not None else {}
        for metric in self._metrics:
            logs.update(zip(_names(metric), as_list_if_given(metric.accumulate())))
        return logs

    def _loader(self, data: Any, **settings: Any) -> Any:
        return DataLoader(data, **settings) if isinstance(data, Dataset) else data

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train for some epochs, evaluating after every eval_freq of them. Source: paddle.Model.fit.

        train_data, eval_data: Datasets, or loaders that give batches. num_iters: how many steps there are, in place of
        `epochs`. Raises ArgumentError without train_data, or for a num_iters that is not positive.
        """
        if train_data is None:
            raise ArgumentError("Model.fit: train_data is missing")
        _need_steps("fit", num_iters)
        sizes = batch_size if isinstance(batch_size, (list, tuple)) else (batch_size, batch_size)
        loader = self._loader(
            train_data, batch_size=sizes[0], shuffle=shuffle, drop_last=drop_last, num_workers=num_workers
        )  # fmt: skip
        steps = _length(loader)
        if num_iters is not None:
            epochs = -(-num_iters // steps) if steps else epochs
            steps = min(num_iters, steps or num_iters)
        params: dict[str, Any] = {"metrics": self._metric_names(), "batch_size": sizes[0], "epochs": epochs}
        params |= {"steps": steps, "verbose": verbose}
        calls = self._callbacks(callbacks, params, log_freq, verbose, save_freq, save_dir)
        logs: dict[str, Any] = {}
        self.stop_training, left = False, num_iters
        calls.call("on_train_begin", None)
        for epoch in range(epochs):
            calls.call("on_epoch_begin", epoch, None)
            logs, done = self._run("train", loader, calls, left, accumulate_grad_batches)
            left = None if left is None else left - done
            calls.call("on_epoch_end", epoch, logs)
            if eval_data is not None and epoch % eval_freq == 0:
                self._evaluate(self._loader(eval_data, batch_size=sizes[1], num_workers=num_workers), calls, None)
            if self.stop_training or left == 0:
                break
        calls.call("on_train_end", logs)

    def _run(
        self, mode: str, loader: Any, calls: CallbackList, limit: int | None, accumulate: int = 1
    ) -> tuple[dict[str, Any], int]:
        """Losses and metrics after the batches of the loader, and how many there were."""
        logs: dict[str, Any] = {}
        done = samples = size = 0
        for metric in self._metrics:
            metric.reset()
        steps = _length(loader)
        for step, batch in enumerate(loader):
            if limit is not None and step >= limit:
                break
            calls.call(f"on_{mode}_batch_begin", step, logs)
            inputs, labels = self._split(batch)
            if mode == "train":
                last = step + 1 in (steps, limit)
                result = self.train_batch(inputs, labels, update=(step + 1) % accumulate == 0 or last)
            else:
                result = self.eval_batch(inputs, labels)
            done, size = step + 1, len(inputs[0])
            samples += size
            logs = {**self._logs(result), "step": step, "batch_size": size}
            calls.call(f"on_{mode}_batch_end", step, logs)
        return {**logs, "samples": samples}, done

    def _evaluate(self, loader: Any, calls: CallbackList, limit: int | None) -> dict[str, Any]:
        steps = _length(loader)
        steps = steps if limit is None else min(limit, steps or limit)
        calls.call("on_eval_begin", {"steps": steps, "metrics": self._metric_names()})
        logs, _ = self._run("eval", loader, calls, limit)
        calls.call("on_eval_end", logs)
        return {name: logs[name] for name in self._metric_names() if name in logs}

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The last loss and the metrics over eval_data, or num_iters of its batches, by name.

        Raises ArgumentError for a num_iters that is not positive. Source: paddle.Model.evaluate.
        """
        _need_steps("evaluate", num_iters)
        loader = self._loader(eval_data, batch_size=batch_size, num_workers=num_workers)
        params = _OF_NO_TRAINING | {"verbose": verbose, "metrics": self._metric_names()}
        return self._evaluate(loader, self._callbacks(callbacks, params, log_freq, verbose), num_iters)

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """For each output of the network the arrays of all batches, as one array with stack_outputs.

        Source: paddle.Model.predict.
        """
        loader = self._loader(test_data, batch_size=batch_size, num_workers=num_workers)
        calls = self._callbacks(callbacks, _OF_NO_TRAINING | {"verbose": verbose, "metrics": []}, 1, verbose)
        calls.call("on_predict_begin", {"steps": _length(loader)})
        batches, samples = [], 0
        for step, batch in enumerate(loader):
            calls.call("on_predict_batch_begin", step, {})
            inputs, _ = self._split(batch)
            batches.append(self.predict_batch(inputs))
            samples += len(inputs[0])
            calls.call("on_predict_batch_end", step, {"step": step, "batch_size": len(inputs[0])})
        calls.call("on_predict_end", {"samples": samples})
        outputs = list(zip(*batches))
        return [np.concatenate(arrays) for arrays in outputs] if stack_outputs else outputs

    def _callbacks(
        self,
        given: Any,
        params: dict[str, Any],
        log_freq: int,
        verbose: int,
        save_freq: int = 1,
        save_dir: str | None = None,
    ) -> CallbackList:
        """The callbacks given, with those that are always there in front."""
        own: list[Callback] = as_list_if_given(given)
        kinds = {type(callback) for callback in own}
        front: list[Callback] = []
        if verbose and ProgBarLogger not in kinds:
            front.append(ProgBarLogger(log_freq, verbose))
        if LRScheduler not in kinds:
            front.append(LRScheduler())
        if save_dir is not None and ModelCheckpoint not in kinds:
            own = [*own, ModelCheckpoint(save_freq, save_dir)]
        for callback in own:
            if isinstance(callback, EarlyStopping):
                callback.save_dir = save_dir
        return CallbackList([*front, *own], self, params)

    # --- the rest ----------------------------------------------------------------------------------------------------

    def save(self, path: str, training: bool = True) -> None:
        """Write `path.pdparams` and `path.pdopt`; with training=False a program for inference.

        The program takes `inputs`, or such as the last batch had. Raises ArgumentError where there was neither.
        Source: paddle.Model.save.
        """
        if not training and not in_dynamic_mode():
            self._static().save(path)
            return
        if not training:
            specs = self._inputs or self._seen
            if not specs:
                raise ArgumentError("Model.save: a program for inference needs Model(network, inputs=[InputSpec, ...])")
            jit.save(self.network, path, input_spec=specs)
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if not in_dynamic_mode():
            self._static()
            save(_of_static_mode.parameters_of(self.network), f"{path}.pdparams")
            save(default_main_program().state_dict("opt"), f"{path}.pdopt")
            return
        save(self.network.state_dict(), f"{path}.pdparams")
        if self._optimizer is not None and (state := self._optimizer.state_dict()):
            save(state, f"{path}.pdopt")

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Read what `save` wrote. Source: paddle.Model.load.

        Raises ArgumentError where a parameter lacks or has another shape; with skip_mismatch it stays as it is.
        """
        state = load(f"{path.removesuffix('.pdparams')}.pdparams")
        fits = fitting(self.network, state, skip_mismatch)
        optimizer = Path(path.removesuffix(".pdparams") + ".pdopt")
        if not in_dynamic_mode():
            self._static()
            _of_static_mode.put_parameters(self.network, fits)
            if not reset_optimizer and optimizer.exists():
                default_main_program().set_state_dict(load(str(optimizer)))
            return
        self.network.set_state_dict(state)  # which warns of the others
        if self._optimizer is not None and not reset_optimizer and optimizer.exists():
            self._optimizer.set_state_dict(load(str(optimizer)))

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network. Source: paddle.Model.parameters."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """`paddle.summary` of the network, for the `inputs` it was made with unless a size is given."""
        return summary(self.network, input_size or self._inputs, dtype)


def _need_steps(method: str, num_iters: int | None) -> None:
    if num_iters is not None and num_iters <= 0:
        raise ArgumentError(f"Model.{method}: num_iters must be greater than 0, got {num_iters}")


def _length(loader: Any) -> int | None:
    try:
        return len(loader)
    except TypeError:  # an IterableDataset, or a generator
        return None


__all__ = ["Model"]

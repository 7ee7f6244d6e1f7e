"""`paddle.callbacks`: what a Model calls while it trains, evaluates and predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.lazy import require
from ..optimizer.lr import LRScheduler as Schedule
from .progress import Progress


class Callback:
    """Methods that a Model calls at each point, here all empty. Source: paddle.callbacks.Callback.

    `model` is the Model, `params` what it was called with: batch_size, epochs, steps, verbose, metrics.

    Example:
        >>> import vitrify as paddle
        >>> class Losses(paddle.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print(epoch, sorted(logs))
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> model.fit(data, batch_size=2, verbose=0, callbacks=[Losses()])
        0 ['batch_size', 'loss', 'samples', 'step']
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Take what the Model was called with."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the Model."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before training."""

    def on_train_end(self, logs: Any = None) -> None:
        """After training."""

    def on_eval_begin(self, logs: Any = None) -> None:
        """Before evaluation."""

    def on_eval_end(self, logs: Any = None) -> None:
        """After evaluation; logs has loss and metrics."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch; logs has loss and metrics of training."""

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a training step."""

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """After a training step."""

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before an evaluation step."""

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """After an evaluation step."""

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a prediction step."""

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """After a prediction step."""


class CallbackList:
    """Several callbacks, called in order."""

    def __init__(self, callbacks: Sequence[Callback], model: Any, params: dict[str, Any]) -> None:
        self.callbacks = list(callbacks)
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def call(self, name: str, *args: Any) -> None:
        """Call the method `name` of each."""
        for callback in self.callbacks:
            getattr(callback, name)(*args)


class ProgBarLogger(Callback):
    """Shows loss, metrics and time. Source: paddle.callbacks.ProgBarLogger.

    log_freq: every how many steps. verbose: 0 nothing, 1 one line that moves, 2 a line each.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> model.fit(data, verbose=0, callbacks=[paddle.callbacks.ProgBarLogger(log_freq=10, verbose=0)])
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq = log_freq
        self.verbose = verbose
        self._progress: Progress | None = None
        self._done = 0

    def _begin(self, steps: int | None) -> None:
        self._progress, self._done = Progress(steps, self.verbose), 0

    def _values(self, logs: Any) -> dict[str, Any]:
        wanted = self.params.get("metrics", [])
        return {name: logs[name] for name in wanted if name in logs}

    def _step(self, step: int, logs: Any) -> None:
        self._done = step + 1
        progress = self._progress
        if self.verbose and progress is not None and self._done != progress.steps and self._done % self.log_freq == 0:
            progress.show(self._done, self._values(logs))

    def _finish(self, logs: Any) -> None:
        if self.verbose and self._progress is not None and self._done:
            self._progress.show(self._done, self._values(logs), last=True)

    def on_train_begin(self, logs: Any = None) -> None:
        """Say what the numbers are."""
        if self.verbose:
            print(
                "The loss value printed in the log is the current step, "
                "and the metric is the average value of previous steps."
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Name the epoch."""
        if self.verbose and self.params.get("epochs"):
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self._begin(self.params.get("steps"))

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Show the step."""
        self._step(step, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Show the last step."""
        self._finish(logs)

    def on_eval_begin(self, logs: Any = None) -> None:
        """Say that evaluation begins."""
        if self.verbose:
            print("Eval begin...")
        self._begin((logs or {}).get("steps"))

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """Show the step."""
        self._step(step, logs)

    def on_eval_end(self, logs: Any = None) -> None:
        """Show the last step and how many samples there were."""
        self._finish(logs)
        if self.verbose:
            print(f"Eval samples: {(logs or {}).get('samples', 0)}")

    def on_predict_begin(self, logs: Any = None) -> None:
        """Say that prediction begins."""
        if self.verbose:
            print("Predict begin...")
        self._begin((logs or {}).get("steps"))

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """Show the step."""
        self._step(step, {})

    def on_predict_end(self, logs: Any = None) -> None:
        """Show the last step and how many samples there were."""
        self._finish({})
        if self.verbose:
            print(f"Predict samples: {(logs or {}).get('samples', 0)}")


class ModelCheckpoint(Callback):
    """Saves the Model as `save_dir/<epoch>` every save_freq epochs, and as `final`.

    Source: paddle.callbacks.ModelCheckpoint.

    Example:
        >>> import vitrify as paddle
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> model.fit(data, epochs=2, verbose=0, callbacks=[paddle.callbacks.ModelCheckpoint(save_dir=folder)])
        save checkpoint at .../0
        save checkpoint at .../1
        save checkpoint at .../final
        >>> sorted(os.listdir(folder))
        ['0.pdparams', '1.pdparams', 'final.pdparams']
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        self.save_freq = save_freq
        self.save_dir = save_dir

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save, if it is this epoch's turn."""
        if self.save_dir is not None and epoch % self.save_freq == 0:
            self._save(self.save_dir, str(epoch))

    def on_train_end(self, logs: Any = None) -> None:
        """Save as `final`."""
        if self.save_dir is not None:
            self._save(self.save_dir, "final")

    def _save(self, folder: str, name: str) -> None:
        path = str(Path(folder) / name)
        print(f"save checkpoint at {path}")
        self.model.save(path)


class LRScheduler(Callback):
    """Steps the optimizer's learning rate schedule after each batch, or each epoch.

    Raises ArgumentError for both. Source: paddle.callbacks.LRScheduler.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> rate = paddle.optimizer.lr.StepDecay(0.1, step_size=1, gamma=0.5)
        >>> model.prepare(paddle.optimizer.SGD(rate, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> by_epoch = paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)
        >>> model.fit(data, epochs=2, verbose=0, callbacks=[by_epoch])
        >>> rate()
        0.025
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise ArgumentError("LRScheduler: by_step and by_epoch exclude each other")
        self.by_step = by_step
        self.by_epoch = by_epoch

    def _advance(self) -> None:
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, Schedule):
            rate.step()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Step, if by batch."""
        if self.by_step:
            self._advance()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Step, if by epoch."""
        if self.by_epoch:
            self._advance()


class _Monitor(Callback):
    """Watches one value of evaluations; `better` says whether a value beats another by min_delta."""

    def __init__(self, monitor: str, mode: str, patience: int, verbose: int, min_delta: float) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__}: mode must be auto, min or max, got {mode!r}: auto", stacklevel=3)
            mode = "auto"
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.min_delta = abs(min_delta)
        rising = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.better: Callable[[float, float], bool] = (
            (lambda new, old: new > old + self.min_delta) if rising else (lambda new, old: new < old - self.min_delta)
        )
        self.worst = -np.inf if rising else np.inf
        self.evaluations = 0

    def _tell(self, what: str) -> None:
        if self.verbose:
            print(f"Epoch {self.evaluations}: {what}")

    def _current(self, logs: Any) -> float | None:
        value = (logs or {}).get(self.monitor)
        if value is None:
            return None
        self.evaluations += 1
        return float(np.ravel(value)[0])


class EarlyStopping(_Monitor):
    """Stops training when `monitor` of the evaluations has not become better for `patience` of them; 0: at the first.

    baseline: what it has to beat at first. save_best_model: save as `best_model` where `fit` saves.
    Source: paddle.callbacks.EarlyStopping.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(0.0, parameters=model.parameters()), paddle.nn.MSELoss())
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> stop = paddle.callbacks.EarlyStopping("loss", patience=1, verbose=0, save_best_model=False)
        >>> model.fit(data, data, epochs=10, verbose=0, callbacks=[stop])
        >>> stop.wait_epoch, model.stop_training
        (1, True)
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__(monitor, mode, patience, verbose, min_delta)
        self.baseline = baseline
        self.save_best_model = save_best_model
        self.save_dir: str | None = None
        self.wait_epoch = self.stopped_epoch = 0
        self.best_value = self.worst

    def on_train_begin(self, logs: Any = None) -> None:
        """Start anew."""
        self.wait_epoch = self.evaluations = 0
        self.best_value = self.worst if self.baseline is None else self.baseline

    def on_eval_end(self, logs: Any = None) -> None:
        """Compare, and stop if it has been long enough."""
        current = self._current(logs)
        if current is None:
            return
        if self.better(current, self.best_value):
            self.best_value, self.wait_epoch = current, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(str(Path(self.save_dir) / "best_model"))
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training, self.stopped_epoch = True, self.evaluations
            self._tell("Early stopping.")
            if self.verbose and self.save_best_model and self.save_dir is not None:
                print(f"Best checkpoint has been saved at {Path(self.save_dir) / 'best_model'}")


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by `factor` when `monitor` has not become better for `patience` evaluations.

    cooldown: evaluations to wait afterwards. Source: paddle.callbacks.ReduceLROnPlateau.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        >>> model.prepare(optimizer, paddle.nn.MSELoss())
        >>> callback = paddle.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=100.0, verbose=0)
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> model.fit(data, data, epochs=3, verbose=0, callbacks=[callback])
        >>> optimizer.get_lr()
        0.025
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, patience, verbose, min_delta)
        if factor >= 1:
            raise ArgumentError(f"ReduceLROnPlateau: factor must be below 1, got {factor}")
        self.factor = factor
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.cooldown_counter = self.wait = 0
        self.best = self.worst

    def on_train_begin(self, logs: Any = None) -> None:
        """Start anew."""
        self.cooldown_counter, self.wait, self.evaluations, self.best = 0, 0, 0, self.worst

    def on_eval_end(self, logs: Any = None) -> None:
        """Compare, and lower the rate if it has been long enough."""
        current = self._current(logs)
        if current is None:
            return
        if self.cooldown_counter:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self.better(current, self.best):
            self.best, self.wait = current, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience:
                self._lower()

    def _lower(self) -> None:
        optimizer = self.model._optimizer
        old = float(optimizer.get_lr())
        if old <= self.min_lr or isinstance(optimizer._learning_rate, Schedule):
            return
        new = max(old * self.factor, self.min_lr)
        optimizer.set_lr(new)
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose:
            print()  # the bar that shows progress may be on this line
        self._tell(f"ReduceLROnPlateau reducing learning rate to {new:g}.")


class VisualDL(Callback):
    """Writes loss and metrics as TensorBoard event files to log_dir, by the package tensorboardX.

    Source: paddle.callbacks.VisualDL.

    Example:
        >>> import vitrify as paddle
        >>> from importlib.util import find_spec
        >>> if find_spec("tensorboardX"):
        ...     callback = paddle.callbacks.VisualDL("/tmp/vitrify_runs")
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._steps = {"train": 0, "eval": 0}
        self._writer: Any = None

    def _write(self, mode: str, logs: Any) -> None:
        if self._writer is None:
            package = require("tensorboardX", extra="tensorboard", purpose="callbacks.VisualDL")
            self._writer = package.SummaryWriter(self.log_dir)
        self._steps[mode] += 1
        for name in self.params.get("metrics", []):
            if name in (logs or {}):
                self._writer.add_scalar(f"{mode}/{name}", float(np.ravel(logs[name])[0]), self._steps[mode])

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Write the values of the step."""
        self._write("train", logs)

    def on_eval_end(self, logs: Any = None) -> None:
        """Write the values of the evaluation."""
        self._write("eval", logs)

    def on_train_end(self, logs: Any = None) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger", "ReduceLROnPlateau", "VisualDL",
]  # fmt: skip

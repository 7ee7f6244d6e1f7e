"""The callback that sends losses and metrics to Weights & Biases."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.lazy import require
from .callbacks import Callback


class WandbCallback(Callback):
    """Logs loss and metrics by the package wandb, whose `init` gets the arguments.

    The run is made at the first value; one that is there already is used and left open. Raises MissingPackageError
    without wandb. Source: paddle.callbacks.WandbCallback.

    Example:
        >>> import vitrify as paddle
        >>> from importlib.util import find_spec
        >>> if find_spec("wandb"):
        ...     callback = paddle.callbacks.WandbCallback(project="digits", mode="offline")
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.wandb = require("wandb", extra="wandb", purpose="callbacks.WandbCallback")
        self.wandb_args = {
            "project": project, "entity": entity, "name": name, "dir": dir, "mode": mode, "job_type": job_type, **kwargs
        }  # fmt: skip
        self._own = False
        self._steps = {"train": 0, "eval": 0}

    @property
    def run(self) -> Any:
        """The run of wandb, made when first asked for."""
        if self.wandb.run is None:
            self.wandb.init(**self.wandb_args)
            self._own = True
        return self.wandb.run

    def _write(self, mode: str, logs: Any) -> None:
        self._steps[mode] += 1
        values = {
            f"{mode}/{name}": float(np.ravel(logs[name])[0]) for name in self.params.get("metrics", []) if name in logs
        }
        self.run.log({**values, f"{mode}/step": self._steps[mode]})

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Send the values of the step."""
        self._write("train", logs or {})

    def on_eval_end(self, logs: Any = None) -> None:
        """Send the values of the evaluation."""
        self._write("eval", logs or {})

    def on_train_end(self, logs: Any = None) -> None:
        """End the run, if it was made here."""
        if self._own:
            self.run.finish()
            self._own = False

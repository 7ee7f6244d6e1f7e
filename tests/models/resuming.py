"""Training that stops and goes on elsewhere: what a checkpoint holds is all that a new process knows.

python -m tests.models.resuming MODEL FOLDER

goes on from the checkpoints that `stopped` left in FOLDER, once for each way, and writes what came of it.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import vitrify as paddle
from tests.models.case import Case, tensors
from tests.models.checks import as_it_is, batch, built, compiled
from tests.models.zoo import all_cases

STEPS = 3  # before the checkpoint, and as many behind it
# how steps run, and which of the two formats their checkpoints have
WAYS: dict[str, tuple[Callable[..., Any], str]] = {"eager": (as_it_is, "vitrify"), "compiled": (compiled, "paddle")}


def scheduled(case: Case, model: Any, compiler: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a step of (inputs, labels), all of it the compiler's: the rate changes, gradients are clipped."""
    schedule = paddle.optimizer.lr.StepDecay(case.rate, step_size=2, gamma=0.5)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(learning_rate=schedule, parameters=model.parameters(), grad_clip=clip)

    def update(inputs, labels):
        loss = case.loss(model(*inputs), *labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        schedule.step()
        return loss

    return compiler(update)


class Training:
    """A model with its step, and what both hold between two steps."""

    def __init__(self, case: Case, way: str, folder: Path) -> None:
        self.compiler, self.format = WAYS[way]
        self.case, self.folder = case, folder / way
        with paddle.utils.unique_name.guard():
            self.model = built(case)
            self.step = (case.trainer or scheduled)(case, self.model, self.compiler)
        held = inspect.getclosurevars(getattr(self.step, "dygraph_function", self.step)).nonlocals.values()
        self.optimizers = [value for value in held if isinstance(value, paddle.optimizer.Optimizer)]
        self.generators = [value for value in held if isinstance(value, np.random.Generator)]
        assert self.optimizers

    def run(self, first: int) -> dict[str, np.ndarray]:
        """Do the steps from number `first` on; return their losses and what the model's state is then."""
        losses = []
        for number in range(first, first + STEPS):
            paddle.seed(20 + number)
            inputs, labels = batch(self.case, self.case.sizes[0], seed=number)
            losses.append(float(self.step(tensors(inputs), tensors(labels))))
        found = {name: np.array(value.numpy()) for name, value in self.model.state_dict().items()}
        return {"losses": np.array(losses), "rates": np.array([o.get_lr() for o in self.optimizers]), **found}

    def save(self) -> None:
        """Write the checkpoint."""
        self.folder.mkdir(parents=True)
        paddle.save(self.model.state_dict(), str(self.folder / "model.pdparams"), format=self.format)
        for number, optimizer in enumerate(self.optimizers):
            paddle.save(optimizer.state_dict(), str(self.folder / f"{number}.pdopt"), format=self.format)
        states = [generator.bit_generator.state for generator in self.generators]
        (self.folder / "generators.json").write_text(json.dumps(states))

    def load(self) -> None:
        """Take over the checkpoint."""
        self.model.set_state_dict(paddle.load(str(self.folder / "model.pdparams")))
        for number, optimizer in enumerate(self.optimizers):
            optimizer.set_state_dict(paddle.load(str(self.folder / f"{number}.pdopt")))
        states = json.loads((self.folder / "generators.json").read_text())
        for generator, state in zip(self.generators, states):
            generator.bit_generator.state = state


def stopped(case: Case, way: str, folder: Path) -> dict[str, np.ndarray]:
    """Train, write a checkpoint, train on; return what the steps behind the checkpoint gave."""
    training = Training(case, way, folder)
    training.run(0)
    training.save()
    return training.run(STEPS)


def main(name: str, folder: str) -> None:
    """Go on from each checkpoint of the model of this name."""
    case = next(case for case in all_cases() if case.name == name)
    for way in WAYS:
        training = Training(case, way, Path(folder))
        training.load()
        np.savez(training.folder / "resumed.npz", **training.run(STEPS))


if __name__ == "__main__":
    main(*sys.argv[1:])

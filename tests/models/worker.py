"""Runs the models eagerly in one framework and writes what they gave.

    python -m tests.models.worker paddle OUT.npz STATES.npz

Where STATES is there, the parameters and buffers come from it; else they are as made, and written to it.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.comparison.worker import pretend

RATES = ("p", "dropout", "dropout_rate", "_dropout_rate", "act_dropout", "drop_prob")


def without_chance(model: Any) -> Any:
    """Return the model with every rate of dropout set to zero: frameworks draw different numbers."""
    for layer in model.sublayers(include_self=True):
        for name in RATES:
            if isinstance(vars(layer).get(name), float):
                vars(layer)[name] = 0.0
    return model


def results(case: Any, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what a model gave, by name; `state` is what it starts from, filled where it is empty."""
    checks = import_module("tests.models.checks")
    found: dict[str, np.ndarray] = {}
    for part in (forward_and_backward, training, methods):
        model = without_chance(checks.built(case))
        if not state:
            state.update((name, np.array(value.numpy())) for name, value in model.state_dict().items())
        missing, unexpected = model.set_state_dict(state)
        if missing or unexpected:
            raise KeyError(f"other state: missing {missing}, unexpected {unexpected}")
        found.update(part(checks, case, model))
    found["parameters"] = np.array(sum(int(np.prod(p.shape)) for p in model.parameters()))
    return found


def forward_and_backward(checks: Any, case: Any, model: Any) -> dict[str, np.ndarray]:
    """Return outputs in both modes, loss, gradients and buffers."""
    inputs, _ = checks.batch(case, case.sizes[0])
    held = {f"buffer {name}" for name in model.state_dict()}  # the others are a framework's own
    values = checks.observed(case, model, model, case.sizes[0]).values
    found = {name: value for name, value in values.items() if not name.startswith("buffer") or name in held}
    found.update((f"output {i}", value) for i, value in enumerate(checks.outputs_of(model, inputs)))
    model.eval()
    found.update((f"evaluation {i}", value) for i, value in enumerate(checks.outputs_of(model, inputs)))
    return found


def training(checks: Any, case: Any, model: Any) -> dict[str, np.ndarray]:
    """Return the losses of the first steps."""
    return {"losses": np.array(checks.curve(case, model, checks.as_it_is, case.steps), "float32")}


def methods(checks: Any, case: Any, model: Any) -> dict[str, np.ndarray]:
    """Return what the other methods gave, but those that draw random numbers."""
    model.eval()
    found = {}
    for call in case.calls:
        if not call.random:
            result = checks.called(call, getattr(model, call.method), case.sizes[0]).result
            found.update((f"{call.method} {i}", value) for i, value in enumerate(arrays_in(result)))
    return found


def arrays_in(result: Any) -> list[np.ndarray]:
    """Return the arrays of copied content, in order."""
    if hasattr(result, "children"):
        return [array for _, child in result.children for array in arrays_in(child)]
    return [result.value] if hasattr(result, "value") else []


def main(framework: str, out: str, states: str, *only: str) -> None:
    """Run every model, or those named, and write the files."""
    warnings.simplefilter("ignore")
    pretend(framework)
    known = np.load(states) if Path(states).exists() else None
    found: dict[str, np.ndarray] = {"version": np.array(import_module("vitrify").__version__)}
    made: dict[str, np.ndarray] = {}
    for case in import_module("tests.models.zoo").all_cases():
        if only and case.name not in only:
            continue
        head = f"{case.name}/"
        state = {} if known is None else {k.removeprefix(head): known[k] for k in known.files if k.startswith(head)}
        try:
            found.update((head + name, value) for name, value in results(case, state).items())
        except Exception as err:  # noqa: BLE001 - whatever it is, this model does not run here
            found[head + "error"] = np.array(f"{type(err).__name__}: {err}")
            traceback.print_exc()
        made.update((head + name, value) for name, value in state.items())
    np.savez(out, **found)
    if known is None:
        np.savez(states, **made)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Models written in every format, with inputs and what they should give: one folder each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import vitrify as paddle
from tests.models.case import Case
from tests.models.checks import built, outputs_of
from vitrify.aot.files import library_suffix

ENDINGS = {"own": ".vtmodel", "paddle3": ".json", "paddle": ".pdmodel", "onnx": ".onnx", "native": library_suffix()}
"""The formats, and the ending of the file that holds the program."""
_FORMATS = {"own": "vitrify"}


@dataclass
class Written:
    """A model's folder: for each format that was written its file, else why not."""

    name: str
    folder: Path
    outputs: list[np.ndarray]
    refused: dict[str, str] = field(default_factory=dict)
    of_one_size: str = ""
    """Why the native program takes the inputs' sizes alone."""

    def file(self, kind: str) -> Path:
        """Where the model lies in a format."""
        return self.folder / f"{kind}{ENDINGS[kind]}"

    def inputs(self) -> list[np.ndarray]:
        """What the model is run with."""
        held = np.load(self.folder / "inputs.npz")
        return [held[f"x{i}"] for i in range(len(held.files))]


def specs_of(arrays: Sequence[np.ndarray], shapes: Sequence[Sequence[int | None]]) -> list[Any]:
    """Specs of these shapes, with names by number."""
    return [
        paddle.static.InputSpec(list(shape), str(array.dtype), f"x{i}")
        for i, (array, shape) in enumerate(zip(arrays, shapes))
    ]


def write(name: str, layer: Any, specs: Sequence[Any], arrays: Sequence[np.ndarray], folder: Path) -> Written:
    """Save a Layer or function in every format."""
    folder.mkdir(parents=True)
    np.savez(folder / "inputs.npz", **{f"x{i}": array for i, array in enumerate(arrays)})
    with paddle.no_grad():
        made = Written(name, folder, outputs_of(layer, tuple(arrays)))
    for kind in ENDINGS:
        try:
            paddle.jit.save(layer, folder / kind, input_spec=list(specs), **_format(kind))
        except paddle.core.errors.UnsupportedError as err:
            made.refused[kind] = err.message
    if "native" in made.refused or not _runs(made):
        _write_native_of_one_size(made, layer, arrays)
    return made


def _runs(made: Written) -> bool:
    """Whether the native program takes the inputs: sizes at the same axis are one size there."""
    try:
        paddle.aot.load(made.file("native"))(*made.inputs())
    except paddle.core.errors.ShapeError as err:
        made.refused["native"] = err.message
    return "native" not in made.refused


def _write_native_of_one_size(made: Written, layer: Any, arrays: Sequence[np.ndarray]) -> None:
    """Save the native program with the inputs' own sizes, where it has none with open ones."""
    try:
        specs = specs_of(arrays, [array.shape for array in arrays])
        paddle.jit.save(layer, made.folder / "native", input_spec=specs, format="native")
    except paddle.core.errors.UnsupportedError as err:
        made.refused["native"] = err.message
    else:
        made.of_one_size = made.refused.pop("native")


def _format(kind: str) -> dict[str, Any]:
    return {"format": _FORMATS.get(kind, kind), **({"opset_version": 18} if kind == "onnx" else {})}


def write_case(case: Case, folder: Path) -> list[Written]:
    """Save a model of tests/models and its other methods, but those that draw random numbers."""
    model = built(case)
    model.eval()
    arrays = case.inputs(np.random.default_rng(0), case.sizes[0])
    found = [write(case.name, model, specs_of(arrays, case.shapes()), arrays, folder / "forward")]
    for call in case.calls:
        given = call.inputs(np.random.default_rng(1), case.sizes[0])
        if not call.random and all(isinstance(value, np.ndarray) for value in given):
            function = _method(model, call.method, dict(call.options))
            specs = specs_of(given, [value.shape for value in given])
            found.append(write(f"{case.name}: {call.method}", function, specs, given, folder / call.method))
    return found


def _method(model: Any, name: str, options: dict[str, Any]) -> Callable[..., Any]:
    method = getattr(model, name)

    def function(*args: Any) -> Any:
        return method(*args, **options)

    return function

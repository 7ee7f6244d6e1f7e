"""`vitrify convert`: a model in another format."""

from __future__ import annotations

import argparse
import os

from ..aot.files import library_suffix
from ..core.errors import ArgumentError
from ..core.lazy import lazy_module
from ..ir.model_file import ModelFile, write_model
from ..ir.model_formats import read_any_model
from .progress import stage

_jit = lazy_module("vitrify.jit")  # Layers, which our own format does without

# The format that a file's ending says, and the files that it consists of.
_FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    ".vtmodel": ("vitrify", (".vtmodel", ".vtparams")),
    ".json": ("paddle3", (".json", ".pdiparams")),
    ".pdmodel": ("paddle", (".pdmodel", ".pdiparams")),
    ".onnx": ("onnx", (".onnx",)),
    library_suffix(): ("native", (library_suffix(), ".h", ".o")),
}


def main(given: argparse.Namespace) -> int:
    """Write the model to the target."""
    prefix, ending = os.path.splitext(given.target)
    if ending not in _FORMATS:
        raise ArgumentError(f"{given.target!r} ends in none of {', '.join(_FORMATS)}")
    name, endings = _FORMATS[ending]
    there = [prefix + e for e in endings if os.path.exists(prefix + e)]
    if there and not given.force:
        raise ArgumentError(f"{', '.join(there)} is there already", hint="--force replaces it")
    with stage(f"reading {given.model}"):
        model = read_any_model(given.model)
    with stage(f"writing {given.target}"):
        _write(model, name, prefix)
    for file in endings:
        if os.path.exists(prefix + file):
            print(f"{prefix + file}: {os.path.getsize(prefix + file):,} bytes")
    return 0


def _write(model: ModelFile, name: str, prefix: str) -> None:
    if name == "vitrify":
        write_model(prefix, model)
    else:
        _jit.save(_jit.TranslatedLayer(model), prefix, format=name)

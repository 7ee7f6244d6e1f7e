"""`vitrify show`: what a model takes, gives and holds."""

from __future__ import annotations

import argparse
import os
from collections import Counter

from ..aot.files import native_file
from ..aot.loading import NativeModel, load
from ..core.size_text import size_text
from ..ir.model_file import ModelFile, SavedFunction, slots_in
from ..ir.model_formats import READERS, read_any_model
from . import arithmetic


def main(given: argparse.Namespace) -> int:
    """Print the model's functions and tensors, or its programs."""
    native = None if given.program else native_model(given.model)
    if native is not None:
        print(text_of_native(*native))
        return 0
    model = read_any_model(given.model, mapped=True)
    if given.program:
        for name, function in model.functions.items():
            print(f"# {name}\n{function.program}")
    else:
        print(text_of(model))
        if "forward" in model.functions:
            print("\n" + "\n".join(arithmetic.text_of(given.model, given)))
    return 0


def native_model(path: str) -> tuple[str, NativeModel] | None:
    """The file and the functions of a native program at this path; None where the model there is another."""
    file = native_file(READERS.find(path).file)
    return None if file is None else (file, load(file))


def text_of_native(file: str, model: NativeModel) -> str:
    """What a native program takes and gives, and how large it is."""
    parts = []
    for name, function in model.functions.items():
        takes = [f"  takes  {n}: {meta}" for n, meta in zip(function.input_names, function.input_metas)]
        gives = [f"  gives  {n}: {meta}" for n, meta in zip(function.output_names, function.output_metas)]
        parts.append("\n".join([f"function {name}", *takes, *gives]))
    return "\n\n".join([*parts, f"machine code and parameters, {size_text(os.path.getsize(file))}"])


def text_of(model: ModelFile) -> str:
    """What is shown of a model: a paragraph for each function, then its tensors in total and one by one."""
    parts = [_function(name, function) for name, function in model.functions.items()]
    return "\n\n".join([*parts, _tensors(model)])


def _function(name: str, function: SavedFunction) -> str:
    block = function.program.global_block()
    lines = [f"function {name}"]
    for spec, var in zip(function.inputs, block.inputs):
        lines.append(f"  takes  {spec.name or var.name}: {spec.meta}")
    for slot in slots_in(function.output_tree):
        found = (block.inputs if slot.kind == "input" else block.outputs)[slot.index]
        lines.append(f"  gives  {found.name}: {found.meta}" if found is not None else "  gives  nothing")
    ops = Counter(op.op.name for inner in function.program.blocks for op in inner.ops)
    count = sum(ops.values())
    lines.append(f"  {count} operators: " + ", ".join(f"{n} {op}" if n > 1 else op for op, n in ops.most_common()))
    return "\n".join(lines)


def _tensors(model: ModelFile) -> str:
    held = sum(array.nbytes for array in model.tensors.values())
    numbers = sum(array.size for array in model.tensors.values())
    trained = sum(array.size for name, array in model.tensors.items() if model.infos[name].trainable)
    lines = [f"{len(model.tensors)} tensors, {numbers:,} elements, {trained:,} of them trained, {size_text(held)}"]
    width = max(map(len, model.tensors), default=0)
    for name, array in model.tensors.items():
        lines.append(f"  {name:<{width}}  {array.dtype.name}{list(array.shape)}")
    return "\n".join(lines)

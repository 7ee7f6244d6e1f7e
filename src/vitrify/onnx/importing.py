"""`onnx.load`: an ONNX file as a Layer that runs, trains further and is saved like any other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import FileFormatError, UnsupportedError, VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..ir.builder import Builder, building
from ..ir.input_spec import InputSpec
from ..ir.known_values import as_tensor
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo, check_fit, tree_from_json
from ..ir.program import Program
from . import (
    arranging_operators,
    attention_operators,
    contributed_operators,
    control_operators,
    layer_operators,
    network_operators,
    operators,
    pooling_operators,
    quantized_operators,
    recurrent_operators,
    reduction_operators,
    region_operators,
    resizing,
    sampling_operators,
)
from .external import Beside
from .graph import INPUT_TREE, OUTPUT_TREE, PARAMETERS, SUFFIX, TENSORS
from .operator_table import operator
from .reading import all_nodes, array_of, dtype_of, read_model, sizes_of
from .running import Constants, Env, Reader

if TYPE_CHECKING:
    from ..jit.loading import TranslatedLayer

# The rooms whose import enters their operators in the table.
ROOMS = (
    operators, reduction_operators, layer_operators, network_operators, control_operators, resizing,
    quantized_operators, region_operators, contributed_operators, pooling_operators, recurrent_operators,
    attention_operators, arranging_operators, sampling_operators,
)  # fmt: skip
_loading = lazy_module("vitrify.jit.loading")
Array = np.ndarray[Any, Any]
# Arrays with at most as many elements may be axes and sizes: they are constants of the program.
SMALL = 64


def load(path: str | os.PathLike[str], **configs: Any) -> TranslatedLayer:
    """The model of an ONNX file (`path` or `path.onnx`) as a Layer in evaluation mode.

    Its floating tensors are parameters, so it can be fine-tuned; saved here, it has the structure of the original's
    arguments and results, else it takes the inputs in order and gives one tensor or a list. Reads data only: nothing in
    the file is run. Raises FileFormatError for an unsound file, UnsupportedError, with the node, for operators outside
    of docs/onnx.md, MissingPackageError without the package onnx, OSError.
    """
    file = os.fspath(path)
    if not os.path.exists(file) and os.path.exists(file + SUFFIX):
        file += SUFFIX
    model = read_format(file)
    check_fit(model)
    layer: TranslatedLayer = _loading.TranslatedLayer(model)
    return layer


def read_format(file: str, params: str | None = None) -> ModelFile:
    """The model of an ONNX file, which names the files of its tensors itself; raises as `load` does."""
    proto, opset = read_model(file)
    try:
        return _model_file(proto, opset, Beside(os.path.dirname(os.path.abspath(file))))
    except (UnsupportedError, FileFormatError) as err:
        raise type(err)(f"{file}: {err.message}", hint=err.hint) from err
    except (VitrifyError, TypeError, ValueError, LookupError, ArithmeticError) as err:
        raise FileFormatError(f"{file}: its graph is not sound: {err}") from err


import_model = load


def _model_file(proto: Any, opset: int, beside: Beside) -> ModelFile:
    arrays = {t.name: array_of(t, beside) for t in proto.graph.initializer}
    notes = {p.key: p.value for p in proto.metadata_props}
    settings = _settings(proto)
    infos = _infos({n: a for n, a in arrays.items() if n not in settings}, notes)
    program = Program()
    block = program.global_block()
    inputs = [i for i in proto.graph.input if i.name not in arrays]
    specs = [_spec(i) for i in inputs]
    env: Env = {name: array for name, array in arrays.items() if name not in infos}
    for info, spec in zip(inputs, specs):
        env[info.name] = block.add_input(spec.meta, info.name, stop_gradient=False)
    names = _layer_names(infos, notes)
    for name, info in infos.items():
        meta = Meta(arrays[name].shape, from_np(arrays[name].dtype))
        env[name] = block.add_input(meta, names[name], stop_gradient=not info.trainable)
    with building(Builder(program)) as builder, builder.at(()):  # the file has no lines, and ours made none of it
        outs = Reader.of(proto, builder, Constants(beside), opset).run(proto.graph, env)
        block.outputs = [builder.value(as_tensor(v)) for v in outs]
    input_tree, output_tree = _trees(notes, len(inputs), len(outs))
    tensors = tuple(names[n] for n in infos)
    function = SavedFunction(program, tuple(specs), input_tree, output_tree, tensors, (), _parameters(notes))
    return ModelFile(
        {"forward": function}, {names[n]: arrays[n] for n in infos}, {names[n]: i for n, i in infos.items()}
    )


def _spec(info: Any) -> InputSpec:
    if not info.type.HasField("tensor_type"):
        raise UnsupportedError(f"input {info.name!r} is no tensor")
    kind = info.type.tensor_type
    dtype = dtype_of(kind.elem_type)
    return InputSpec(sizes_of(kind), dtype, info.name, not dtype.is_floating)


def _settings(proto: Any) -> set[str]:
    """The initializers that say how a node works, such as the factors of a Resize: never parameters."""
    nodes = [n for n in all_nodes(proto) if operator.known(n.op_type)]
    return {n.input[i] for n in nodes for i in operator.known(n.op_type) if i < len(n.input)}


def _infos(arrays: Mapping[str, Array], notes: Mapping[str, str]) -> dict[str, TensorInfo]:
    """Which tensors are the Layer's: those that the file's note names, else all but small ones of integers."""
    if TENSORS in notes:
        listed = json.loads(notes[TENSORS])
        return {str(n): TensorInfo(bool(p), bool(t)) for n, p, t in listed if n in arrays}
    found = {}
    for name, array in arrays.items():
        floating = array.dtype.kind in "fV" and array.ndim > 0
        if floating or array.size > SMALL:
            found[name] = TensorInfo(floating, floating)
    return found


def _layer_names(infos: Mapping[str, TensorInfo], notes: Mapping[str, str]) -> dict[str, str]:
    """A name in the Layer for each tensor: its own if we wrote the file, else without what parts names."""
    if TENSORS in notes:
        return {name: name for name in infos}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in infos:
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "tensor"
        while plain in taken:
            plain += "_"
        taken.add(plain)
        found[name] = plain
    return found


def _parameters(notes: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the arguments, where we wrote the file."""
    found = json.loads(notes.get(PARAMETERS, "[]"))
    if not all(isinstance(name, str) for name in found):
        raise FileFormatError(f"its arguments are called {found!r}")
    return tuple(found)


def _trees(notes: Mapping[str, str], n_inputs: int, n_outputs: int) -> tuple[Any, Any]:
    if INPUT_TREE in notes and OUTPUT_TREE in notes:
        return tree_from_json(json.loads(notes[INPUT_TREE])), tree_from_json(json.loads(notes[OUTPUT_TREE]))
    outputs = [Slot("output", i) for i in range(n_outputs)]
    given = tuple(Slot("input", i) for i in range(n_inputs))
    return (given, {}), outputs[0] if n_outputs == 1 else outputs

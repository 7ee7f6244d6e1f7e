"""`onnx.export`: a Layer or function as an ONNX file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, UnsupportedError
from ..core.plain import is_namedtuple
from ..core.size import Size, size_of_items
from ..ir.decompose import in_other_ops
from ..ir.model_file import ModelFile, SavedFunction, Slot, input_names, tree_to_json
from ..jit.saving import collect
from .external import EXTERNAL_FROM, remove_older, write_beside
from .graph import INPUT_TREE, OUTPUT_TREE, PARAMETERS, SUFFIX, TENSORS, onnx_package
from .write import has_form, model_of, tensor_proto

Array = np.ndarray[Any, Any]
LEAST_OPSET, LATEST_OPSET = 17, 21
# A protobuf message holds less than 2 GiB; from here on tensors go into a file beside it.
LARGEST_FILE = 1 << 30
OPTIONS = ("dynamic_axes", "external_data", "drop_checks")
# Settings of Paddle's own exporter that choose among its tools, and so change nothing here.
_OF_PADDLE = frozenset(
    ("enable_onnx_checker", "enable_dev_version", "enable_auto_update_opset", "verbose", "enable_optimize")
)


def export(
    layer: Any, path: str | os.PathLike[str], input_spec: Any = None, opset_version: int = 17, **configs: Any
) -> None:
    """Write a Layer or function to `path.onnx`, as it is in evaluation mode.

    input_spec: InputSpecs of the arguments, None dimensions may vary; by default those of `to_static`, or of the last
        call. opset_version: ONNX's operator set, 17 to 21.
    configs: `dynamic_axes`: names of sizes that vary, {input name: {dimension: name}}, else `input_dim_0` and so on.
        `external_data`: put the tensors into `path.onnx.data` beside the file; by default from 1 GiB on.
        `drop_checks`: leave prints, asserts and exceptions out instead of refusing them; a path that raises then gives
            anything.
    Raises UnsupportedError, with the op and the user's line, for what ONNX cannot say (docs/onnx.md lists it),
    MissingPackageError without the package onnx, ArgumentError for other settings. Source: paddle.onnx.export.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Linear(4, 2)
        >>> paddle.onnx.export(net, "/tmp/vitrify_linear", input_spec=[paddle.static.InputSpec([None, 4])])
        >>> paddle.onnx.load("/tmp/vitrify_linear")(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """
    onnx_package("onnx.export")
    unknown = set(configs) - {*OPTIONS, *_OF_PADDLE}
    if unknown:
        raise ArgumentError(f"onnx.export: no setting is called {sorted(unknown)}; there are {list(OPTIONS)}")
    if not LEAST_OPSET <= opset_version <= LATEST_OPSET:
        raise ArgumentError(f"onnx.export: opset_version must be {LEAST_OPSET} to {LATEST_OPSET}, got {opset_version}")
    model = collect(layer, input_spec, training=False)
    target = _with_suffix(path)
    folder = os.path.dirname(os.path.abspath(target))
    os.makedirs(folder, exist_ok=True)
    # All before any is written: what is refused leaves no files of the others.
    found = {name: _made(name, function, model, opset_version, configs) for name, function in model.functions.items()}
    for name, (proto, tensors, external) in found.items():
        file = target if name == "forward" else f"{target.removesuffix(SUFFIX)}.{name}{SUFFIX}"
        _write_files(file, proto, tensors, external)


def save_format(layer: Any, path: Any, input_spec: Any = None, **configs: Any) -> None:
    """What `jit.save(..., format="onnx")` does: `export`."""
    export(layer, path, input_spec, **configs)


def _with_suffix(path: Any) -> str:
    name = str(os.fspath(path))
    if not os.path.basename(name):
        raise ArgumentError(f"onnx.export: {name!r} names no file")
    return name if name.endswith(SUFFIX) else name + SUFFIX


def _made(
    name: str, function: SavedFunction, model: ModelFile, opset: int, configs: Mapping[str, Any]
) -> tuple[Any, Mapping[str, Array], bool]:
    """A function as a ModelProto without its tensors, these, and whether they are to lie beside it."""
    function = in_other_ops(function, has_form)
    block = function.program.global_block()
    if function.writes:
        raise UnsupportedError(
            f"onnx: {name} changes its arguments or buffers in place, which an ONNX model cannot",
            hint="return the new values",
        )
    names = input_names(function)
    output_tree = _given_out(function)
    if not block.outputs:
        raise UnsupportedError(f"onnx: {name} gives no tensor, and an ONNX model gives at least one")
    dims = configs.get("dynamic_axes") or {}
    stray = set(dims) - set(names)
    if stray:
        raise ArgumentError(f"onnx.export: dynamic_axes names {sorted(stray)}; the inputs are {names}")
    arrays = {tensor: model.tensors[tensor] for tensor in function.tensors}
    proto, tensors = model_of(
        block, arrays, names, dims, opset=opset, drop_checks=bool(configs.get("drop_checks")), graph_name=name
    )
    trained = [[t, model.infos[t].parameter, model.infos[t].trainable] for t in arrays if t in tensors]
    _describe(proto, {
        INPUT_TREE: json.dumps(tree_to_json(function.input_tree)),
        OUTPUT_TREE: json.dumps(tree_to_json(output_tree)),
        TENSORS: json.dumps(trained),
        PARAMETERS: json.dumps(function.parameters),
    })  # fmt: skip
    external = configs.get("external_data")
    if external is None:
        external = sum(a.nbytes for a in tensors.values()) > LARGEST_FILE
    return proto, tensors, bool(external)


def _given_out(function: SavedFunction) -> Any:
    """The structure of the results, in which arguments that are passed on are outputs too, as ONNX wants it."""
    block = function.program.global_block()
    # What the function puts into attributes alone is no result: nobody who runs the model has them.
    given = {slot.index for slot in _slots(function.output_tree) if slot.kind == "output"}
    kept = {old: new for new, old in enumerate(sorted(given))}
    block.outputs[:] = [block.outputs[index] for index in kept]
    places: dict[int, int] = {}

    def marked(value: Any) -> Any:
        if isinstance(value, Slot) and value.kind == "output":
            return replace(value, index=kept[value.index])
        if isinstance(value, Slot) and value.kind == "input":
            if value.index not in places:
                places[value.index] = len(block.outputs)
                block.outputs.append(block.inputs[value.index])
            return Slot("output", places[value.index])
        if isinstance(value, dict):
            return {key: marked(item) for key, item in value.items()}
        if isinstance(value, Size):
            return size_of_items(marked(item) for item in value)
        if is_namedtuple(value):
            return value._make(marked(item) for item in value)
        return type(value)(marked(item) for item in value) if isinstance(value, (list, tuple)) else value

    return marked(function.output_tree)


def _slots(value: Any) -> Iterator[Slot]:
    """The places of tensors in a structure."""
    if isinstance(value, Slot):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _slots(item)


def _describe(proto: Any, properties: Mapping[str, str]) -> None:
    for key, value in properties.items():
        proto.metadata_props.add(key=key, value=value)


def _write_files(file: str, proto: Any, tensors: Mapping[str, Array], external: bool) -> None:
    large = {n: a for n, a in tensors.items() if external and a.nbytes >= EXTERNAL_FROM}
    beside = write_beside(file, large) if large else []
    places = {made.name: made for made in beside}
    proto.graph.initializer.extend(places.get(name) or tensor_proto(name, array) for name, array in tensors.items())
    with atomic_file(file) as out:
        out.write(proto.SerializeToString())
    remove_older(file, beside)

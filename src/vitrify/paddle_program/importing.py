"""Paddle's saved programs as models of ours: every operator by its reader, recorded into a Program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import FileFormatError, MissingFileError, UnsupportedError, VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import recorder, scoped
from ..core.sequences import as_list
from ..ir.builder import Builder, building
from ..ir.input_spec import InputSpec
from ..ir.known_values import as_tensor
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo
from ..ir.program import Block, Program, Variable
from ..ir.surgery import rename_result
from ..ops.like import cast
from .blocks import BLOCKS, Run
from .graph import EFFECTS, Graph, Node, Param, all_nodes
from .json_reading import read_json
from .operator_table import check_call, reads
from .operators import SMALL
from .pair import NEXT, PARAMS_SUFFIX
from .reading import read_program_desc
from .tensor_reading import read_params

PARTS = "__params__"
_eager = lazy_module("vitrify.eager.tensor")


def read_json_format(file: str, params: str | None = None) -> ModelFile:
    """The model of a `.json` program and its parameters; raises FileFormatError, UnsupportedError."""
    return model_of(file, read_json(file), params)


def read_desc_format(file: str, params: str | None = None) -> ModelFile:
    """The model of a `.pdmodel` program and its parameters; raises FileFormatError, UnsupportedError."""
    return model_of(file, read_program_desc(file), params)


def model_of(file: str, graph: Graph, params: str | None) -> ModelFile:
    """The program of a file, with its parameters, as a function of what it is fed."""
    _check_known(file, graph)
    place = _params_file(file, params, graph) if graph.params else ""
    arrays = read_params(place, graph.params, graph.checksum) if graph.params else {}
    return _sound(file, graph, arrays)


def recorded_program(what: str, graph: Graph) -> ModelFile:
    """Likewise without the values of its parameters; errors say `what` it is of."""
    _check_known(what, graph)
    return _sound(what, graph, {})


def _sound(what: str, graph: Graph, arrays: Mapping[str, Any]) -> ModelFile:
    try:
        return _recorded(graph, arrays)
    except (UnsupportedError, FileFormatError) as err:
        raise type(err)(f"{what}: {err.message}", hint=err.hint) from err
    except (VitrifyError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as err:
        raise FileFormatError(f"{what}: its program is not sound: {err}") from err


def _check_known(file: str, graph: Graph) -> None:
    """Name all operators at once that cannot be read."""
    known = reads.names() | set(BLOCKS)
    strange = sorted({n.name.removeprefix("old.") for n in all_nodes(graph) if n.name not in known})
    if strange:
        raise UnsupportedError(
            f"{file}: the operators {', '.join(strange)} cannot be read",
            hint="docs/interchange.md lists those that can",
        )


def _params_file(file: str, params: str | None, graph: Graph) -> str:
    prefix, folder = os.path.splitext(file)[0], os.path.dirname(os.path.abspath(file))
    if params is not None:
        return params
    candidates = [prefix + PARAMS_SUFFIX, os.path.join(folder, PARTS)]
    found = next((c for c in candidates if os.path.isfile(c) or os.path.isfile(c + NEXT)), None)
    if found is None and os.path.isfile(os.path.join(folder, graph.params[0].name)):
        return folder  # a file for each
    if found is None:
        raise MissingFileError(f"there are no parameters of {file!r}: looked for {', '.join(candidates)}")
    return found


def _recorded(graph: Graph, arrays: Mapping[str, Any]) -> ModelFile:
    program = Program()
    block = program.global_block()
    specs = [_spec(f) for f in graph.feeds]
    env: dict[Any, Any] = {}
    for feed, spec in zip(graph.feeds, specs):
        env[feed.id] = block.add_input(spec.meta, feed.name, stop_gradient=False)
    names = _layer_names(graph.params)
    for param in graph.params:
        array = arrays.get(param.name)
        meta = Meta(param.shape, param.dtype) if array is None else Meta(array.shape, from_np(array.dtype))
        env[param.id] = block.add_input(meta, names[param.name], stop_gradient=not param.trainable)
    with building(Builder(program)) as builder, builder.at(()):  # the file has no lines, and ours made none of it
        run = Run(builder, run_node)
        outs = run.graph(graph, env)
        outs = [as_tensor(v) for v in outs]
        for i, dtype in enumerate(graph.output_dtypes):
            # What a file says of numbers that it calls floating and are not, or the other way round, is a slip.
            is_said = outs[i].dtype is dtype or outs[i].dtype.is_floating != dtype.is_floating
            outs[i] = outs[i] if is_said else cast(outs[i], dtype=dtype)
        block.outputs = [builder.value(v) for v in outs]
        changed = [(i, builder.current[v]) for i, v in enumerate(block.inputs) if v in builder.current]
        block.outputs += [value for _, value in changed]  # running statistics
    _name_results(block, env)
    outputs = [Slot("output", i) for i in range(len(outs))]
    inputs = tuple(Slot("input", i) for i in range(len(specs)))
    tree = outputs[0] if len(outputs) == 1 else outputs
    tensors, writes = tuple(names[p.name] for p in graph.params), tuple(index for index, _ in changed)
    function = SavedFunction(program, tuple(specs), (inputs, {}), tree, tensors, writes)
    infos = {names[p.name]: TensorInfo(p.trainable, p.trainable) for p in graph.params}
    note = {"names": {names[p.name]: p.name for p in graph.params}}
    return ModelFile({"forward": function}, {names[n]: a for n, a in arrays.items()}, infos, note)


def _name_results(block: Block, env: Mapping[Any, Any]) -> None:
    """Let variables have their names in the file, where values have names there: who knows them fetches them."""
    given = {id(var) for var in block.inputs}
    for name, value in env.items():
        if isinstance(name, str) and isinstance(value, Variable) and value.block is block and id(value) not in given:
            given.add(id(value))
            rename_result(value, name)


def _spec(feed: Any) -> InputSpec:
    return InputSpec(feed.shape, feed.dtype, feed.name, not feed.dtype.is_floating)


def _layer_names(params: list[Param]) -> dict[str, str]:
    """A name in the Layer for each parameter: its own where Layers can have it."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    parents: set[str] = set()
    for name in sorted(p.name for p in params):
        parts = name.split(".")
        folders = {".".join(parts[:i]) for i in range(1, len(parts))}
        plain = name
        if not all(parts) or folders & taken or name in parents or not all(c.isalnum() or c in "_." for c in name):
            plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
            while plain in taken or plain in parents:
                plain += "_"
        else:
            parents |= folders
        taken.add(plain)
        found[name] = plain
    return found


# Operators whose results may be far larger than what they are made of, or that are there for what they do: they are
# left to the run.
_LEFT_TO_THE_RUN = EFFECTS | frozenset(
    ("arange", "bicubic_interp", "bilinear_interp", "expand", "eye", "full_with_tensor", "kron", "linear_interp")
    + ("linspace", "meshgrid", "nearest_interp", "one_hot", "pad", "pad3d", "tile", "trilinear_interp", "unfold")
)


def run_node(node: Node, inputs: list[Any]) -> list[Any]:
    """What a node gives; where all it takes is small and known, this is known, too."""
    check_call(node.name, inputs, node.attrs)
    flat = [v for given in inputs for v in (given if isinstance(given, list) else [given]) if v is not None]
    try:
        if (
            flat
            and node.name not in _LEFT_TO_THE_RUN
            and all(isinstance(v, np.ndarray) and v.dtype != object and v.size <= SMALL for v in flat)
        ):
            with scoped(recorder, None):
                found = as_list(reads.call(node.name, inputs, node.attrs))
            return [_array(v) for v in found]
        return as_list(reads.call(node.name, inputs, node.attrs))
    except VitrifyError as err:
        kind = FileFormatError if isinstance(err, FileFormatError) else UnsupportedError
        raise kind(f"operator {node.name}: {err.message}", hint=err.hint) from err


def _array(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_array(v) for v in value]
    return value.numpy() if isinstance(value, _eager.Tensor) else value

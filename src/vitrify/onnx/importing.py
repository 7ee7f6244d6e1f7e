"""`onnx.load`: an ONNX file as a Layer that runs, trains further and is saved like any other."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import FileFormatError, UnsupportedError, VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import ListMeta, Meta, numel
from ..core.modes import recorder, scoped
from ..ir.builder import Builder, building
from ..ir.input_spec import InputSpec
from ..ir.known_values import as_tensor, sizes_array
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo, check_fit, tree_from_json
from ..ir.program import Block, Program, Variable
from ..ir.regions import align_captures
from ..ops.control_flow import if_op, merge_metas, while_op
from . import layer_operators, network_operators, operators
from .external import Beside
from .graph import INPUT_TREE, OUTPUT_TREE, SUFFIX, TENSORS
from .layer_operators import as_list
from .node import EmptyList, Node
from .operator_table import operator
from .reading import array_of, dtype_of, read_model, sizes_of

if TYPE_CHECKING:
    from ..jit.loading import TranslatedLayer

# The rooms whose import enters their operators in the table.
ROOMS = (operators, layer_operators, network_operators)
_eager, _loading = lazy_module("vitrify.eager.tensor"), lazy_module("vitrify.jit.loading")
Array = np.ndarray[Any, Any]
Env = dict[str, Any]
# Arrays with at most as many elements may be axes and sizes: they are constants of the program.
SMALL = 64
_TRIES = 8
MOST_COMPUTED = 1 << 25  # bytes of what constants give while a file is read; the run computes the rest


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
    proto, _ = read_model(file)
    try:
        return _model_file(proto, Beside(os.path.dirname(os.path.abspath(file))))
    except (UnsupportedError, FileFormatError) as err:
        raise type(err)(f"{file}: {err.message}", hint=err.hint) from err
    except (VitrifyError, TypeError, ValueError, LookupError, ArithmeticError) as err:
        raise FileFormatError(f"{file}: its graph is not sound: {err}") from err


import_model = load


def _model_file(proto: Any, beside: Beside) -> ModelFile:
    arrays = {t.name: array_of(t, beside) for t in proto.graph.initializer}
    notes = {p.key: p.value for p in proto.metadata_props}
    infos = _infos(arrays, notes)
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
    with building(Builder(program)) as builder:
        outs = _run(builder, proto.graph, env, Constants(beside))
        block.outputs = [builder.value(as_tensor(v)) for v in outs]
    input_tree, output_tree = _trees(notes, len(inputs), len(outs))
    function = SavedFunction(program, tuple(specs), input_tree, output_tree, tuple(names[n] for n in infos))
    tensors = {names[n]: arrays[n] for n in infos}
    return ModelFile({"forward": function}, tensors, {names[n]: i for n, i in infos.items()})


def _spec(info: Any) -> InputSpec:
    if not info.type.HasField("tensor_type"):
        raise UnsupportedError(f"input {info.name!r} is no tensor")
    kind = info.type.tensor_type
    dtype = dtype_of(kind.elem_type)
    return InputSpec(sizes_of(kind), dtype, info.name, not dtype.is_floating)


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


def _trees(notes: Mapping[str, str], n_inputs: int, n_outputs: int) -> tuple[Any, Any]:
    if INPUT_TREE in notes and OUTPUT_TREE in notes:
        return tree_from_json(json.loads(notes[INPUT_TREE])), tree_from_json(json.loads(notes[OUTPUT_TREE]))
    outputs = [Slot("output", i) for i in range(n_outputs)]
    given = tuple(Slot("input", i) for i in range(n_inputs))
    return (given, {}), outputs[0] if n_outputs == 1 else outputs


# -- nodes -------------------------------------------------------------------------------------------------------------


def _run(builder: Builder, graph: Any, env: Env, read: Constants) -> list[Any]:
    """Record the nodes of a graph; gives its outputs."""
    for tensor in graph.initializer:
        if tensor.name not in env:
            env[tensor.name] = read(tensor)
    for proto in graph.node:
        node = Node(proto, read)
        inputs = [env[name] if name else None for name in proto.input]
        try:
            found = _node(builder, node, inputs, env, read)
        except VitrifyError as err:
            kind = FileFormatError if isinstance(err, FileFormatError) else UnsupportedError
            raise kind(f"onnx: node {proto.op_type} {proto.name!r}: {err.message}", hint=err.hint) from err
        for name, value in zip(proto.output, found):
            env[name] = value
    return [env[out.name] for out in graph.output]


def _node(builder: Builder, node: Node, inputs: list[Any], env: Env, read: Constants) -> list[Any]:
    if node.type in _WITH_GRAPHS:
        return _WITH_GRAPHS[node.type](builder, node, inputs, env, read)
    function = operator.get(node.type)
    if function is None:
        raise UnsupportedError(f"the operator {node.type!r} cannot be read", hint="docs/onnx.md lists those that can")
    known = [v for v in inputs if v is not None]
    is_constant = known and all(isinstance(v, np.ndarray) and v.dtype != object for v in known)
    if is_constant and _is_bounded(node, inputs, function, read):
        with scoped(recorder, None):  # all is known: computed now
            return [_array(v) for v in _as_outputs(function(node, *inputs))]
    if node.type in _ON_SIZES and all(_is_small(v) for v in known):
        return [sizes_array(_ON_SIZES[node.type](*inputs))]
    return _as_outputs(function(node, *inputs))


def _is_bounded(node: Node, inputs: list[Any], function: Callable[..., Any], constants: Constants) -> bool:
    """Whether reading may take the memory that a node of constants needs: a few bytes can ask for any number.

    The node is recorded in a program of its own, which tells shapes before there is anything of that size.
    """
    try:
        with building(Builder(Program())):
            found = _as_outputs(function(node, *inputs))
    except VitrifyError:  # it needs values: those of the constants, once they are computed
        return True
    metas = [v.meta for v in found if isinstance(v, Variable) and isinstance(v.meta, Meta)]
    return constants.have_room_for(sum(numel(m.shape) * m.dtype.itemsize for m in metas if m.is_static))


class Constants:
    """The arrays of a file, and how much more memory may be taken for what is computed from them while it is read."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._left = MOST_COMPUTED

    def __call__(self, tensor: Any) -> Array:
        return array_of(tensor, self._beside)

    def have_room_for(self, size: int) -> bool:
        """Whether so many bytes may be taken; if so they are."""
        if size > self._left:
            return False
        self._left -= size
        return True


def _as_outputs(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, _eager.Tensor) else value


def _is_small(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "Oi"


# Arithmetic on sizes, of which some are known.
_ON_SIZES: dict[str, Callable[..., Any]] = {
    "Add": lambda x, y: x.astype(object) + y.astype(object),
    "Sub": lambda x, y: x.astype(object) - y.astype(object),
    "Mul": lambda x, y: x.astype(object) * y.astype(object),
}

# -- control flow ------------------------------------------------------------------------------------------------------


def _if(builder: Builder, node: Node, inputs: list[Any], env: Env, read: Constants) -> list[Any]:
    (condition,) = inputs
    if isinstance(condition, np.ndarray):
        graph = node.graph("then_branch" if condition.reshape(-1)[0] else "else_branch")
        return _run(builder, graph, dict(env), read)
    sides = []
    for name in ("then_branch", "else_branch"):
        with builder.sub_block() as block:
            outs = _run(builder, node.graph(name), dict(env), read)
            block.outputs = [builder.value(as_tensor(v)) for v in outs]
        sides.append(block)
    outer = align_captures(sides)
    return list(if_op(condition, *outer, then=sides[0], orelse=sides[1]))


def _loop(builder: Builder, node: Node, inputs: list[Any], env: Env, read: Constants) -> list[Any]:
    count, go_on, *starts = inputs
    graph = node.graph("body")
    if len(graph.output) != len(starts) + 1 or len(graph.input) != len(starts) + 2:
        raise UnsupportedError("a Loop that stacks what each iteration gives cannot be read")
    starts = [_start(v, info) for v, info in zip(starts, graph.input[2:])]
    first = as_tensor(np.asarray(True)) if go_on is None else as_tensor(go_on)
    carried = [as_tensor(np.asarray(0, np.int64)), first, *starts]
    metas = [builder.value(v).meta for v in carried]
    for _ in range(_TRIES):
        with builder.trial() as trial:
            cond, body = _loop_blocks(builder, graph, metas, count, env, read)
            wider = [merge_metas(m, out.meta) for m, out in zip(metas, body.outputs) if out is not None]
            if wider == metas:
                trial.keep()
                outer = align_captures([cond, body])
                values = [builder.value(v) for v in carried]
                n = len(carried)
                found = while_op(*values, *outer, cond=cond, body=body, n_carried=n, n_xs=0, reverse=False)
                return list(found[2:n])
        metas = wider
    raise UnsupportedError("the sizes of a Loop's values do not settle")


def _start(value: Any, info: Any) -> Any:
    if not isinstance(value, EmptyList):
        return as_tensor(value)
    kind = info.type.sequence_type.elem_type.tensor_type
    return as_list(value, Meta(sizes_of(kind), value.dtype))


def _loop_blocks(
    builder: Builder, graph: Any, metas: Sequence[Any], count: Any, env: Env, read: Constants
) -> tuple[Block, Block]:
    names = [info.name for info in graph.input]
    with builder.sub_block() as cond:
        heads = [cond.add_input(m, stop_gradient=_stops(m)) for m in metas]
        test: Any = heads[1]
        if count is not None:
            test = test & (heads[0] < _scalar(count))
        cond.outputs = [builder.value(test)]
    with builder.sub_block() as body:
        heads = [body.add_input(m, stop_gradient=_stops(m)) for m in metas]
        outs = _run(builder, graph, {**env, **dict(zip(names, heads))}, read)
        ends = [heads[0] + 1, *[as_tensor(v) for v in outs]]
        body.outputs = [builder.value(v) for v in ends]
    return cond, body


def _stops(meta: Any) -> bool:
    while isinstance(meta, ListMeta):
        meta = meta.item
    return not meta.dtype.is_floating


def _scalar(value: Any) -> Any:
    found = as_tensor(value)
    return found if not hasattr(found, "ndim") or found.ndim == 0 else found.reshape([])


_WITH_GRAPHS = {"If": _if, "Loop": _loop}

"""Writing programs as PaddlePaddle 2 saves them: `.pdmodel`, a protobuf message."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, int32
from ..core.errors import InternalError, UnsupportedError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from .emitter import Emitter, Value
from .graph import Graph, Node, taken_from_around
from .pair import CHECKSUM
from .reading import NUMBERS, TENSOR
from .table import ROWS, Attr, In, Row

_pb = lazy_module("vitrify.paddle_program.program_desc_pb2")
_KINDS = {
    "int": 0, "float": 1, "str": 2, "ints": 3, "floats": 4, "bool": 6, "block": 8, "long": 9, "longs": 11, "dtype": 0,
    "scalars": 17,
}  # fmt: skip
_FIELDS = {0: "i", 1: "f", 2: "s", 3: "ints", 4: "floats", 6: "b", 8: "block_idx", 9: "l", 11: "longs", 17: "scalars"}
FEED_LIST, FETCH_LIST, STEP_SCOPES = 9, 10, 11
VERSION = 2_006_002
"""The version of PaddlePaddle whose meaning of operators is written."""


def desc_program(
    g: Emitter, names: Sequence[str], inputs: Sequence[Value], outputs: Sequence[Value], checksum: str
) -> bytes:
    """The content of a `.pdmodel` file: inputs with their names, parameters, operators, outputs.

    checksum: of the file of its parameters. It is an attribute of the first `fetch`: PaddlePaddle skips attributes that
    it does not know, and writes `fetch` anew with other parameters.
    """
    return _Writer(g, names, inputs).program(outputs, checksum)


def operator_descs(g: Emitter, names: Mapping[int, str]) -> list[Any]:
    """The operators that `g` has written, as messages of a `.pdmodel` file; names: of the values that have some."""
    writer = _Writer(g, (), ())
    writer._names.update(names)
    for node in g.graph.nodes:
        writer._node(node)
    return list(writer._block.ops)


class _Writer:
    def __init__(self, g: Emitter, names: Sequence[str], inputs: Sequence[Value]) -> None:
        self._g = g
        self._proto = _pb.ProgramDesc()
        self._proto.version.version = VERSION
        self._block = self._proto.blocks.add(idx=0, parent_idx=-1)
        self._inputs = inputs
        self._names: dict[int, str] = {v.id: name for name, v in zip(names, inputs)}
        self._names.update({p.id: p.name for p in g.graph.params})  # type: ignore[misc]
        self._extra = 0

    def program(self, outputs: Sequence[Value], checksum: str) -> bytes:
        for name, kind in (("feed", FEED_LIST), ("fetch", FETCH_LIST)):
            var = self._block.vars.add(name=name, persistable=True)
            var.type.type = kind
        for col, value in reversed(list(enumerate(self._inputs))):  # as Paddle writes them: jit.load goes by the order
            self._var(self._names[value.id], value.meta, need_check_feed=True)
            self._op("feed", {"X": ["feed"]}, {"Out": [self._names[value.id]]}, [("col", "int", col)])
        for param in self._g.graph.params:
            value = self._g.values[param.id]  # type: ignore[index]
            self._var(param.name, value.meta, persistable=True, is_parameter=True, stop_gradient=not param.trainable)
        for node in self._g.graph.nodes:
            self._node(node)
        for col, value in enumerate(outputs):
            attrs = [("col", "int", col), *[(CHECKSUM, "str", checksum)] * (col == 0)]
            self._op("fetch", {"X": [self._name(value.id)]}, {"Out": ["fetch"]}, attrs)
        found: bytes = self._proto.SerializeToString(deterministic=True)
        return found

    def _var(self, name: str, meta: Meta, **flags: Any) -> None:
        var = self._block.vars.add(name=name, **flags)
        var.type.type = TENSOR
        var.type.lod_tensor.tensor.data_type = NUMBERS[meta.dtype.name]
        var.type.lod_tensor.tensor.dims.extend(meta.shape)
        var.type.lod_tensor.lod_level = 0

    def _name(self, value: int) -> str:
        if value not in self._names:
            self._names[value] = f"tmp_{value}"
            self._var(self._names[value], self._g.values[value].meta)
        return self._names[value]

    def _op(self, kind: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], attrs: list[Any]) -> None:
        op = self._block.ops.add(type=kind)
        for slots, given in ((op.inputs, inputs), (op.outputs, outputs)):
            for name, arguments in given.items():
                slots.add(parameter=name, arguments=arguments)
        for name, attr_kind, value in attrs:
            _set(op.attrs.add(name=name, type=_KINDS[attr_kind]), attr_kind, value)

    def _node(self, node: Node) -> None:
        if node.blocks:
            (self._branches if node.name == "if" else self._loop)(node)
            return
        row = ROWS[node.name]
        inputs: dict[str, list[str]] = {}
        attrs: list[Any] = []
        for spec, given in zip(row.inputs, node.inputs):
            self._input(spec, given, inputs, attrs)
            for slot, _ in spec.slots:  # those with nothing in them stand there as well: gradients ask for them
                inputs.setdefault(slot, [])
        for attr in row.attrs:
            if attr.where != "new":
                attrs.append((attr.old_name, attr.kind, self._attribute(attr, node)))
        self._op(row.old_name, inputs, self._outputs(row, node), attrs)

    def _sub_block(self, graph: Graph, end: Callable[[], None]) -> tuple[int, list[str]]:
        """The number of a new block, of a region's operators and those of `end`, and what it takes from around it."""
        around = self._block
        captured = [self._name(value) for value in taken_from_around(graph)]  # type: ignore[arg-type]
        self._block = self._proto.blocks.add(idx=len(self._proto.blocks), parent_idx=around.idx)
        number = int(self._block.idx)
        for node in graph.nodes:
            self._node(node)
        end()
        self._block = around
        return number, captured

    def _new(self, meta: Meta) -> str:
        """The name of a new variable of the current block."""
        self._extra += 1
        name = f"extra_{self._extra}"
        self._var(name, meta)
        return name

    def _scopes(self) -> str:
        """The variable in which blocks that run keep theirs."""
        self._extra += 1
        var = self._block.vars.add(name=f"scopes_{self._extra}")
        var.type.type = STEP_SCOPES
        return str(var.name)

    def _branches(self, node: Node) -> None:
        """A conditional_block for each region, and select_input among what both give."""
        condition = self._name(node.inputs[0])
        opposite, number = self._new(Meta((), bool_)), self._new(Meta((), int32))
        chosen: list[list[str]] = []
        for graph, flag in zip(node.blocks, (condition, opposite)):
            if flag is opposite:
                self._op("logical_not", {"X": [condition]}, {"Out": [opposite]}, [])
            outs = [self._new(self._g.values[out].meta) for out in node.outputs]
            self._names.update(zip(graph.outputs, outs))  # type: ignore[arg-type]
            block, captured = self._sub_block(graph, lambda: None)
            attrs = [("sub_block", "block", block), ("is_scalar_condition", "bool", True)]
            names = {"Out": outs, "Scope": [self._scopes()]}
            self._op("conditional_block", {"Cond": [flag], "Input": captured}, names, attrs)
            chosen.append(outs)
        kinds = [("in_dtype", "dtype", bool_), ("out_dtype", "dtype", int32)]
        self._op("cast", {"X": [condition]}, {"Out": [number]}, kinds)
        for then, orelse, out in zip(*chosen, node.outputs):
            self._op("select_input", {"X": [orelse, then], "Mask": [number]}, {"Out": [self._name(out)]}, [])

    def _loop(self, node: Node) -> None:
        """while, whose block writes into the variables that the loop began with; nothing else reads these."""
        (graph,) = node.blocks
        held = [self._name(value) for value in node.inputs]
        self._names.update(zip(graph.args, held[1:]))  # type: ignore[arg-type]
        self._names.update(zip(node.outputs, held[1:]))

        def end() -> None:
            for value, name in zip([*graph.outputs[1:], graph.outputs[0]], [*held[1:], held[0]]):
                self._op("assign", {"X": [self._name(value)]}, {"Out": [name]}, [])  # type: ignore[arg-type]

        block, captured = self._sub_block(graph, end)
        inputs = {"Condition": held[:1], "X": list(dict.fromkeys([*held[1:], *captured]))}
        attrs = [("sub_block", "block", block), ("is_test", "bool", True)]
        self._op("while", inputs, {"Out": held, "StepScopes": [self._scopes()]}, attrs)

    def _input(self, spec: In, given: Any, inputs: dict[str, list[str]], attrs: list[Any]) -> None:
        if isinstance(given, np.ndarray):
            value = float(given) if spec.kind == "float" else int(given) if given.ndim == 0 else [int(v) for v in given]
            attrs.append((spec.attr, spec.kind, value if spec.kind[-1] != "s" else _as_list(value)))
        elif isinstance(given, list):
            inputs[spec.slots[0][0]] = [self._name(i) for i in given]
            if spec.attr:  # one number for each, though the tensors count: PaddlePaddle looks at them
                attrs.append((spec.attr, spec.kind, [-1] * len(given)))
        elif given is not None:
            if not spec.slots:
                raise InternalError(f"the input {spec.name!r} is no tensor in these programs")
            inputs[spec.slots[0][0]] = [self._name(given)]
            if spec.attr:
                shape = self._g.values[given].shape
                count = shape[0] if shape and shape[0] > 0 else 1
                attrs.append((spec.attr, spec.kind, [-1] * count if spec.kind[-1] == "s" else 0))

    def _outputs(self, row: Row, node: Node) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for out, given in zip(row.outputs, node.outputs):
            if out.slot in _IN_PLACE:
                self._names[given] = self._name(node.inputs[_IN_PLACE[out.slot]])
            found[out.slot] = [self._name(i) for i in given] if isinstance(given, list) else [self._name(given)]
        if row.old_name == "einsum":  # what gradients would need; PaddlePaddle counts them
            for slot in ("InnerCache", "XShape"):
                found[slot] = [self._new(self._g.values[i].meta) for i in node.inputs[0]]
        if row.old_name in _WITH_SHAPE:
            self._extra += 1
            found["XShape"] = [f"xshape_{self._extra}"]
            shape = self._g.values[node.outputs[0]].meta
            self._var(found["XShape"][0], Meta((0, *shape.shape), shape.dtype))
        return found

    def _attribute(self, attr: Attr, node: Node) -> Any:
        value = node.attrs.get(attr.name, attr.default)
        if attr.kind == "dtype" and value is None:
            return -1 if attr.where == "both" else self._input_dtype(node)
        if attr.old_name == "str_value":
            return _exact(node.attrs["value"])
        if value is None:
            raise InternalError(f"nobody said what the attribute {attr.name!r} of {node.name} is")
        return value

    def _input_dtype(self, node: Node) -> Any:
        return self._g.values[node.inputs[0]].dtype


# Outputs that are the variable of an input, by its place.
_IN_PLACE = {"MeanOut": 1, "VarianceOut": 2}
# Operators with a second output, which gradients use.
_WITH_SHAPE = frozenset(("reshape2", "transpose2", "squeeze2", "unsqueeze2", "flatten_contiguous_range"))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _exact(value: float) -> str:
    """A number as text, for the file keeps it in single precision besides."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1 << 62 else repr(value)


def _number(dtype: DType) -> int:
    """The number of a dtype in Paddle's files. Raises UnsupportedError for one that they have none for."""
    if dtype.name not in NUMBERS:
        raise UnsupportedError(f"{dtype.name} has no number in PaddlePaddle's files")
    return NUMBERS[dtype.name]


def _set(attr: Any, kind: str, value: Any) -> None:
    field = _FIELDS[_KINDS[kind]]
    if kind == "dtype":
        value = -1 if value == -1 else _number(value)
    if kind.endswith("s"):
        getattr(attr, field).extend(value)
    else:
        setattr(attr, field, {"bool": bool, "int": int, "long": int, "float": float}.get(kind, lambda v: v)(value))

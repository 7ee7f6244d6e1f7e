"""Programs as PaddlePaddle 2 saves them: `.pdmodel`, a protobuf message, checked and brought into one form."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..core.dtype import DType, as_dtype
from ..core.errors import FileFormatError, UnsupportedError
from ..core.lazy import lazy_module
from .graph import DEEPEST, MOST_DIMENSIONS, MOST_NODES, Feed, Graph, Node, Param, taken_from_around
from .pair import checksum_in
from .table import In, Row, old_rows

_pb = lazy_module("vitrify.paddle_program.program_desc_pb2")
LARGEST = 1 << 31
TENSOR, ARRAY = 7, 13
"""What stands as the type of a variable that is a tensor."""
DATA_TYPES: dict[int, DType] = {
    number: as_dtype(name)
    for number, name in {
        0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8",
        21: "int8", 22: "bfloat16", 23: "complex64", 24: "complex128",
    }.items()
}  # fmt: skip
NUMBERS = {dtype.name: number for number, dtype in DATA_TYPES.items()}
"""The numbers of dtypes by their names."""
# The field of an attribute by its type's number.
FIELDS = {
    0: "i", 1: "f", 2: "s", 3: "ints", 4: "floats", 5: "strings", 6: "b", 7: "bools", 8: "block_idx", 9: "l",
    10: "blocks_idx", 11: "longs", 12: "float64s", 15: "float64", 16: "scalar", 17: "scalars",
}  # fmt: skip
_SCALARS = {1: "b", 2: "i", 3: "r"}
# Inputs that training counts along rather than learns; the files do not say what is a parameter.
_STATISTICS = ("Mean", "Variance")
_CONTROL = ("while", "conditional_block", "select_input")


def parsed_tensor_desc(data: bytes) -> Any:
    """A tensor's description; raises FileFormatError."""
    try:
        return _pb.TensorDesc.FromString(data)
    except DecodeError as err:
        raise FileFormatError(f"its description is none ({err})") from err


def tensor_desc(data_type: int, shape: Sequence[int]) -> bytes:
    """A tensor's description as files have it."""
    found: bytes = _pb.TensorDesc(data_type=data_type, dims=shape).SerializeToString(deterministic=True)
    return found


def read_program_desc(file: str) -> Graph:
    """The program of a `.pdmodel` file; raises FileFormatError for what is no sound program."""
    if os.path.getsize(file) >= LARGEST:
        raise FileFormatError(f"{file}: it is larger than a protobuf message can be")
    with open(file, "rb") as source:
        data = source.read(os.path.getsize(file))  # a count that is allocated at once
    return graph_of_bytes(file, data)


def graph_of_bytes(what: str, data: bytes) -> Graph:
    """The program of a `.pdmodel` file's content; raises FileFormatError, which says `what` it is of."""
    try:
        return _Reader(_pb.ProgramDesc.FromString(data)).program()
    except (UnsupportedError, FileFormatError) as err:
        raise type(err)(f"{what}: {err.message}", hint=err.hint) from err
    except (DecodeError, ValueError, TypeError, LookupError, RecursionError) as err:
        raise FileFormatError(f"{what}: it is no program of Paddle's ({err})") from err


class _Reader:
    """Brings the blocks of one program into the form of graph.py."""

    def __init__(self, proto: Any) -> None:
        self._blocks = list(proto.blocks)
        self._rows = old_rows()
        self._version = int(proto.version.version)
        self._vars = {v.name: v for b in self._blocks for v in b.vars}
        self._run: set[int] = set()
        if not self._blocks or sum(len(b.ops) for b in self._blocks) > MOST_NODES:
            raise FileFormatError("it has no blocks, or too many operators")

    def program(self) -> Graph:
        graph = self._block(0, 0)
        arrays = sorted(name for name, var in self._vars.items() if var.type.type == ARRAY)
        graph.nodes[:0] = [Node("create_array", [], [name]) for name in arrays]
        if not graph.feeds and not graph.outputs:
            graph.feeds = self._data(graph)
        fed = {f.id for f in graph.feeds}
        counted = {n for op in self._all_ops() for slot in _STATISTICS for n in _arguments(op.inputs, slot)}
        for name, var in sorted(self._vars.items()):
            if var.persistable and name not in fed and var.type.type == TENSOR:
                dtype, shape = self._tensor(var)
                trained = dtype.is_floating and name not in counted and not var.stop_gradient
                graph.params.append(Param(name, name, dtype, shape, trained))
        return graph

    def _data(self, graph: Graph) -> list[Feed]:
        """What a program that was saved as it was written takes: it has no operators that feed and fetch."""
        names = [name for name in taken_from_around(graph) if isinstance(name, str) and name in self._vars]
        return [Feed(n, n, *self._tensor(self._vars[n])) for n in names if not self._vars[n].persistable]

    def _all_ops(self) -> list[Any]:
        return [op for block in self._blocks for op in block.ops]

    def _block(self, index: int, depth: int) -> Graph:
        if not 0 <= index < len(self._blocks) or depth > DEEPEST:
            raise FileFormatError(f"there is no block {index}, or blocks are nested deeper than {DEEPEST}")
        if index in self._run:  # each level of such blocks would double what there is to read
            raise FileFormatError(f"block {index} is run by two operators")
        self._run.add(index)
        graph = Graph()
        fetched: dict[int, str] = {}
        fed: dict[int, Feed] = {}
        for op in self._blocks[index].ops:
            if op.type == "feed":
                (name,) = _arguments(op.outputs, "Out")
                dtype, shape = self._tensor(self._vars[name])
                fed[int(attributes_of(op).get("col", len(fed)))] = Feed(name, name, dtype, shape)
            elif op.type == "fetch":
                (name,) = _arguments(op.inputs, "X")
                attrs = attributes_of(op)
                fetched[int(attrs.get("col", len(fetched)))] = name
                graph.checksum = graph.checksum or checksum_in(attrs)
            else:
                graph.nodes.append(self._node(op, depth))
        graph.outputs = [fetched[col] for col in sorted(fetched)]
        graph.output_dtypes = [self._tensor(self._vars[name])[0] for name in graph.outputs]
        graph.feeds = [fed[col] for col in sorted(fed)]
        return graph

    def _tensor(self, var: Any) -> tuple[DType, tuple[int, ...]]:
        desc = var.type.lod_tensor.tensor
        if var.type.type != TENSOR or desc.data_type not in DATA_TYPES:
            raise UnsupportedError(f"variable {var.name!r} is no tensor of a dtype that can be read")
        if len(desc.dims) > MOST_DIMENSIONS or any(d < -1 for d in desc.dims):
            raise FileFormatError(f"variable {var.name!r} has the sizes {list(desc.dims)[:8]}")
        return DATA_TYPES[desc.data_type], tuple(desc.dims)

    def _node(self, op: Any, depth: int) -> Node:
        attrs = attributes_of(op)
        if op.type in _CONTROL:
            block = [self._block(attrs["sub_block"], depth + 1)] if "sub_block" in attrs else []
            inputs = [_arguments(op.inputs, s) for s in ("Condition", "Cond", "Mask", "X", "Input")]
            return Node("old." + op.type, inputs, [_arguments(op.outputs, "Out")], {}, block)
        if op.type in _ARRAYS:
            name, slots = _ARRAYS[op.type]
            return Node(name, [_first(op, slot) for slot in slots], [_first(op, "Out")], attrs)
        rows = self._rows.get(op.type)
        if rows is None:
            return Node("old." + op.type, [], [])
        row = CHOICES[op.type](rows, op, attrs) if op.type in CHOICES else rows[0]
        node = node_of(row, op, attrs)
        node.attrs["version"] = self._version
        if op.type == "elementwise_div" and self._is_integer(node.outputs[0]):
            node.name = "trunc_divide"  # what dividing integers meant in Paddle 2
        return node

    def _is_integer(self, name: str) -> bool:
        var = self._vars.get(name)
        return var is not None and var.type.type == TENSOR and self._tensor(var)[0].is_integer


def _arguments(slots: Any, name: str) -> list[str]:
    return [str(a) for slot in slots if slot.parameter == name for a in slot.arguments]


def _first(op: Any, slot: str) -> str | None:
    found = _arguments(op.outputs, slot) if slot == "Out" else _arguments(op.inputs, slot)
    return found[0] if found else None


def attributes_of(op: Any) -> dict[str, Any]:
    """The attributes of an operator of a `.pdmodel` program, by name."""
    found = {}
    for attr in op.attrs:
        field = FIELDS.get(attr.type)
        if field is None:
            raise UnsupportedError(f"{op.type}: attribute {attr.name!r} is of kind {attr.type}, which cannot be read")
        value = getattr(attr, field)
        if field == "scalar":
            found[attr.name] = _scalar(value)
        elif field == "scalars":
            found[attr.name] = [_scalar(v) for v in value]
        else:
            found[attr.name] = list(value) if field.endswith("s") and field != "s" else value
    return found


def _scalar(value: Any) -> Any:
    if value.type not in _SCALARS:
        raise UnsupportedError("complex numbers among attributes cannot be read")
    return getattr(value, _SCALARS[value.type])


def _named(rows: list[Row], name: str) -> Row:
    return next(row for row in rows if row.name == name)


def _fill(rows: list[Row], op: Any, attrs: Mapping[str, Any]) -> Row:
    is_known = not any(slot.arguments for slot in op.inputs)
    return _named(rows, "full" if is_known else "full_with_tensor")


def _set_value(rows: list[Row], op: Any, attrs: Mapping[str, Any]) -> Row:
    return _named(rows, "set_value_with_tensor_" if _arguments(op.inputs, "ValueTensor") else "set_value_")


# Operators that are several in `.json` programs: which of them this one is.
CHOICES: Mapping[str, Callable[[list[Row], Any, Mapping[str, Any]], Row]] = {
    "fill_constant": _fill,
    "set_value": _set_value,
    "split": lambda rows, op, attrs: _named(rows, "split" if attrs.get("sections") else "split_with_num"),
    "tril_triu": lambda rows, op, attrs: _named(rows, "tril" if attrs.get("lower", True) else "triu"),
    "assign_value": lambda rows, op, attrs: _named(rows, "assign_value"),
    "batch_norm": lambda rows, op, attrs: _named(rows, "batch_norm_"),
    "shape": lambda rows, op, attrs: _named(rows, "shape"),
    "repeat_interleave": lambda rows, op, attrs: _named(
        rows, "repeat_interleave" + "_with_tensor_index" * bool(_arguments(op.inputs, "RepeatsTensor"))
    ),
}

# Operators on arrays of tensors: what they are called in `.json` programs, and where their inputs stand here; what is
# written to is an output.
_ARRAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "write_to_array": ("array_write_", ("Out", "X", "I")),
    "read_from_array": ("array_read", ("X", "I")),
    "lod_array_length": ("array_length", ("X",)),
    "tensor_array_to_tensor": ("array_to_tensor", ("X",)),
}

# Attributes that say how Paddle goes about it, where the value was made or who wrote it.
_NO_MATTER = (
    "op_callstack op_role op_role_var op_namescope op_device with_quant_attr use_mkldnn use_cudnn "
    "use_onednn name mkldnn_data_type use_quantizer struct_name workspace_size_MB exhaustive_search "
    "use_addto is_test force_fp32_output use_global_beta_and_gamma Scale_in Scale_out Scale_in_eltwise "
    "Scale_weights Scale_x Scale_y scale_x scale_y scale_out fuse_beta fuse_alpha output_size padding_algorithm "
    "head_number "
    "remote_prefetch trainer_id table_names entry_config entry"
)
_IGNORED = frozenset(_NO_MATTER.split())
# Values of attributes that newer versions leave out, because they are always these: of relu6, of swish, of softmax.
_USUAL: Mapping[str, tuple[Any, ...]] = {"threshold": (6.0,), "beta": (1.0,), "data_format": ("AnyLayout",)}


def node_of(row: Row, op: Any, attrs: dict[str, Any]) -> Node:
    """The operator `op`, which the row describes, as a node; raises UnsupportedError for what the row does not know."""
    known = {i.attr for i in row.inputs if i.attr}
    inputs = [_input(i, op, attrs) for i in row.inputs]
    outputs: list[Any] = []
    for out in row.outputs:
        names = _arguments(op.outputs, out.slot)
        outputs.append(names if out.many else names[0] if names else None)
    given = {a.name: _value(a.kind, attrs[a.old_name]) for a in row.attrs if a.old_name in attrs}
    known |= {a.old_name for a in row.attrs} | _IGNORED
    if op.type == "assign_value":
        given["values"] = _values(attrs)
        known |= set(_OLD_VALUES)
    slots = {slot for spec in row.inputs for slot, _ in spec.slots}
    more = [slot.parameter for slot in op.inputs if slot.arguments and slot.parameter not in slots]
    if more:
        raise UnsupportedError(f"{op.type} with the input {more[0]} cannot be read")
    strange = [n for n, value in attrs.items() if n not in known and value and value not in _USUAL.get(n, ())]
    if strange:
        raise UnsupportedError(f"{op.type} with {strange[0]}={attrs[strange[0]]!r} cannot be read")
    return Node(row.name, inputs, outputs, given)


_OLD_VALUES = ("bool_values", "fp32_values", "fp64_values", "int32_values", "int64_values", "int8_values")


def _values(attrs: Mapping[str, Any]) -> list[Any]:
    """The elements of an assign_value: one list now, one for each dtype in older files."""
    if "values" in attrs:
        return list(attrs["values"])
    return next((list(attrs[name]) for name in _OLD_VALUES if attrs.get(name)), [])


def _input(spec: In, op: Any, attrs: Mapping[str, Any]) -> Any:
    for slot, many in spec.slots:
        names = _arguments(op.inputs, slot)
        if names or (many and not spec.attr and not spec.optional):
            return names if many else names[0]
    if spec.attr and spec.attr in attrs:
        return np.asarray(attrs[spec.attr], np.float64 if spec.kind in ("float", "str") else np.int64)
    if spec.optional or spec.attr:
        return None
    raise FileFormatError(f"{op.type} has no input {spec.slots[0][0]!r}")


def _value(kind: str, value: Any) -> Any:
    if kind != "dtype":
        return value
    if value == -1:
        return None
    if value not in DATA_TYPES:
        raise UnsupportedError(f"the type {value} cannot be read")
    return DATA_TYPES[value]

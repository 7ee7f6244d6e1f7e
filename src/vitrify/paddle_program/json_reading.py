"""Programs as PaddlePaddle 3 saves them by default: JSON, checked and brought into one form. Nothing in it is run."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from ..core.dtype import DType, as_dtype
from ..core.errors import FileFormatError, UnsupportedError
from .graph import DEEPEST, MOST_DIMENSIONS, MOST_NODES, Feed, Graph, Node, Param
from .pair import checksum_in

LARGEST = 1 << 30
NEWEST = 4
"""The version of the format that PaddlePaddle 3.3 writes."""
ELEMENTS = {
    "t_bool": "bool", "t_ui8": "uint8", "t_i8": "int8", "t_i16": "int16", "t_i32": "int32", "t_i64": "int64",
    "t_f16": "float16", "t_bf16": "bfloat16", "t_f32": "float32", "t_f64": "float64", "t_c64": "complex64",
    "t_c128": "complex128",
}  # fmt: skip
_OPERATOR, _CONTROL, _BUILTIN = "1", "2", "0"
_NUMBERS = {"a_bool": bool, "a_i32": int, "a_i64": int, "a_f32": float, "a_f64": float}


def read_json(file: str) -> Graph:
    """The program of a `.json` file; raises FileFormatError for what is no sound program."""
    if os.path.getsize(file) > LARGEST:
        raise FileFormatError(f"{file}: it is larger than {LARGEST} bytes, without its parameters")
    with open(file, "rb") as source:
        data = source.read(os.path.getsize(file))  # a count that is allocated at once
    try:
        found = json.loads(data)
        return _Reader().program(found)
    except (UnsupportedError, FileFormatError) as err:
        raise type(err)(f"{file}: {err.message}", hint=err.hint) from err
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as err:
        raise FileFormatError(f"{file}: it is no program of Paddle's ({type(err).__name__}: {err})") from err


class _Reader:
    """Counts as it reads, so that no file makes it read for ever."""

    def __init__(self) -> None:
        self._count = 0

    def program(self, data: Any) -> Graph:
        base = data["base_code"]
        if base["magic"] != "pir" or not isinstance(base["version"], int):
            raise FileFormatError("it is no program of Paddle's")
        if not 1 <= base["version"] <= NEWEST:
            raise UnsupportedError(f"it has version {base['version']} of the format, 1 to {NEWEST} can be read")
        (region,) = data["program"]["regions"]
        graph = self._region(region, 0)
        graph.checksum = checksum_in(base)
        return graph

    def _region(self, region: Any, depth: int) -> Graph:
        if depth > DEEPEST:
            raise FileFormatError(f"blocks are nested deeper than {DEEPEST}")
        (block,) = region["blocks"]
        graph = Graph(args=[_id(a["#"]) for a in block["args"]])
        for op in block["ops"]:
            self._count += 1
            if self._count > MOST_NODES:
                raise FileFormatError(f"it has more than {MOST_NODES} operators")
            self._operator(graph, op, depth)
        return graph

    def _operator(self, graph: Graph, op: Any, depth: int) -> None:
        if op["#"] == "p":
            param = _param(op)
            if op["OA"][0]:
                graph.params.append(param)
            else:  # the file of parameters has none of what is not kept: room for the state of a dropout, say
                empty = {"shape": list(param.shape), "value": 0.0, "dtype": param.dtype}
                graph.nodes.append(Node("full", [], [param.id], empty))
            return
        dialect, _, name = op["#"].partition(".")
        inputs: list[Any] = [_id(i["%"]) if i.get("%") else None for i in op["I"]]
        outputs = [_id(o["%"]) if o.get("%") else None for o in op["O"]]
        attrs = {a["N"]: _attribute(a["AT"]) for a in op["A"]}
        if dialect == _CONTROL:
            if name != "yield":
                raise UnsupportedError(f"the operator {op['#']!r} cannot be read")
            graph.outputs = inputs
        elif dialect == _BUILTIN:
            graph.nodes.append(Node("builtin." + name, inputs, outputs, attrs))
        elif dialect != _OPERATOR:
            raise UnsupportedError(f"the operator {op['#']!r} is of a dialect that cannot be read")
        elif name == "data":
            graph.feeds.append(Feed(outputs[0], str(attrs["name"]), attrs["dtype"], _sizes(attrs["shape"])))
        elif name == "fetch":
            graph.outputs.append(inputs[0])
        else:
            blocks = [self._region(region, depth + 1) for region in op.get("regions", [])]
            graph.nodes.append(Node(name, inputs, outputs, attrs, blocks))


def _id(value: Any) -> int:
    if type(value) is not int:
        raise FileFormatError(f"{value!r} is no number of a value")
    return value


def _param(op: Any) -> Param:
    dtype, shape = _tensor_type(op["O"]["TT"])
    return Param(_id(op["O"]["%"]), str(op["A"][3]), dtype, shape, bool(op["OA"][2]))


def _tensor_type(data: Any) -> tuple[DType, tuple[int, ...]]:
    if data["#"] != "0.t_dtensor":
        raise UnsupportedError(f"values of type {data['#']} cannot be read")
    element = data["D"][0]["#"].partition(".")[2]
    if element not in ELEMENTS:
        raise UnsupportedError(f"tensors of {element} cannot be read")
    return as_dtype(ELEMENTS[element]), _sizes(data["D"][1])


def _sizes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > MOST_DIMENSIONS:
        raise FileFormatError("a tensor has no proper list of sizes")
    if any(type(v) is not int or v < -1 or v >= 1 << 62 for v in values):
        raise FileFormatError(f"a tensor has the sizes {values[:8]}")
    return tuple(values)


def _attribute(data: Any) -> Any:
    """The value of an attribute; of a kind that no operator here has, the kind's name in a tuple."""
    kind = data["#"].partition(".")[2]
    if kind == "a_array":
        return [_attribute(item) for item in data["D"]]
    if kind in _NUMBERS:
        return _number(_NUMBERS[kind], data)
    if kind == "a_str":
        return str(data["D"])
    if kind == "a_intarray":
        return [_whole(v) for v in data["D"]]
    if kind == "a_dtype":
        return None if data["D"].startswith("Undefined") else as_dtype(data["D"])
    return (kind,)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise FileFormatError(f"{value!r} is no whole number")
    return value


def _number(kind: Any, data: Any) -> Any:
    value = data["D"] if "D" in data else data.get("VD")
    if kind is float and isinstance(value, str):
        found = float(value)
        if math.isfinite(found):
            raise FileFormatError(f"{value!r} is no number")
        return found
    if type(value) not in (bool, int, float) or (kind is not float and type(value) is float):
        raise FileFormatError(f"{value!r} is no number")
    return kind(value)

"""Writing programs as PaddlePaddle 3 reads them: JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import as_dtype
from ..core.errors import InternalError
from ..core.meta import Meta
from .emitter import Emitter, Value
from .graph import Node
from .json_reading import ELEMENTS, NEWEST
from .pair import CHECKSUM
from .table import ROWS, Attr, In

_TYPES = {name: tag for tag, name in ELEMENTS.items()}
_CONSTANTS = {"float": "float32", "int": "int32", "long": "int64"}
_NUMBERS = {"bool": "a_bool", "int": "a_i32", "long": "a_i64", "float": "a_f32", "double": "a_f64"}
_LISTS = {"ints": "int", "longs": "long", "floats": "float", "doubles": "double"}
_PLACE = {"#": "1.a_place", "D": [1, 0, ""]}


def json_program(
    g: Emitter, names: Sequence[str], inputs: Sequence[Value], outputs: Sequence[Value], checksum: str
) -> bytes:
    """The content of a `.json` file: parameters, inputs with their names, operators, outputs.

    checksum: of the file of its parameters, which stands beside the version.
    """
    return _Writer(g).program(names, inputs, outputs, checksum)


class _Writer:
    def __init__(self, g: Emitter) -> None:
        self._g = g
        self._ops: list[Any] = []
        self._last = g.last
        self._regions = 0

    def program(self, names: Sequence[str], inputs: Sequence[Value], outputs: Sequence[Value], checksum: str) -> bytes:
        for param in self._g.graph.params:
            self._ops.append({
                "#": "p", "A": [0, 1, 1, param.name], "DA": [], "QA": [],
                "O": {"%": param.id, "TT": _tensor_type(self._g.values[param.id].meta)},  # type: ignore[index]
                "OA": [1, int(not param.trainable), int(param.trainable)],
            })  # fmt: skip
        for name, value in zip(names, inputs):
            attrs = [
                _named("name", _text(name)), _named("shape", _int_array(value.shape)),
                _named("dtype", _dtype(value.dtype)), _named("place", {"#": "1.a_place", "D": [0, 0, ""]}),
            ]  # fmt: skip
            self._add("1.data", attrs, [], [value])
        for node in self._g.graph.nodes:
            self._node(node)
        for col, value in enumerate(outputs):
            attrs = [_named("name", _text(f"fetch_name_{col}")), _named("col", _number("int", col))]
            self._add("1.fetch", attrs, [value.id], [self._new(value.meta)], persistable=True)
        block = {"#": "block_0", "args": [], "ops": self._ops}
        whole = {
            "base_code": {"magic": "pir", "trainable": True, "version": NEWEST, CHECKSUM: checksum},
            "program": {"regions": [{"#": "region_0", "blocks": [block]}]},
        }
        return json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()

    def _new(self, meta: Meta) -> Value:
        self._last += 1
        return Value(self._last, meta.dtype, tuple(meta.shape))

    def _add(
        self, name: str, attrs: list[Any], inputs: list[int], outputs: Sequence[Any], persistable: bool = False
    ) -> None:
        outs = [
            {"%": o[0], "TT": o[1]} if isinstance(o, tuple) else {"%": o.id, "TT": _tensor_type(o.meta)}
            for o in outputs
        ]
        marks = [("persistable", True)] * persistable + [("stop_gradient", False)]
        noted = [_named(key, _array([_number("bool", value)] * len(outs))) for key, value in marks]
        made = {"#": name, "A": attrs, "I": [{"%": i} for i in inputs], "O": outs, "OA": noted if outs else []}
        self._ops.append(made)

    def _node(self, node: Node) -> None:
        if node.blocks:
            self._with_regions(node)
            return
        row = ROWS[node.name]
        inputs = [self._input(spec, given) for spec, given in zip(row.inputs, node.inputs)]
        attrs = [_named(a.name, _attribute(a, node.attrs)) for a in row.attrs if a.where != "old"]
        if any(isinstance(out, list) for out in node.outputs):
            self._with_lists(node, attrs, inputs)
            return
        outs = [self._g.values[i] for i in node.outputs]
        if node.name == "einsum":  # what gradients would need
            lists = [(self._new(Meta((), as_dtype("int32"))).id, _list_type([])) for _ in range(2)]
            self._add("1.einsum", attrs, inputs, [*outs, *lists])
        else:
            missing = [self._new(outs[0].meta) for _ in row.outputs[len(outs) :]]
            self._add("1." + node.name, attrs, inputs, [*outs, *missing])

    def _with_lists(self, node: Node, attrs: list[Any], inputs: list[int]) -> None:
        """An operator that gives lists, which are taken apart behind it."""
        outs: list[Any] = []
        lists: list[tuple[int, list[Value]]] = []
        for out in node.outputs:
            if isinstance(out, list):
                parts = [self._g.values[i] for i in out]
                outs.append((self._new(Meta((), as_dtype("int32"))).id, _list_type(parts)))
                lists.append((outs[-1][0], parts))
            else:
                outs.append(self._g.values[out])
        self._add("1." + node.name, attrs, inputs, outs)
        for whole, parts in lists:
            self._add("0.split", [], [whole], parts)

    def _with_regions(self, node: Node) -> None:
        """An operator with blocks, each a region that ends by saying what it gives."""
        around, regions = self._ops, []
        for graph in node.blocks:
            self._ops, self._regions = [], self._regions + 1
            number = self._regions
            for inner in graph.nodes:
                self._node(inner)
            self._add("2.yield", [], list(graph.outputs), [])  # type: ignore[arg-type]
            args = [{"#": i, "TT": _tensor_type(self._g.values[i].meta)} for i in graph.args]  # type: ignore[index]
            block = {"#": f"block_{number}", "args": args, "ops": self._ops}
            regions.append({"#": f"region_{number}", "blocks": [block]})
        self._ops = around
        self._add("1." + node.name, [], node.inputs, [self._g.values[i] for i in node.outputs])
        self._ops[-1]["regions"] = regions

    def _input(self, spec: In, given: Any) -> int:
        if given is None:
            return 0
        if isinstance(given, list):
            parts = [self._g.values[i] for i in given]
            whole = (self._new(Meta((), as_dtype("int32"))).id, _list_type(parts))
            self._add("0.combine", [], given, [whole])
            return whole[0]
        return self._constant(spec, given) if isinstance(given, np.ndarray) else int(given)

    def _constant(self, spec: In, array: Any) -> int:
        """A number or a list of them as an operator that gives it."""
        if spec.kind in _LISTS:
            numbers = [_number("long", int(v)) for v in array.reshape(-1)]
            out = self._new(Meta((len(numbers),), as_dtype("int64")))
            attrs = [_named("value", _array(numbers)), _named("dtype", _dtype(out.dtype)), _named("place", _PLACE)]
            self._add("1.full_int_array", attrs, [], [out])
            return out.id
        dtype = as_dtype(_CONSTANTS[spec.kind])
        out = self._new(Meta((1,), dtype))
        attrs = [
            _named("shape", _int_array([1])), _named("value", _number("double", float(array))),
            _named("dtype", _dtype(dtype)), _named("place", _PLACE),
        ]  # fmt: skip
        self._add("1.full", attrs, [], [out])
        return out.id


# -- types and attributes ----------------------------------------------------------------------------------------------


def _tensor_type(meta: Meta) -> dict[str, Any]:
    element = {"#": "0." + _TYPES[meta.dtype.name]}
    return {"#": "0.t_dtensor", "D": [element, list(meta.shape), "NCHW", [], 0]}


def _list_type(parts: Sequence[Value]) -> dict[str, Any]:
    return {"#": "0.t_vec", "D": [_tensor_type(p.meta) for p in parts]}


def _named(name: str, value: Any) -> dict[str, Any]:
    return {"AT": value, "N": name}


def _text(value: str) -> dict[str, Any]:
    return {"#": "0.a_str", "D": value}


def _array(items: list[Any]) -> dict[str, Any]:
    return {"#": "0.a_array", "D": items}


def _int_array(sizes: Sequence[int]) -> dict[str, Any]:
    return {"#": "1.a_intarray", "D": list(sizes)}


def _dtype(dtype: Any) -> dict[str, Any]:
    return {"#": "1.a_dtype", "D": "Undefined(ALL_DTYPE)" if dtype is None else dtype.name}


def _number(kind: str, value: Any) -> dict[str, Any]:
    tag = "0." + _NUMBERS[kind]
    if kind in ("float", "double"):
        number = float(value)
        if not math.isfinite(number):
            return {"#": tag, "VD": "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"}
        return {"#": tag, "D": number}
    return {"#": tag, "D": bool(value) if kind == "bool" else int(value)}


def _attribute(spec: Attr, attrs: dict[str, Any]) -> Any:
    kind = spec.new_kind
    if kind == "place":
        return _PLACE
    if spec.name not in attrs and spec.default is None:
        raise InternalError(f"nobody said what the attribute {spec.name!r} is")
    value = attrs.get(spec.name, spec.default)
    if kind in _LISTS:
        return _array([_number(_LISTS[kind], v) for v in value])
    if kind == "intarray":
        return _int_array(value)
    if kind == "dtype":
        return _dtype(value)
    return _text(value) if kind == "str" else _number(kind, value)

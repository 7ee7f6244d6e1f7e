"""The nodes of a graph that is read, one after another: what they mean is recorded, or computed where all is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, UnsupportedError, VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta, numel
from ..core.modes import recorder, scoped
from ..core.sequences import as_list
from ..ir.builder import Builder, building
from ..ir.known_values import sizes_array
from ..ir.program import Program, Variable
from .external import Beside
from .node import Node
from .older_forms import inputs_today
from .operator_table import operator
from .reading import DEEPEST, MOST_NODES, PLAIN_DOMAINS, array_of, plain_opset

_eager = lazy_module("vitrify.eager.tensor")
Array = np.ndarray[Any, Any]
Env = dict[str, Any]
FunctionKey = tuple[str, str, str]
MOST_COMPUTED = 1 << 25  # bytes of what constants give while a file is read; the run computes the rest


class Constants:
    """The arrays of a file, and how much more may be made of it while it is read: bytes of constants, and nodes."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._bytes, self._nodes = MOST_COMPUTED, MOST_NODES

    def __call__(self, tensor: Any) -> Array:
        return array_of(tensor, self._beside)

    def have_room_for(self, size: int) -> bool:
        """Whether so many bytes may be taken; if so they are."""
        if size > self._bytes:
            return False
        self._bytes -= size
        return True

    def count_node(self) -> None:
        """Take note of a node; functions that call functions may have more of them than any file."""
        self._nodes -= 1
        if self._nodes < 0:
            raise FileFormatError(f"its functions have more than {MOST_NODES} nodes together")


@dataclass(frozen=True)
class Reader:
    """What the nodes of a graph or function are read with."""

    builder: Builder
    constants: Constants
    opset: int
    functions: Mapping[FunctionKey, Any]
    attributes: Mapping[str, Any]
    """Those of the call, where the nodes are a function's."""
    depth: int = 0

    @staticmethod
    def of(model: Any, builder: Builder, constants: Constants, opset: int) -> Reader:
        """The reader of a ModelProto's graph."""
        return Reader(builder, constants, opset, {_key(f, f.name): f for f in model.functions}, {})

    def run(self, graph: Any, env: Env) -> list[Any]:
        """Record the nodes of a graph, whose names `env` gets; gives its outputs."""
        for tensor in graph.initializer:
            if tensor.name not in env:
                env[tensor.name] = self.constants(tensor)
        self._run(graph.node, env)
        return [env[out.name] for out in graph.output]

    def _run(self, nodes: Iterable[Any], env: Env) -> None:
        for proto in nodes:
            self.constants.count_node()
            try:
                found = self._node(proto, [env[name] if name else None for name in proto.input], env)
            except VitrifyError as err:
                kind = FileFormatError if isinstance(err, FileFormatError) else UnsupportedError
                raise kind(f"onnx: node {proto.op_type} {proto.name!r}: {err.message}", hint=err.hint) from err
            for name, value in zip(proto.output, found):
                env[name] = value

    def _node(self, proto: Any, inputs: list[Any], env: Env) -> list[Any]:
        own = self.functions.get(_key(proto, proto.op_type))
        if own is not None:
            return self._call(own, proto, inputs)
        name = proto.op_type if proto.domain in PLAIN_DOMAINS else f"{proto.domain}.{proto.op_type}"
        if name != proto.op_type and operator.get(name) is None:
            raise UnsupportedError(f"the operator {proto.op_type!r} of {proto.domain!r} cannot be read")
        node = Node(proto, self.constants, self.opset, self.attributes)
        structured = operator.structured(name)
        if structured is not None:
            return as_list(structured(self, node, inputs, env))
        function = operator.get(name)
        if function is None:
            raise UnsupportedError(
                f"the operator {node.type!r} cannot be read", hint="docs/onnx.md lists those that can"
            )
        return self._plain(node, function, inputs_today(node, inputs))

    def _plain(self, node: Node, function: Callable[..., Any], inputs: list[Any]) -> list[Any]:
        known = [v for v in inputs if v is not None]
        is_constant = known and all(isinstance(v, np.ndarray) and v.dtype != object for v in known)
        if is_constant and self._is_bounded(node, inputs, function):
            with scoped(recorder, None):  # all is known: computed now
                return [_array(v) for v in as_list(function(node, *inputs))]
        if node.type in _ON_SIZES and all(_is_small(v) for v in known):
            return [sizes_array(_ON_SIZES[node.type](*inputs))]
        return as_list(function(node, *inputs))

    def _is_bounded(self, node: Node, inputs: list[Any], function: Callable[..., Any]) -> bool:
        """Whether a node of constants gives arrays whose memory reading may take: a few bytes can ask for any number.

        The node is recorded in a program of its own, which tells shapes before there is anything of that size.
        """
        try:
            with building(Builder(Program())):
                found = as_list(function(node, *inputs))
        except VitrifyError:  # it needs values: those of the constants, once they are computed
            return True
        metas = [v.meta for v in found if isinstance(v, Variable)]
        arrays = [m for m in metas if isinstance(m, Meta)]
        if len(arrays) < len(metas):
            return False  # a sequence: what goes on with it is recorded, and takes no list of arrays
        return self.constants.have_room_for(sum(numel(m.shape) * m.dtype.itemsize for m in arrays if m.is_static))

    def _call(self, function: Any, proto: Any, inputs: list[Any]) -> list[Any]:
        """What a function of the file gives: its nodes are recorded in place of the call."""
        if self.depth == DEEPEST:
            raise FileFormatError(f"functions call each other deeper than {DEEPEST}")
        if len(inputs) > len(function.input) or len(proto.output) > len(function.output):
            raise FileFormatError(f"function {function.name!r} is called with other inputs or outputs than it has")
        given = Node(proto, self.constants, self.opset, self.attributes).attributes
        defaults = {a.name: a for a in function.attribute_proto}
        wanted = {*function.attribute, *defaults}
        inside = replace(
            self, opset=plain_opset(function) or self.opset, depth=self.depth + 1,
            attributes={**defaults, **{name: value for name, value in given.items() if name in wanted}},
        )  # fmt: skip
        env: Env = dict.fromkeys(function.input)
        env.update(zip(function.input, inputs))
        inside._run(function.node, env)
        return [env[name] for name in function.output]


def _key(proto: Any, name: str) -> FunctionKey:
    return ("" if proto.domain in PLAIN_DOMAINS else proto.domain, name, getattr(proto, "overload", ""))


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

"""An ONNX file as checked data: its graph, and its tensors as arrays. Nothing in it is run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..core.dtype import as_dtype
from ..core.errors import FileFormatError, UnsupportedError
from .external import Beside
from .graph import ELEMENTS, onnx_package

Array = np.ndarray[Any, Any]
LARGEST_MODEL = 1 << 31
MOST_NODES = 1_000_000
MOST_TENSORS = 200_000
DEEPEST = 32
MOST_DIMENSIONS = 64
OLDEST_OPSET, NEWEST_OPSET = 7, 28
PLAIN_DOMAINS = ("", "ai.onnx")
"""The names of ONNX's own operators; others belong to runtimes and to functions of the file."""


def read_model(file: str) -> tuple[Any, int]:
    """The ModelProto of a file and its operator set; raises FileFormatError for what is no sound model."""
    onnx = onnx_package("onnx.load")
    if os.path.getsize(file) >= LARGEST_MODEL:
        raise FileFormatError(f"{file}: it is larger than an ONNX file can be")
    with open(file, "rb") as source:
        data = source.read(os.path.getsize(file))  # a count that is allocated at once
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as err:
        raise FileFormatError(f"{file}: it is no ONNX file ({err})") from err
    return model, _checked(file, model)


def _checked(file: str, model: Any) -> int:
    if not model.HasField("graph") or not model.opset_import:
        raise FileFormatError(f"{file}: it holds no ONNX graph")
    version = plain_opset(model)
    if version is None or not OLDEST_OPSET <= version <= NEWEST_OPSET:
        raise UnsupportedError(f"{file}: operator set {version}; {OLDEST_OPSET} to {NEWEST_OPSET} can be read")
    if model.graph.sparse_initializer:
        raise UnsupportedError(f"{file}: sparse tensors cannot be read")
    try:
        nodes = sum(1 for _ in all_nodes(model))
    except FileFormatError as err:
        raise FileFormatError(f"{file}: {err.message}") from err
    if nodes > MOST_NODES or len(model.graph.initializer) > MOST_TENSORS:
        raise FileFormatError(f"{file}: it has {nodes} nodes and {len(model.graph.initializer)} tensors")
    _check_graph(file, model.graph, frozenset())
    for function in model.functions:
        _check_names(file, function.node, function.input, function.output, frozenset())
    return version


def plain_opset(proto: Any) -> int | None:
    """The version of ONNX's own operators that a model or function names; None where it names none, or several."""
    versions = [int(o.version) for o in proto.opset_import if o.domain in PLAIN_DOMAINS]
    return versions[0] if len(versions) == 1 else None


def all_nodes(model: Any) -> Iterator[Any]:
    """The nodes of a model, with those of graphs inside of nodes and of functions; raises FileFormatError."""
    yield from _nodes_in(model.graph.node, 0)
    for function in model.functions:
        yield from _nodes_in(function.node, 0)


def _nodes_in(nodes: Iterable[Any], depth: int) -> Iterator[Any]:
    if depth > DEEPEST:
        raise FileFormatError(f"graphs are nested deeper than {DEEPEST}")
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes_in(attribute.g.node, depth + 1)


def _check_graph(file: str, graph: Any, outer: frozenset[str]) -> None:
    # What has a default among the inputs may stand among the initializers too.
    names = dict.fromkeys([*[i.name for i in graph.input], *[t.name for t in graph.initializer]])
    _check_names(file, graph.node, names, [o.name for o in graph.output], outer)


def _check_names(
    file: str, nodes: Iterable[Any], inputs: Iterable[str], outputs: Iterable[str], outer: frozenset[str]
) -> None:
    """Each name is given once, and before it is used."""
    known = set(outer)
    given: set[str] = set()
    for name in inputs:
        _give(file, name, known, given)
    for node in nodes:
        missing = [name for name in node.input if name and name not in known]
        if missing:
            raise FileFormatError(f"{file}: node {node.op_type!r} takes {missing}, which nothing gives before it")
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _check_graph(file, attribute.g, frozenset(known))
        for name in node.output:
            if name:
                _give(file, name, known, given)
    lost = [name for name in outputs if name not in known]
    if lost:
        raise FileFormatError(f"{file}: the outputs {lost} are given by nothing")


def _give(file: str, name: str, known: set[str], given: set[str]) -> None:
    if not name or name in given:
        raise FileFormatError(f"{file}: the name {name!r} is given twice or empty")
    given.add(name)
    known.add(name)


# -- types -------------------------------------------------------------------------------------------------------------


def dtype_of(number: int) -> Any:
    """Our dtype for ONNX's number; raises UnsupportedError for those that we have not."""
    onnx = onnx_package()
    found = {int(getattr(onnx.TensorProto, theirs)): ours for ours, theirs in ELEMENTS.items()}.get(number)
    if found is None:
        raise UnsupportedError(f"tensors of ONNX's type {number} cannot be read")
    return as_dtype(found)


def sizes_of(info: Any) -> tuple[int, ...]:
    """The sizes in a tensor's type, -1 for those with a name or nothing; raises FileFormatError without a rank."""
    if not info.HasField("shape"):
        raise UnsupportedError("a tensor's rank is not given in the file")
    if len(info.shape.dim) > MOST_DIMENSIONS:
        raise FileFormatError(f"a tensor has {len(info.shape.dim)} dimensions")
    sizes = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in info.shape.dim)
    if any(s < -1 for s in sizes):
        raise FileFormatError(f"a tensor has sizes {list(sizes)}")
    return sizes


# -- tensors -----------------------------------------------------------------------------------------------------------


def array_of(tensor: Any, beside: Beside) -> Array:
    """A TensorProto as an array; its bytes may lie in a file beside the model.

    Sizes are compared with the bytes that are there before anything is allocated. Raises FileFormatError.
    """
    onnx = onnx_package()
    dtype = dtype_of(tensor.data_type)
    shape = tuple(tensor.dims)
    if len(shape) > MOST_DIMENSIONS or any(s < 0 for s in shape):
        raise FileFormatError(f"tensor {tensor.name!r} has the sizes {list(shape)[:8]}")
    count = math.prod(shape)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return beside.array(tensor, dtype, shape, count * dtype.itemsize)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != count * dtype.itemsize:
            raise FileFormatError(f"tensor {tensor.name!r} has {len(tensor.raw_data)} bytes for sizes {list(shape)}")
        return np.frombuffer(tensor.raw_data, dtype.np.newbyteorder("<")).astype(dtype.np).reshape(shape)
    fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
    held = max(len(getattr(tensor, field)) for field in fields)
    if held != count:
        raise FileFormatError(f"tensor {tensor.name!r} has {held} elements for sizes {list(shape)}")
    found: Array = onnx.numpy_helper.to_array(tensor)
    return found.astype(dtype.np, copy=False).reshape(shape)

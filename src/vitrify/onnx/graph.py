"""A graph of ONNX nodes being written: values, constants, nodes, and graphs inside of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype, bool_, from_np, int64
from ..core.errors import UnsupportedError
from ..core.lazy import require
from ..core.sequences import as_list

SUFFIX = ".onnx"
INPUT_TREE, OUTPUT_TREE, TENSORS = "vitrify.input_tree", "vitrify.output_tree", "vitrify.tensors"
PARAMETERS = "vitrify.parameters"
"""Under which keys a model of ours says the structure of its arguments and results, and which tensors are trained."""
LIST = "list"
"""What stands as `dtype` of a value that is a sequence."""

# What ONNX calls our dtypes; it has none of ours but these.
ELEMENTS: dict[str, str] = {
    "bool": "BOOL", "uint8": "UINT8", "int8": "INT8", "uint16": "UINT16", "int16": "INT16", "uint32": "UINT32",
    "int32": "INT32", "uint64": "UINT64", "int64": "INT64", "float16": "FLOAT16", "bfloat16": "BFLOAT16",
    "float32": "FLOAT", "float64": "DOUBLE",
}  # fmt: skip
_GIVES_BOOL = frozenset(
    ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Not", "Xor", "IsNaN", "IsInf")
)
_GIVES_INT64 = frozenset(("Shape", "Size", "ArgMax", "ArgMin", "NonZero", "SequenceLength"))
_OF_BOOLS = {"Add": "Or", "Mul": "And"}


def onnx_package(purpose: str = "ONNX files") -> ModuleType:
    """The package `onnx`; raises MissingPackageError, which names the extra, where it is not installed."""
    return require("onnx", extra="onnx", purpose=purpose)


def element_type(dtype: DType) -> int:
    """ONNX's number for a dtype; raises UnsupportedError for complex ones, which ONNX operators do not take."""
    name = ELEMENTS.get(dtype.name)
    if name is None:
        raise UnsupportedError(f"ONNX operators take no {dtype.name} tensors", hint="keep real and imaginary parts")
    return int(getattr(onnx_package().TensorProto, name))


@dataclass(frozen=True, eq=False)
class Value:
    """The name of a tensor (or sequence) in the graph, with Python's operators as nodes.

    `shape` is what is known of it, -1 for unknown sizes; None where nothing is. Numbers among operands take its dtype.
    """

    graph: Graph
    name: str
    dtype: Any
    shape: tuple[int, ...] | None = None

    @property
    def ndim(self) -> int:
        """How many dimensions it has; only asked of values that stand for variables."""
        assert self.shape is not None
        return len(self.shape)

    def _with(self, op: str, other: Any, swapped: bool = False) -> Value:
        pair = (other, self) if swapped else (self, other)
        return self.graph.both(op, *pair)

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: Any) -> Value:
        return self._with("Add", other, True)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._with("Sub", other, True)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: Any) -> Value:
        return self._with("Mul", other, True)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._with("Div", other, True)

    def __pow__(self, other: Any) -> Value:
        return self._with("Pow", other)

    def __neg__(self) -> Value:
        return self.graph.node("Neg", self)

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", other)

    def __le__(self, other: Any) -> Value:
        return self._with("LessOrEqual", other)

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", other)

    def __ge__(self, other: Any) -> Value:
        return self._with("GreaterOrEqual", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return self._with("Equal", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return self.graph.node("Not", self._with("Equal", other))

    def __and__(self, other: Any) -> Value:
        return self._with("And", other)

    def __or__(self, other: Any) -> Value:
        return self._with("Or", other)

    def __invert__(self) -> Value:
        return self.graph.node("Not", self)

    __hash__ = object.__hash__

    def cast(self, dtype: Any) -> Value:
        """The value in another dtype; itself where it has that one."""
        wanted = as_dtype(dtype)
        if wanted is self.dtype:
            return self
        if wanted is bool_ and self.dtype is not bool_:  # runtimes differ in whether Cast makes 0.5 true
            return ~self._with("Equal", 0)
        out = self.graph.node("Cast", self, dtype=wanted, to=element_type(wanted))
        return Value(self.graph, out.name, wanted, self.shape)


@dataclass
class Graph:
    """The nodes of one graph; `outer` is the graph whose node it belongs to, whose values it may use."""

    opset: int
    outer: Graph | None = None
    nodes: list[Any] = field(default_factory=list)
    initializers: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    constants: dict[Any, Value] = field(default_factory=dict)

    # -- names ---------------------------------------------------------------------------------------------------

    @property
    def root(self) -> Graph:
        """The graph that is in no other."""
        return self if self.outer is None else self.outer.root

    def fresh(self, prefix: str) -> str:
        """`prefix`, or `prefix_N`, that no other value of the model has."""
        names = self.root.names
        number = names.get(prefix, 0)
        names[prefix] = number + 1
        return prefix if number == 0 else self.fresh(f"{prefix}_{number}")

    # -- constants -----------------------------------------------------------------------------------------------

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """A constant: a number, a list of numbers or an array; each stands once in the model."""
        array = np.asarray(value) if dtype is None else np.asarray(value, as_dtype(dtype).np)
        root = self.root
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in root.constants:
            root.constants[key] = root.initializer(self.fresh("const"), array)
        found = root.constants[key]
        return Value(self, found.name, found.dtype, found.shape)

    def initializer(self, name: str, array: np.ndarray[Any, Any]) -> Value:
        """A tensor of the model file."""
        dtype = from_np(array.dtype)
        element_type(dtype)
        self.root.initializers[name] = array
        return Value(self, name, dtype, array.shape)

    def like(self, value: Any, other: Any) -> Any:
        """A number as a constant of `other`'s dtype; a Value as it is."""
        return value if isinstance(value, Value) else self.constant(value, other.dtype)

    def ints(self, values: Any) -> Value:
        """A 1-D int64 value from ints and 0-D or 1-D integer values among them, or from one value."""
        if isinstance(values, Value):
            return self.as_vector(values)
        parts = as_list(values)
        if not any(isinstance(p, Value) for p in parts):
            return self.constant(parts, int64)
        pieces = [self.as_vector(p) if isinstance(p, Value) else self.constant([p], int64) for p in parts]
        return pieces[0] if len(pieces) == 1 else self.node("Concat", *pieces, axis=0)

    def as_vector(self, value: Value) -> Value:
        """An integer value of 0 or 1 dimensions as 1-D int64."""
        wide = value.cast(int64)
        return wide if value.shape is not None and len(value.shape) == 1 else self.reshape(wide, [-1])

    def scalar(self, value: Any, dtype: Any = int64) -> Value:
        """A number, or a value with one element, as a 0-D value of the dtype."""
        if not isinstance(value, Value):
            return self.constant(value, dtype)
        found = value.cast(dtype)
        return found if found.shape == () else self.reshape(found, [])

    # -- nodes ---------------------------------------------------------------------------------------------------

    def node(self, op: str, *inputs: Value | None, dtype: Any = None, **attrs: Any) -> Value:
        """One node with one output, of the first input's dtype unless `dtype` or the operator says otherwise."""
        if dtype is None:
            given = [v for v in inputs if v is not None]
            dtype = bool_ if op in _GIVES_BOOL else int64 if op in _GIVES_INT64 else given[0].dtype
        (out,) = self.nodes_of(op, inputs, [dtype], **attrs)
        return out

    def nodes_of(self, op: str, inputs: Sequence[Value | None], dtypes: Iterable[Any], **attrs: Any) -> list[Value]:
        """One node with an output for each of `dtypes`; an output whose dtype is None is left out."""
        outs = [None if d is None else Value(self, self.fresh(op.lower()), d) for d in dtypes]
        names = ["" if v is None else v.name for v in inputs]
        while names and not names[-1]:
            names.pop()
        kept = {k: v for k, v in attrs.items() if v is not None}
        made = onnx_package().helper.make_node(op, names, ["" if v is None else v.name for v in outs], **kept)
        self.nodes.append(made)
        return [v for v in outs if v is not None]

    def both(self, op: str, x: Any, y: Any) -> Value:
        """A node of two operands, of which one may be a number; sums and products of bools are "or" and "and"."""
        a = x if isinstance(x, Value) else self.like(x, y)
        b = y if isinstance(y, Value) else self.like(y, x)
        return self.node(_OF_BOOLS.get(op, op) if a.dtype is bool_ else op, a, b)

    def needs_opset(self, least: int, what: str) -> None:
        """Raise UnsupportedError unless the model's operator set is `least` or newer."""
        if self.opset < least:
            raise UnsupportedError(
                f"{what} needs operators of ONNX's operator set {least}, the model is written for {self.opset}",
                hint=f"pass opset_version={least}",
            )

    # -- what many mappings need ---------------------------------------------------------------------------------

    def reshape(self, x: Value, shape: Any) -> Value:
        """x in another shape; -1 is what remains, 0 is a size of 0."""
        target = self.ints(shape)
        known = tuple(shape) if isinstance(shape, (list, tuple)) and all(isinstance(s, int) for s in shape) else None
        out = self.node("Reshape", x, target, allowzero=1 if known is None or 0 in known else None)
        return Value(self, out.name, x.dtype, known)

    def sizes(self, x: Value) -> Value:
        """The shape of x, 1-D; a constant where it is known."""
        if x.shape is not None and -1 not in x.shape:
            return self.constant(list(x.shape), int64)
        return Value(self, self.node("Shape", x).name, int64, None if x.shape is None else (len(x.shape),))

    def size(self, x: Value, axis: int) -> Any:
        """The size of a dimension: an int, or a 1-D value with it."""
        if x.shape is not None and x.shape[axis] != -1:
            return x.shape[axis]
        at = axis % x.ndim
        return Value(self, self.node("Shape", x, start=at, end=at + 1).name, int64, (1,))

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """x with dimensions of size 1 at `axes`."""
        return self.node("Unsqueeze", x, self.ints(list(axes))) if axes else x

    def squeeze(self, x: Value, axes: Sequence[int]) -> Value:
        """x without the dimensions `axes` of size 1."""
        return self.node("Squeeze", x, self.ints(list(axes))) if axes else x

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """x with its dimensions in another order."""
        same = list(perm) == list(range(len(perm)))
        return x if same else self.node("Transpose", x, perm=list(perm))

    def where(self, condition: Value, x: Any, y: Any) -> Value:
        """x where the condition holds, else y; one of them may be a number."""
        a = x if isinstance(x, Value) else self.like(x, y)
        b = y if isinstance(y, Value) else self.like(y, x)
        if a.dtype is bool_:
            return (condition & a) | (~condition & b)
        return self.node("Where", condition, a, b, dtype=a.dtype)

    def reduce(self, op: str, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
        """A reduction over `axes`, none of which leaves x alone; the axes are an input since operator set 18."""
        if not axes:
            return self.node("Identity", x)
        flag = int(keepdim)
        if self.opset >= 18 or op == "ReduceSum":
            return self.node(op, x, self.ints(list(axes)), keepdims=flag)
        return self.node(op, x, axes=list(axes), keepdims=flag)

    def slice(self, x: Value, axis: int, start: Any, stop: Any, step: Any = 1) -> Value:
        """x[start:stop:step] in one dimension."""
        return self.node("Slice", x, *map(self.ints, (start, stop, [axis], step)))

    def gather(self, x: Value, index: Any, axis: int) -> Value:
        """The slices of x at `index`, an integer value or an int."""
        at = index if isinstance(index, Value) else self.constant(index, int64)
        at = at if at.dtype.name in ("int32", "int64") else at.cast(int64)
        return self.node("Gather", x, at, axis=axis)

    def arange(self, n: Any) -> Value:
        """0, 1, ... n - 1 as int64; n an int or a value with one element."""
        if not isinstance(n, Value):
            return self.constant(np.arange(n), int64)
        return self.node("Range", *(self.scalar(v) for v in (0, n, 1)), dtype=int64)

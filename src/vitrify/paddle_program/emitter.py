"""A program of Paddle's being written: values with their types, nodes, constants; and the table of forms.

A form is `form(g, *inputs, **attrs)` with the parameters of our op's kernel: inputs are `Value`s (None where left out),
attributes are those of the operator, with a `Value` where only the run knows one. It gives a Value, or one for each
output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype, bfloat16, float16, float32, float64, from_np, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, ListMeta, Meta
from ..ir.forms import Forms
from .graph import Graph, Node, Param

Form = Callable[..., Any]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Value:
    """A value of the program, by number."""

    id: int
    dtype: DType
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def meta(self) -> Meta:
        """Its dtype and shape."""
        return Meta(self.shape, self.dtype)


def held(meta: Any) -> Meta:
    """What holds a value of this type in a program: the tensor of its items a list whose length only the run knows.

    In float64 for float32: oneDNN, which PaddlePaddle uses on CPUs, stops at tensors that grow or have no elements.
    """
    if isinstance(meta, ListMeta) and isinstance(meta.item, Meta):
        kind = meta.item.dtype
        return Meta((UNKNOWN, *meta.item.shape), float64 if kind is float32 else kind)
    if isinstance(meta, Meta):
        return meta
    raise UnsupportedError("Paddle's programs hold no lists of lists, and nothing that only gradients need")


# Functions that oneDNN makes part of the operator before them, and the dtypes of which it has operators.
_MERGED = frozenset((
    "abs", "clip", "gelu", "hardsigmoid", "hardswish", "leaky_relu", "mish", "relu", "relu6", "sigmoid", "sqrt",
    "swish", "tanh",
))  # fmt: skip
OF_ONEDNN = frozenset((float32, float16, bfloat16))


def _nothing(*_: Any) -> list[Any]:
    return []


@dataclass
class Emitter:
    """Nodes in the order in which they are written. `old`: for a `.pdmodel`."""

    old: bool
    graph: Graph = field(default_factory=Graph)
    metas: tuple[Any, ...] = ()  # of the outputs of the operator that is being written
    op_name: str = ""
    values: dict[int, Value] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    inline: Callable[..., list[Any]] = field(
        default=_nothing, repr=False
    )  # writes a block of an operator; see exporting.py

    def __post_init__(self) -> None:
        self.root = self.graph
        self.last = 0
        self._numbers: dict[int, Any] = {}  # what values without dimensions are, where that is known
        self._makers: dict[int, Node] = {}

    def region(self, run: Callable[[], list[Value]]) -> Graph:
        """The nodes that `run` writes, and the values that it gives, as a block of the next operator."""
        around = (self.graph, self.metas, self.op_name)
        self.graph = inner = Graph()
        inner.outputs = [value.id for value in run()]
        self.graph, self.metas, self.op_name = around
        return inner

    def argument(self, meta: Any) -> Value:
        """A value that a block is run with: those have negative numbers."""
        made = Value(-1 - sum(number < 0 for number in self.values), meta.dtype, tuple(meta.shape))
        self.values[made.id] = made
        return made

    def value(self, meta: Any) -> Value:
        """A new value of this type."""
        meta = held(meta)
        made = Value(self.last + 1, meta.dtype, tuple(meta.shape))
        self.values[made.id] = made
        self.last = made.id
        return made

    def op(self, name: str, *inputs: Any, meta: Any = None, **attrs: Any) -> Value:
        """Write an operator with one output that matters, by default of its first input's type."""
        first = next((i for i in inputs if isinstance(i, Value)), None)
        found = meta if meta is not None else first.meta if first is not None else self.metas[0]
        return self.ops(name, inputs, [found], **attrs)[0]

    def ops(self, name: str, inputs: Sequence[Any], metas: Sequence[Any], **attrs: Any) -> list[Value]:
        """Write an operator with several outputs of these types."""
        given: list[Any] = [self._listed(i) if isinstance(i, (list, tuple)) else i for i in inputs]
        if name == "unsqueeze":
            given[0] = self._apart(given[0])
        elif name in _MERGED and isinstance(given[0], Value) and given[0].dtype not in OF_ONEDNN:
            # oneDNN, which has them for other dtypes alone, makes them part of the operator before, whatever its dtype
            given[0] = self.op("assign", given[0])
        outs = [self.value(meta) for meta in metas]
        node = Node(name, list(map(_given, given)), [v.id for v in outs], attrs)
        self._makers.update(dict.fromkeys(node.outputs, node))
        self.graph.nodes.append(node)
        return outs

    def _listed(self, parts: Sequence[Any]) -> list[Any]:
        """Items of a list as a `.json` program may have them: oneDNN makes one operator of a transposition and the
        reshape behind it, of another type, which the operator that makes the list would refuse.
        """
        if self.old:
            return list(parts)
        return [self.op("assign", p) if isinstance(p, Value) and self._is_moved(p) else p for p in parts]

    def _apart(self, x: Value) -> Value:
        """What gets new dimensions as a `.json` program may have it: oneDNN makes one operator of a transposition or
        product and the new dimensions, and forgets these where the operators behind it look.
        """
        made = None if self.old else self._makers.get(x.id)
        return x if made is None or made.name not in ("transpose", "multiply") else self.op("assign", x)

    def _is_moved(self, value: Value) -> bool:
        made = self._makers.get(value.id)
        if made is None or made.name != "reshape":
            return False
        before = self._makers.get(made.inputs[0])
        return before is not None and before.name == "transpose"

    def list_op(self, name: str, inputs: Sequence[Any], metas: Sequence[Any], **attrs: Any) -> list[Value]:
        """Write an operator whose output is a list of values of these types."""
        return self.grouped_ops(name, inputs, [list(metas)], **attrs)[0]

    def grouped_ops(self, name: str, inputs: Sequence[Any], groups: Sequence[Any], **attrs: Any) -> list[list[Value]]:
        """Write an operator each of whose outputs is a value of a type, or a list of values of types."""
        outs = [[self.value(m) for m in (group if isinstance(group, list) else [group])] for group in groups]
        named = [[v.id for v in o] if isinstance(group, list) else o[0].id for o, group in zip(outs, groups)]
        self.graph.nodes.append(Node(name, list(map(_given, inputs)), named, attrs))
        return outs

    def full(self, number: Any, dtype: Any, shape: Sequence[int] = ()) -> Value:
        """One number everywhere."""
        kind = as_dtype(dtype)
        if isinstance(number, complex):
            if number.imag:
                return self.stored(np.full(shape, number, kind.np))
            number = number.real
        if number != number and not self.old:  # PaddlePaddle 3.3 reads its own programs with such a number no more
            return self.stored(np.full(shape, number, kind.np))
        attrs = {"shape": list(shape), "value": float(number), "dtype": kind}
        if kind.is_integer and int(float(number)) != int(number):
            return self.constant(np.full(shape, number, kind.np))
        made = self.op("full", meta=Meta(tuple(shape), kind), **attrs)
        if not shape:
            self._numbers[made.id] = number
        return made

    def expand(self, x: Value, sizes: Any, shape: Sequence[int]) -> Value:
        """x repeated to sizes, of which those in `shape` are known.

        In `.pdmodel` programs a number has one dimension first: oneDNN repeats nothing without dimensions.
        """
        if self.old and not x.ndim and x.dtype.is_floating:
            x = self._with_dimension(x)
        return self.op("expand", x, sizes, meta=Meta(tuple(shape), x.dtype))

    def vector(self, x: Value, other: Value) -> Value:
        """x, of one dimension where it has none and stands beside something that has.

        oneDNN, which PaddlePaddle uses for `.pdmodel` programs on CPUs, takes no operands without dimensions.
        """
        if not self.old or x.ndim or not other.ndim or not x.dtype.is_floating:
            return x
        return self._with_dimension(x)

    def _with_dimension(self, x: Value) -> Value:
        number = self.number(x)
        return self.reshape(x, [1]) if number is None else self.full(number, x.dtype, [1])

    def number(self, x: Value) -> Any:
        """What a value without dimensions is, where that is known now, else None."""
        return self._numbers.get(x.id)

    def constant(self, array: Any) -> Value:
        """An array: a number, or a tensor in the file of parameters."""
        array = np.asarray(array)
        if array.size == 1 and array.dtype.kind != "V":
            return self.full(array.item(), from_np(array.dtype), array.shape)
        return self.stored(array)

    def stored(self, array: Array) -> Value:
        """An array as a tensor in the file of parameters."""
        name = f"constant_{len(self.constants)}.w_0"
        made = self.value(Meta(array.shape, from_np(array.dtype)))
        self.constants[name] = array
        self.root.params.append(Param(made.id, name, made.dtype, made.shape, False))
        return made

    def is_param(self, x: Value) -> bool:
        """Whether x is a tensor of the file of parameters."""
        return any(p.id == x.id for p in self.root.params)

    def is_kept_by_batch_norm(self, new: Value, param: Value) -> bool:
        """Whether `new` is what a batch norm makes of the running statistics `param`, which it writes over."""
        at = new.id
        while at in self._makers and self._makers[at].name == "assign":
            at = self._makers[at].inputs[0]
        made = self._makers.get(at)
        if made is None or made.name != "batch_norm_" or not self.is_param(param):
            return False
        return bool(made.inputs[made.outputs.index(at)] == param.id)  # Mean, Variance; MeanOut, VarianceOut

    def cast(self, x: Value, dtype: DType) -> Value:
        """x in that dtype."""
        return x if x.dtype is dtype else self.op("cast", x, meta=Meta(x.shape, dtype), dtype=dtype)

    def size(self, x: Value, axis: int) -> Any:
        """A size of x: a number, or a 0-D int64 value where only the run knows it."""
        if x.shape[axis] != UNKNOWN:
            return x.shape[axis]
        shape = self.shape(x)
        at = axis % x.ndim
        return self.op(
            "slice", shape, [at], [at + 1], meta=Meta((), int64), axes=[0], infer_flags=[1], decrease_axis=[0]
        )

    def shape(self, x: Value) -> Value:
        """The sizes of x as int64."""
        if not self.old:
            return self.op("shape64", x, meta=Meta((x.ndim,), int64))
        return self.cast(self.op("shape", x, meta=Meta((x.ndim,), as_dtype("int32"))), int64)

    def scalars(self, parts: Sequence[Any]) -> Any:
        """Bounds as an operator takes them that has no tensor for all: a list, or a list of tensors of one element."""
        if not any(isinstance(p, Value) for p in parts) or not self.old:
            return self.sizes(parts)
        return [self.reshape(self.cast(p, int64) if isinstance(p, Value) else self.full(p, int64), [1]) for p in parts]

    def sizes(self, parts: Any) -> Any:
        """A shape as an operator takes it: known numbers, or one tensor of them."""
        if isinstance(parts, Value):
            return parts if parts.ndim else self.op("reshape", parts, [1], meta=Meta((1,), parts.dtype))
        if not any(isinstance(p, Value) for p in parts):
            return [int(p) for p in parts]
        whole = [self.cast(p, int64) if isinstance(p, Value) else self.full(p, int64) for p in parts]
        flat = [p if not p.shape else self.op("reshape", p, [], meta=Meta((), int64)) for p in whole]
        return self.op("stack", flat, meta=Meta((len(flat),), int64), axis=0)

    def reshape(self, x: Value, shape: Any, meta: Any = None) -> Value:
        """x in a shape, in which -1 is what is left."""
        parts = list(shape) if isinstance(shape, (list, tuple)) else shape
        if isinstance(parts, list):
            open_ = [i for i, p in enumerate(parts) if isinstance(p, Value)]
            if len(open_) == 1 and not any(isinstance(p, int) and p < 1 for p in parts):
                parts[open_[0]] = -1
        wanted = meta
        if wanted is None:
            if not isinstance(parts, list):
                raise UnsupportedError("a reshape to a shape that only the run knows")
            wanted = Meta(tuple(UNKNOWN if isinstance(p, Value) else p for p in parts), x.dtype)
        return self.op("reshape", x, self.sizes(parts), meta=wanted)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """x with its dimensions in another order."""
        meta = Meta(tuple(x.shape[i] for i in perm), x.dtype)
        return self.op("transpose", x, meta=meta, perm=list(perm))

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """x with new dimensions at these places of the result."""
        sizes = list(x.shape)
        for axis in sorted(axes):
            sizes.insert(axis, 1)
        return self.op("unsqueeze", x, list(axes), meta=Meta(tuple(sizes), x.dtype)) if axes else x


def _given(value: Any) -> Any:
    """An input as a node holds it: ids, lists of them, numbers as arrays."""
    if isinstance(value, Value):
        return value.id
    if isinstance(value, (list, tuple)) and any(isinstance(v, Value) for v in value):
        return [v.id for v in value]
    return None if value is None else np.asarray(value)


def known(value: Any) -> Any:
    """An attribute as it is; raises UnsupportedError for one that only the run knows."""
    if isinstance(value, Value) or (isinstance(value, (list, tuple)) and any(isinstance(v, Value) for v in value)):
        raise UnsupportedError("an attribute that only the run knows has no form in Paddle's programs")
    return value


FORMS = Forms[Form]()

"""Programs to programs: the base class of transpilers, batch norm folded into what comes before it, weights of int8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.dtype import DType, from_np, int8
from ..core.errors import ArgumentError, InternalError
from ..core.meta import Meta
from ..ir.fingerprint import fingerprint
from ..ir.guard import checked_program
from ..ir.program import Block, Operator, Program, Variable, position
from ..ir.surgery import insert_op
from ..ir.verify import verify
from ..ops.batch_norm import batch_norm_infer_op
from ..ops.conv import conv_op
from ..ops.conv_transpose import conv_transpose_op
from ..ops.elementwise import add_op
from ..ops.embedding import embedding_op
from ..ops.flat_product import mul_op
from ..ops.linear import linear_op
from ..ops.matmul import matmul_op
from ..ops.registry import OpDef
from ..runtime.scope import Scope, global_scope

Array = np.ndarray[Any, Any]


class Transpiler:
    """A rewrite of programs: `transpile` gives a new program and leaves the one it was given as it is.

    Subclasses define `rewrite(program, scope)`, which may change the copy that it gets, and put new values into the
    scope under new names. What it gives is verified.

    Example:
        >>> import vitrify as paddle
        >>> class WithoutPrints(paddle.static.Transpiler):
        ...     def rewrite(self, program, scope):
        ...         return program.prune(self.targets)
        ...     def __init__(self, targets):
        ...         self.targets = targets
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [2]) * 2
        ...     z = y + 1
        >>> len(WithoutPrints([y]).transpile(main).global_block().ops), len(main.global_block().ops)
        (1, 2)
    """

    def transpile(self, program: Program, scope: Scope | None = None) -> Program:
        """The rewritten program. scope: where its parameters have their values, by default the global one."""
        before = fingerprint(checked_program(f"{type(self).__name__}.transpile: program", program)).key
        result = self.rewrite(program.clone(), global_scope() if scope is None else scope)
        if fingerprint(program).key != before:
            raise InternalError(f"{type(self).__name__}.rewrite changed the program that it was made from")
        verify(result)
        return result

    def rewrite(self, program: Program, scope: Scope) -> Program:
        """What becomes of `program`, a copy."""
        raise NotImplementedError(f"{type(self).__name__} must define rewrite(program, scope)")


# --- batch norm ------------------------------------------------------------------------------------------------------


def _along(axis: int) -> Callable[[Operator, Array, int], Array]:
    return lambda op, factor, ndim: factor.reshape([-1 if i == axis else 1 for i in range(ndim)])


def _of_transposed(op: Operator, factor: Array, ndim: int) -> Array:
    """Each group of rows makes output channels of its own."""
    groups = op.attrs["groups"]
    rows = op.inputs[1].shape[0] // groups
    return np.repeat(factor.reshape(groups, -1), rows, axis=0).reshape([groups * rows, -1, *[1] * (ndim - 2)])


def _last(op: Operator) -> int:
    return op.outputs[0].ndim - 1


def _of_image(op: Operator) -> int:
    return _last(op) if op.attrs["channel_last"] else 1


# Of ops with a weight: a factor for each of the output's channels in the shape of the weight, and where the output has
# its channels.
_CHANNELS: dict[OpDef, tuple[Callable[[Operator, Array, int], Array], Callable[[Operator], int]]] = {
    conv_op: (_along(0), _of_image),
    conv_transpose_op: (_of_transposed, _of_image),
    linear_op: (_along(1), _last),
    mul_op: (_along(1), _last),
}


class FoldBatchNorm(Transpiler):
    """The program as in evaluation, with batch norms behind convolutions and linear layers made part of their weights.

    weight * scale / sqrt(variance + epsilon) and (bias - mean) * scale / sqrt(variance + epsilon) + shift are computed
    once and put into the scope under new names. targets: Variables or names to keep; what they do not need is left out.
    A batch norm is left alone where something else reads the same output, or where a parameter is computed.
    `folded` counts those of the last program.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3, 8, 8])
        ...     y = paddle.static.nn.batch_norm(paddle.static.nn.conv2d(x, 4, 3), act="relu")
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     _ = paddle.static.Executor().run(startup)
        ...     folded = paddle.static.FoldBatchNorm([y]).transpile(main)
        >>> [op.type for op in folded.global_block().ops]
        ['conv2d', 'relu']
    """

    def __init__(self, targets: Sequence[Variable | str] | None = None) -> None:
        self.targets = targets
        self.folded = 0

    def rewrite(self, program: Program, scope: Scope) -> Program:
        """The test program with its batch norms folded."""
        test = program.clone(for_test=True)
        if self.targets is not None:
            test = test.prune(self.targets)
        block = test.global_block()
        found = [op for op in block.ops if op.op is batch_norm_infer_op and _can_fold(block, op)]
        for norm in found:
            _fold(block, norm, scope)
        self.folded = len(found)
        return test


@dataclass(frozen=True)
class _Layer:
    """What computes the input of a batch norm: a product with a weight, and its bias, which `mul` gets from an add."""

    product: Operator
    add: Operator | None

    @property
    def bias(self) -> Any:
        if self.add is not None:
            return self.add.inputs[1]
        return self.product.inputs[2] if len(self.product.inputs) > 2 else None

    @property
    def operators(self) -> list[Operator]:
        """Those that another layer takes the place of, the last first."""
        return [op for op in (self.add, self.product) if op is not None]


def _layer_before(block: Block, norm: Operator) -> _Layer | None:
    source = _only_source(block, norm.inputs[0])
    if source is None or source.op is not add_op:
        return None if source is None or source.op not in _CHANNELS else _Layer(source, None)
    product = _only_source(block, source.inputs[0])
    bias = source.inputs[1]
    if product is None or product.op is not mul_op or getattr(bias, "shape", None) != product.inputs[1].shape[1:]:
        return None
    return _Layer(product, source)


def _can_fold(block: Block, norm: Operator) -> bool:
    layer = _layer_before(block, norm)
    if layer is None or _CHANNELS[layer.product.op][1](layer.product) != norm.attrs["channel"]:
        return False
    parameters = [layer.product.inputs[1], layer.bias, *norm.inputs[1:]]
    written = {v for op in block.ops for v in op.outputs}
    return all(v is None or (isinstance(v, Variable) and v.persistable and v not in written) for v in parameters)


def _only_source(block: Block, var: Any) -> Operator | None:
    """The operator that computes `var`, where nothing but one operator reads it."""
    readers = [op for op in block.ops for v in op.inputs if v is var]
    captured = any(position(list(inner.captures), var) >= 0 for inner in block.program.blocks)
    if len(readers) != 1 or captured or position(block.outputs, var) >= 0:
        return None
    return next((op for op in block.ops if position(op.outputs, var) >= 0), None)


def _fold(block: Block, norm: Operator, scope: Scope) -> None:
    """Let the layer before the batch norm compute what that gives."""
    layer = _layer_before(block, norm)
    assert layer is not None
    spread = _CHANNELS[layer.product.op][0]
    weight, bias = layer.product.inputs[1], layer.bias
    mean, variance, scale, shift = (_values(scope, v) for v in (*norm.inputs[1:], None, None)[:4])
    values = _values(scope, weight)
    assert isinstance(weight, Variable) and values is not None and mean is not None and variance is not None
    factor = (1.0 if scale is None else scale.ravel()) / np.sqrt(variance.ravel() + norm.attrs["epsilon"])
    old_bias = _values(scope, bias)
    moved = ((0.0 if old_bias is None else old_bias.ravel()) - mean.ravel()) * factor
    moved = moved if shift is None else moved + shift.ravel()
    folded = values * spread(layer.product, factor, values.ndim)
    new_weight = _kept(block, scope, f"{weight.name}.folded", folded.astype(weight.dtype.np))
    bias_name = f"{weight.name}.folded_bias" if bias is None else f"{bias.name}.folded"
    new_bias = _kept(block, scope, bias_name, moved.astype(weight.dtype.np))
    _insert_layer(block, layer.product, norm, new_weight, new_bias)
    remove = [norm, *layer.operators]
    block.ops[:] = [op for op in block.ops if all(op is not other for other in remove)]
    for var in [v for op in remove for v in (*op.outputs, *op.inputs[1:])]:
        _forget(block, var)


def _insert_layer(block: Block, old: Operator, norm: Operator, weight: Variable, bias: Variable) -> None:
    """A layer like the old one that gives what the batch norm gives."""
    at, x = position(block.ops, norm), old.inputs[0]
    if old.op is not mul_op:
        insert_op(block, at, old.op, [x, weight, bias], old.attrs, norm.outputs)
        return
    product = insert_op(block, at, mul_op, [x, weight], old.attrs)
    insert_op(block, at + 1, add_op, [product.outputs[0], bias], {}, norm.outputs)


def _values(scope: Scope, var: Any) -> Array | None:
    return None if var is None else np.array(scope.tensor_of(var.name)).astype(np.float64)


def _kept(block: Block, scope: Scope, name: str, array: Array) -> Variable:
    """A new variable of the scope with these values."""
    while name in block.vars or scope.find_var(name) is not None:
        name = f"{name}_"
    var = block.create_var(Meta(array.shape, from_np(array.dtype)), name, persistable=True)
    var.__dict__["is_parameter_"] = True
    scope.root().var(name).set(array)
    return var


def _forget(block: Block, var: Any) -> None:
    """Take out a variable that nothing reads or writes any more."""
    used = any(v is var for op in block.ops for v in (*op.inputs, *op.outputs))
    if isinstance(var, Variable) and not used and not any(var in inner.captures for inner in block.program.blocks):
        block.vars.pop(var.name, None)


# --- weights of int8 -------------------------------------------------------------------------------------------------

# Of ops with a weight: which input that is, and the dimension whose members have a scale each.
_WEIGHTS: Mapping[OpDef, tuple[int, int]] = {
    conv_op: (1, 0),
    conv_transpose_op: (1, 1),
    linear_op: (1, 1),
    mul_op: (1, 1),
    matmul_op: (1, -1),
    embedding_op: (1, 0),
}


@dataclass(frozen=True)
class QuantizedWeight:
    """What became of one weight: its name, bytes before and after, and the largest change of an element."""

    name: str
    bytes_before: int
    bytes_after: int
    largest_error: float


@dataclass(frozen=True)
class Agreement:
    """How outputs of two programs differ: by how much at most; the share of rows with the same largest entry."""

    largest_difference: float
    same_choice: float


@dataclass
class QuantizeWeights(Transpiler):
    """The program as in evaluation, with the weights of convolutions, linear layers and embeddings kept as int8.

    Each member of a weight's channel dimension has a scale of its own, its largest magnitude over 127; the program
    multiplies them back when it runs, so a saved program takes a quarter of the bytes. smallest: weights with fewer
    elements stay. `weights` tells what became of those of the last program; `measure` compares outputs.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 64])
        ...     y = paddle.static.nn.fc(x, 10)
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     exe = paddle.static.Executor()
        ...     _ = exe.run(startup)
        ...     quantize = paddle.static.QuantizeWeights()
        ...     small = quantize.transpile(main)
        ...     feeds = [{"x": np.eye(64, dtype="float32")}]
        ...     found = quantize.measure(exe, main, small, feeds, y)
        >>> quantize.weights[0].bytes_before, quantize.weights[0].bytes_after, found.largest_difference < 0.01
        (2560, 680, True)
    """

    smallest: int = 64
    weights: list[QuantizedWeight] = field(default_factory=list)

    def rewrite(self, program: Program, scope: Scope) -> Program:
        """The test program with weights of int8."""
        if self.smallest < 1:
            raise ArgumentError(f"QuantizeWeights: smallest must be positive, got {self.smallest}")
        test = program.clone(for_test=True)
        block = test.global_block()
        written = {v for op in block.ops for v in op.outputs}
        self.weights = []
        made: dict[Variable, Variable] = {}
        for operator in list(block.ops):
            at, axis = _WEIGHTS.get(operator.op, (-1, 0))
            weight = operator.inputs[at] if at >= 0 else None
            if isinstance(weight, Variable) and self._takes(weight, written):
                if weight not in made:
                    made[weight] = self._quantize(block, scope, weight, axis)
                operator.inputs = tuple([made[weight] if v is weight else v for v in operator.inputs])
        for var in made:
            _forget(block, var)
        return test

    def _takes(self, weight: Variable, written: set[Variable]) -> bool:
        if not weight.persistable or weight in written:
            return False
        return weight.dtype.is_floating and weight.ndim > 1 and int(np.prod(weight.shape)) >= self.smallest

    def _quantize(self, block: Block, scope: Scope, weight: Variable, axis: int) -> Variable:
        """The weight as the program computes it from integers, before all that reads it."""
        values = np.array(scope.tensor_of(weight.name))
        axis %= values.ndim
        others = tuple(i for i in range(values.ndim) if i != axis)
        largest = np.abs(values.astype(np.float64)).max(axis=others, keepdims=True)
        scale = np.where(largest > 0, largest / 127, 1.0).astype(values.dtype)
        whole = np.clip(np.rint(values / scale), -127, 127).astype(np.int8)
        arrays = (("int8", whole), ("scale", scale))
        parts = [_kept(block, scope, f"{weight.name}.{suffix}", array) for suffix, array in arrays]
        restored = self._restored(block, parts, weight.dtype)
        error = float(np.abs(whole.astype(values.dtype) * scale - values).max())
        self.weights.append(QuantizedWeight(weight.name, values.nbytes, whole.nbytes + scale.nbytes, error))
        return restored

    def _restored(self, block: Block, parts: list[Variable], dtype: DType) -> Variable:
        assert parts[0].dtype is int8
        wide = insert_op(block, 0, "cast", [parts[0]], {"dtype": dtype})
        return insert_op(block, 1, "multiply", [wide.outputs[0], parts[1]]).outputs[0]

    def measure(
        self, executor: Any, program: Program, quantized: Program, feeds: Sequence[Mapping[str, Any]], output: Any
    ) -> Agreement:
        """How `output` of the quantized program differs from that of the program in evaluation, over all feeds."""
        test, difference, same = program.clone(for_test=True).prune([output]), 0.0, []
        for feed in feeds:
            known = {name: value for name, value in feed.items() if test.global_block().has_var(name)}
            (wanted,) = executor.run(test, feed=known, fetch_list=[output])
            (found,) = executor.run(quantized.prune([output]), feed=known, fetch_list=[output])
            difference = max(difference, float(np.abs(found - wanted).max(initial=0)))
            same.append((found.argmax(-1) == wanted.argmax(-1)).ravel())
        return Agreement(difference, float(np.concatenate(same).mean()) if same else 1.0)


__all__ = ["Agreement", "FoldBatchNorm", "QuantizeWeights", "QuantizedWeight", "Transpiler"]

"""What the ONNX operators with graphs inside mean here: If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import ListMeta, Meta
from ..ir.builder import Builder
from ..ir.known_values import as_tensor, sizes_array
from ..ir.program import Block
from ..ir.regions import align_captures
from ..ops import functions as F
from ..ops.control_flow import if_op, merge_metas, while_op
from ..ops.registry import get_op
from .layer_operators import as_list
from .node import EmptyList, Node, axis_in
from .operator_table import operator
from .reading import sizes_of
from .running import Env, Reader
from .sizes import extent

_TRIES = 8


@operator.with_graphs("If")
def if_(read: Reader, node: Node, inputs: list[Any], env: Env) -> list[Any]:
    """One of two graphs."""
    (condition,) = inputs
    if isinstance(condition, np.ndarray):
        return read.run(node.graph("then_branch" if condition.reshape(-1)[0] else "else_branch"), dict(env))
    sides = []
    for name in ("then_branch", "else_branch"):
        with read.builder.sub_block() as block:
            graph = node.graph(name)
            block.outputs = _ends(read.builder, read.run(graph, dict(env)), graph.output)
        sides.append(block)
    outer = align_captures(sides)
    return list(if_op(_scalar(condition), *outer, then=sides[0], orelse=sides[1]))


@operator.with_graphs("Loop")
def loop(read: Reader, node: Node, inputs: list[Any], env: Env) -> list[Any]:
    """A graph over and over: values that are carried on, and those that each turn gives, stacked."""
    (count, go_on), starts = [*inputs, None, None][:2], inputs[2:]
    graph = node.graph("body")
    if len(graph.input) != len(starts) + 2 or len(graph.output) < len(starts) + 1:
        raise FileFormatError(f"Loop: its body takes {len(graph.input)} values and gives {len(graph.output)}")
    builder = read.builder
    starts = [_of_kind(v, info) for v, info in zip(starts, graph.input[2:])]
    first = as_tensor(np.asarray(True)) if go_on is None else _scalar(go_on)
    carried = [as_tensor(np.asarray(0, np.int64)), first, *starts]
    n = len(carried)
    metas = [builder.value(v).meta for v in carried]
    for _ in range(_TRIES):
        with builder.trial() as trial:
            cond, body = _loop_blocks(read, graph, metas, count, env)
            wider = [merge_metas(m, out.meta) for m, out in zip(metas, body.outputs) if out is not None]
            if wider == metas:
                trial.keep()
                outer = align_captures([cond, body])
                values = [builder.value(v) for v in carried]
                found = while_op(*values, *outer, cond=cond, body=body, n_carried=n, n_xs=0, reverse=False)
                return [*found[2:n], *[_stacked(builder, items) for items in found[n + 1 :]]]
        metas = wider
    raise UnsupportedError("the sizes of a Loop's values do not settle")


def _of_kind(value: Any, info: Any) -> Any:
    """A value as the file declares it: what a list without items yet may hold, only its declaration says."""
    if not isinstance(value, EmptyList):
        return as_tensor(value)
    kind = info.type.sequence_type.elem_type.tensor_type
    return as_list(value, Meta(sizes_of(kind), value.dtype))


def _loop_blocks(read: Reader, graph: Any, metas: Sequence[Any], count: Any, env: Env) -> tuple[Block, Block]:
    builder = read.builder
    with builder.sub_block() as cond:
        heads = [cond.add_input(m, stop_gradient=_stops(m)) for m in metas]
        test: Any = heads[1]
        if count is not None:
            test = test & (heads[0] < _scalar(count))
        cond.outputs = [builder.value(test)]
    with builder.sub_block() as body:
        heads = [body.add_input(m, stop_gradient=_stops(m)) for m in metas]
        go_on, *outs = read.run(graph, {**env, **dict(zip(_names(graph), heads))})
        turn, goes_on = builder.value(heads[0] + 1), builder.value(_scalar(go_on))
        body.outputs = [turn, goes_on, *_ends(builder, outs, graph.output[1:])]
    return cond, body


def _ends(builder: Builder, values: Sequence[Any], infos: Sequence[Any]) -> list[Any]:
    """What a graph gives, as variables of the block that it becomes."""
    return [builder.value(_of_kind(v, info)) for v, info in zip(values, infos)]


@operator.with_graphs("Scan")
def scan(read: Reader, node: Node, inputs: list[Any], env: Env) -> list[Any]:
    """A graph over the slices of tensors: values that are carried on, and those that each turn gives, stacked."""
    graph, n_xs = node.graph("body"), node.number("num_scan_inputs")
    n = len(inputs) - n_xs
    if node.opset < 9 or not 0 < n_xs <= len(inputs) or len(graph.input) != len(inputs) or len(graph.output) < n:
        raise UnsupportedError(
            f"Scan over {n_xs} of {len(inputs)} inputs, of operator set {node.opset}, cannot be read"
        )
    starts, scanned = [as_tensor(v) for v in inputs[:n]], [as_tensor(v) for v in inputs[n:]]
    axes = [axis_in(a, x.ndim) for a, x in zip(node.ints("scan_input_axes", [0] * n_xs), scanned)]
    turned = [F.flip(x, a) if back else x for x, a, back in
              zip(scanned, axes, node.ints("scan_input_directions", [0] * n_xs))]  # fmt: skip
    xs = [get_op("list_unstack")(x, axis=a) for x, a in zip(turned, axes)]
    values = [read.builder.value(v) for v in (*starts, *xs)]
    metas = [v.meta for v in values]
    with read.builder.sub_block() as body:
        heads = [body.add_input(m, stop_gradient=_stops(m)) for m in [*metas[:n], *[m.item for m in metas[n:]]]]
        outs = read.run(graph, {**env, **dict(zip(_names(graph), heads))})
        body.outputs = _ends(read.builder, outs, graph.output)
    count = read.builder.value(as_tensor(sizes_array(extent(scanned[0], axes[0]))))
    found = while_op(count, *values, *align_captures([body]), cond=None, body=body, n_carried=n, n_xs=n_xs,
                     reverse=False)  # fmt: skip
    return [*found[:n], *_scanned(node, found[n + 1 :])]


def _scanned(node: Node, lists: Sequence[Any]) -> list[Any]:
    stacked = []
    axes = node.ints("scan_output_axes", [0] * len(lists))
    backward = node.ints("scan_output_directions", [0] * len(lists))
    for items, axis, back in zip(lists, axes, backward):
        place = axis_in(axis, len(items.meta.item.shape) + 1)
        out = get_op("list_stack")(items, axis=place)
        stacked.append(F.flip(out, place) if back else out)
    return stacked


def _stacked(builder: Builder, items: Any) -> Any:
    item, stack = items.meta.item, get_op("list_stack")
    if not item.is_static:
        return _if_any(builder, items, lambda: stack(items, axis=0))
    # Nothing tells the shape of what no turn gave, so one that is known goes in front and is taken away again.
    nothing = F.zeros(item.shape, item.dtype)
    return stack(get_op("list_extend")(get_op("list_of")(nothing, item=item), items), axis=0)[1:]


def _if_any(builder: Builder, items: Any, stacked: Callable[[], Any]) -> Any:
    """What is stacked of a list; where it is empty, sizes that nothing tells are 0, as in ONNX Runtime."""
    item, sides = items.meta.item, []
    nothing = [0, *[max(size, 0) for size in item.shape]]
    for made in (stacked, lambda: F.zeros(nothing, item.dtype)):
        with builder.sub_block() as block:
            block.outputs = [builder.value(made())]
        sides.append(block)
    outer = align_captures(sides)
    return if_op(get_op("list_len")(items) > 0, *outer, then=sides[0], orelse=sides[1])[0]


def _names(graph: Any) -> list[str]:
    return [info.name for info in graph.input]


def _stops(meta: Any) -> bool:
    while isinstance(meta, ListMeta):
        meta = meta.item
    return not meta.dtype.is_floating


def _scalar(value: Any) -> Any:
    found = as_tensor(value)
    return found if not hasattr(found, "ndim") or found.ndim == 0 else found.reshape([])

"""ONNX forms of operators with blocks, and of lists: If, Loop and sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtype import DType, as_dtype, bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, ListMeta, Meta
from ..ir.attributes import reachable_blocks
from .graph import LIST, Value, element_type, onnx_package
from .indexing import getitem
from .table import FORMS, Context


def type_info(name: str, meta: Any) -> Any:
    """What ONNX is told of a value: dtype and sizes; of a list those of its items."""
    helper = onnx_package().helper
    if isinstance(meta, ListMeta):
        if not isinstance(meta.item, Meta):
            raise nested()
        return helper.make_tensor_sequence_value_info(name, element_type(meta.item.dtype), _sizes(meta.item))
    if not isinstance(meta, Meta):
        raise UnsupportedError(f"ONNX has no values of the kind {meta}")
    return helper.make_tensor_value_info(name, element_type(meta.dtype), _sizes(meta))


def nested() -> UnsupportedError:
    """The error for a list of lists."""
    return UnsupportedError("ONNX has no sequences of sequences", hint="keep a list for each tensor in the items")


def _sizes(meta: Meta) -> list[int | None]:
    return [None if s == UNKNOWN else s for s in meta.shape]


def value_of(g: Context, name: str, meta: Any) -> Value:
    """The Value that stands for a variable of this meta."""
    if isinstance(meta, ListMeta):
        return Value(g, name, LIST)
    return Value(g, name, meta.dtype, meta.shape)


def _outputs(g: Context, values: Sequence[Value], metas: Sequence[Any]) -> list[Any]:
    """The graph's outputs: copies under fresh names, for a graph may not give out what it only sees."""
    infos = []
    for value, meta in zip(values, metas):
        infos.append(type_info(g.node("Identity", value).name, meta))
    return infos


def _inner(g: Context) -> Context:
    return Context(g.opset, g, drop_checks=g.drop_checks, inline=g.inline)


def _block(g: Context, block: Any, values: Sequence[Any]) -> list[Value]:
    assert g.inline is not None
    return g.inline(g, block, values)


# -- if and while ------------------------------------------------------------------------------------------------------


@FORMS("if")
def if_(g: Context, pred: Value, *captured: Value, then: Any, orelse: Any) -> list[Value]:
    """If; its branches see the values around them."""
    metas, wanted = g.metas, sorted(g.wanted)
    if not wanted:
        return _without_results(g, (then, orelse), len(metas))
    graphs = []
    for block in (then, orelse):
        inner = _inner(g)
        values = _block(inner, block, captured)
        infos = _outputs(inner, [values[i] for i in wanted], [block.outputs[i].meta for i in wanted])
        graphs.append(onnx_package().helper.make_graph(inner.nodes, g.fresh("branch"), [], infos))
    condition = g.scalar(pred, bool_)
    dtypes = [_dtype(metas[i]) for i in wanted]
    found = g.nodes_of("If", [condition], dtypes, then_branch=graphs[0], else_branch=graphs[1])
    return _placed(found, wanted, len(metas))


def _without_results(g: Context, branches: Sequence[Any], count: int) -> list[Any]:
    """Nothing, for an `if` that only checks, where the caller asked to leave that out."""
    blocks = {b for branch in branches for b in reachable_blocks(branch, lambda block: block.ops)}
    effects = {op.op.name for block in blocks for op in block.ops if op.op.effect}
    if not effects <= {*_CHECKS}:
        raise UnsupportedError("an `if` without results is there for its effects, which ONNX has not")
    _refuse_checks(g)
    return _placed([], [], count)


def _dtype(meta: Any) -> Any:
    return LIST if isinstance(meta, ListMeta) else meta.dtype


def _placed(found: Sequence[Value], wanted: Sequence[int], count: int) -> list[Any]:
    out: list[Any] = [None] * count
    for place, value in zip(wanted, found):
        out[place] = value
    return out


@FORMS("while")
def while_(g: Context, *values: Value, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> list[Value]:
    """Loop: carried values, then the number of iterations and the lists written, where somebody wants these."""
    count = None
    if cond is None:
        count, values = g.scalar(values[0]), values[1:]
    carried, xs = values[:n_carried], values[n_carried : n_carried + n_xs]
    captured = values[n_carried + n_xs :]
    lists = [i for i in sorted(g.wanted) if i > n_carried]
    starts = [*carried, *[_empty(g, g.metas[i].item) for i in lists]]
    counts = n_carried in g.wanted
    if counts:
        starts.insert(n_carried, g.constant(0, int64))
    first = None if cond is None else _block(g, cond, [*carried, *captured])[0].cast(bool_)
    inner, heads, infos = _loop_heads(g, [v.meta for v in body.inputs[:n_carried]], starts, counts, lists)
    iteration = heads[0]
    at = iteration if not reverse or count is None else count_back(inner, count, iteration)
    items = [inner.node("SequenceAt", inner_value(inner, x), at, dtype=_dtype(_item(body, n_carried + i)))
             for i, x in enumerate(xs)]  # fmt: skip
    items = [Value(inner, v.name, v.dtype, _item(body, n_carried + i).shape) for i, v in enumerate(items)]
    outs = _block(inner, body, [*heads[2 : 2 + n_carried], *items, *captured])
    ends = outs[:n_carried]
    again = heads[1] if cond is None else _block(inner, cond, [*ends, *captured])[0].cast(bool_)
    if counts:
        ends = [*ends, heads[2 + n_carried] + 1]
    place = inner.constant(0) if reverse else None
    tails = heads[2 + n_carried + counts :]
    ends = [*ends, *[inner.node("SequenceInsert", t, outs[i - 1], place, dtype=LIST) for i, t in zip(lists, tails)]]
    metas = [Meta((), bool_), *[v.meta for v in body.outputs[:n_carried]]]
    metas += [Meta((), int64)] * counts + [g.metas[i] for i in lists]
    outputs = _outputs(inner, [again, *ends], metas)
    graph = onnx_package().helper.make_graph(inner.nodes, g.fresh("body"), infos, outputs)
    dtypes = [v.dtype for v in starts]
    found = g.nodes_of("Loop", [count, first, *starts], dtypes, body=graph)
    places = [*range(n_carried), *([n_carried] if counts else []), *lists]
    return _placed(found, places, len(g.metas))


def inner_value(g: Context, value: Value) -> Value:
    """A value of a graph around this one, as this one sees it."""
    return Value(g, value.name, value.dtype, value.shape)


def count_back(g: Context, count: Value, iteration: Value) -> Value:
    """count - 1 - iteration."""
    return inner_value(g, count) - 1 - iteration


def _item(block: Any, place: int) -> Any:
    return block.inputs[place].meta


def _loop_heads(
    g: Context, metas: Sequence[Any], starts: Sequence[Value], counts: bool, lists: Sequence[int]
) -> tuple[Context, list[Value], list[Any]]:
    """The graph of a body, its inputs as values (number of the iteration, condition, carried ones) and as infos."""
    inner = _inner(g)
    known = [Meta((), int64), Meta((), bool_), *metas, *([Meta((), int64)] * counts), *[g.metas[i] for i in lists]]
    names = [g.fresh(n) for n in ("iteration", "go_on", *["carried"] * len(starts))]
    heads = [value_of(inner, name, meta) for name, meta in zip(names, known)]
    return inner, heads, [type_info(name, meta) for name, meta in zip(names, known)]


# -- lists -------------------------------------------------------------------------------------------------------------


def _empty(g: Context, item: Any) -> Value:
    if not isinstance(item, Meta):
        raise nested()
    (made,) = g.nodes_of("SequenceEmpty", [], [LIST], dtype=element_type(item.dtype))
    return made


def _each(g: Context, count: Value, start: Value, meta: Any, step: Callable[[Context, Value, Value], Value]) -> Value:
    """A Loop of `count` iterations in which `step(graph, iteration, held)` gives the next held value."""
    inner = _inner(g)
    known = [Meta((), int64), Meta((), bool_), meta]
    names = [g.fresh(n) for n in ("iteration", "go_on", "held")]
    iteration, go_on, held = [value_of(inner, name, m) for name, m in zip(names, known)]
    after = step(inner, iteration, held)
    infos = [type_info(name, m) for name, m in zip(names, known)]
    graph = onnx_package().helper.make_graph(
        inner.nodes, g.fresh("body"), infos, _outputs(inner, [go_on, after], known[1:])
    )
    return g.nodes_of("Loop", [count, None, start], [start.dtype], body=graph)[0]


def _at(g: Context, x: Value, index: Value, meta: Any) -> Value:
    found = g.node("SequenceAt", inner_value(g, x), index, dtype=_dtype(meta))
    return Value(g, found.name, found.dtype, getattr(meta, "shape", None))


@FORMS("list_of")
def list_of(g: Context, *items: Value, item: Any) -> Value:
    """SequenceConstruct, or SequenceEmpty."""
    if not items:
        return _empty(g, g.metas[0].item)
    type_info("list", g.metas[0])
    return g.node("SequenceConstruct", *items, dtype=LIST)


@FORMS("list_len")
def list_len(g: Context, x: Value) -> Value:
    """SequenceLength."""
    return g.node("SequenceLength", x)


@FORMS("list_append")
def list_append(g: Context, x: Value, item: Value) -> Value:
    """SequenceInsert at the end."""
    return g.node("SequenceInsert", x, item, dtype=LIST)


@FORMS("list_get")
def list_get(g: Context, x: Value, *, index: Any) -> Value:
    """SequenceAt."""
    return g.node("SequenceAt", x, g.scalar(index), dtype=_dtype(g.metas[0]))


@FORMS("list_set")
def list_set(g: Context, x: Value, item: Value, *, index: Any) -> Value:
    """SequenceErase, then SequenceInsert at the same place."""
    at = g.scalar(index)
    place = g.where(at < 0, at + g.node("SequenceLength", x), at)
    return g.node("SequenceInsert", g.node("SequenceErase", x, place), item, place, dtype=LIST)


@FORMS("list_put")
def list_put(g: Context, x: Value, item: Value, *, index: Any) -> Value:
    """SequenceInsert, and where that was not at the end a SequenceErase of what stood there."""
    at = g.scalar(index)
    longer = g.node("SequenceInsert", x, item, at, dtype=LIST)
    replaced = g.where(at < g.node("SequenceLength", x), g.scalar(1), g.scalar(0))

    def step(inner: Context, i: Value, held: Value) -> Value:
        return inner.node("SequenceErase", held, inner_value(inner, at) + 1, dtype=LIST)

    return _each(g, replaced, longer, g.metas[0], step)


@FORMS("list_remove")
def list_remove(g: Context, x: Value, *, index: Any) -> Value:
    """SequenceErase."""
    return g.node("SequenceErase", x, g.scalar(index))


@FORMS("list_order")
def list_order(g: Context, x: Value, order: Value) -> Value:
    """A Loop that takes the items one by one."""
    meta = g.metas[0]

    def step(inner: Context, i: Value, held: Value) -> Value:
        place = inner.gather(inner_value(inner, order), i, 0)
        return inner.node("SequenceInsert", held, _at(inner, x, place, meta.item), dtype=LIST)

    return _each(g, g.node("Size", order), _empty(g, meta.item), meta, step)


@FORMS("list_slice")
def list_slice(g: Context, x: Value, *, start: Any, stop: Any, step: Any) -> Value:
    """A Loop over the places that Slice takes of 0, 1, 2 ..."""
    places = g.arange(g.node("SequenceLength", x))
    numbers = Value(g, places.name, int64, (UNKNOWN,))
    found: Value = list_order(g, x, getitem(g, numbers, index=(slice(start, stop, step),)))
    return found


@FORMS("list_extend")
def list_extend(g: Context, x: Value, y: Value) -> Value:
    """A Loop that appends the items of y."""
    meta = g.metas[0]

    def step(inner: Context, i: Value, held: Value) -> Value:
        return inner.node("SequenceInsert", held, _at(inner, y, i, meta.item), dtype=LIST)

    return _each(g, g.node("SequenceLength", y), x, meta, step)


@FORMS("list_cast")
def list_cast(g: Context, x: Value, *, dtype: DType) -> Value:
    """A Loop that casts the items."""
    meta = g.metas[0]
    source = g.input_metas[0]

    def step(inner: Context, i: Value, held: Value) -> Value:
        item = _at(inner, x, i, source.item).cast(as_dtype(dtype))
        return inner.node("SequenceInsert", held, item, dtype=LIST)

    return _each(g, g.node("SequenceLength", x), _empty(g, meta.item), meta, step)


@FORMS("list_sum")
def list_sum(g: Context, x: Value, *, dtype: DType) -> Value:
    """A Loop that adds the items up from 0."""
    source = g.input_metas[0].item
    meta = Meta((UNKNOWN,) * len(source.shape), dtype)
    zero = g.constant(0, dtype)

    def step(inner: Context, i: Value, held: Value) -> Value:
        return held + _at(inner, x, i, source).cast(dtype)

    if not source.shape:
        return _each(g, g.node("SequenceLength", x), zero, meta, step)
    first = g.node("SequenceAt", x, g.constant(0), dtype=source.dtype).cast(dtype)
    return _each(g, g.node("SequenceLength", x), first * 0, meta, step)


@FORMS("list_stack")
def list_stack(g: Context, x: Value, *, axis: int) -> Value:
    """ConcatFromSequence along a new dimension."""
    return g.node("ConcatFromSequence", x, dtype=g.metas[0].dtype, axis=axis, new_axis=1)


@FORMS("list_join")
def list_join(g: Context, x: Value, *, axis: int) -> Value:
    """ConcatFromSequence."""
    return g.node("ConcatFromSequence", x, dtype=g.metas[0].dtype, axis=axis)


@FORMS("list_unstack")
def list_unstack(g: Context, x: Value, *, axis: int) -> Value:
    """SplitToSequence."""
    return g.node("SplitToSequence", x, dtype=LIST, axis=axis, keepdims=0)


# -- effects -----------------------------------------------------------------------------------------------------------


_CHECKS = ("assert", "raise", "print", "print_tensor")


def _refuse_checks(g: Context) -> None:
    if not g.drop_checks:
        raise UnsupportedError("ONNX neither prints nor raises", hint="pass drop_checks=True to leave it out")


@FORMS(*_CHECKS)
def check(g: Context, *values: Value, **_: Any) -> list[Value]:
    """Nothing, where the caller asked to leave checks and prints out."""
    _refuse_checks(g)
    return [g.node("Identity", value) for value, _ in zip(values, g.metas)]

"""Running the nodes of a graph and of its blocks: branches, loops, and lists of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.dtype import bool_
from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import Meta
from ..ir.builder import Builder
from ..ir.known_values import as_tensor
from ..ir.program import Block
from ..ir.regions import align_captures
from ..ops.control_flow import if_op, merge_metas, while_op
from ..ops.registry import get_op
from .arrays import WRITERS, Empty, start_lists, written_outside
from .graph import Graph, Node

Env = dict[Any, Any]
_TRIES = 8


@dataclass(frozen=True)
class Pending:
    """What a conditional block of a `.pdmodel` will give: known when another block's result stands beside it."""

    node: Node
    place: int
    before: Env  # what the block finds, of the values around it that it writes


@dataclass
class Run:
    """Records the nodes of graphs into a program."""

    builder: Builder
    run_node: Callable[[Node, list[Any]], list[Any]]

    def graph(self, graph: Graph, env: Env) -> list[Any]:
        """Record the nodes; gives the outputs."""
        self.nodes(graph, env)
        return [_known(env, name) for name in graph.outputs]

    def nodes(self, graph: Graph, env: Env) -> None:
        """Record the nodes; what they give stands in `env`."""
        for node in graph.nodes:
            handler = BLOCKS.get(node.name)
            found = handler(self, node, env) if handler else self.run_node(node, [_value(env, i) for i in node.inputs])
            _store(env, node, found)

    def closed(self, run: Callable[[], Sequence[Any]]) -> Block:
        """A block of what `run` records."""
        with self.builder.sub_block() as block:
            block.outputs = [self.builder.value(as_tensor(v)) for v in run()]
        return block


def _known(env: Env, name: Any) -> Any:
    if name not in env:
        raise FileFormatError(f"value {name!r} is used before anything gives it")
    if isinstance(env[name], Pending):
        raise UnsupportedError(f"value {name!r} is given by one branch alone, which cannot be read")
    return env[name]


def _value(env: Env, given: Any) -> Any:
    if given is None or hasattr(given, "dtype"):
        return given
    return [_known(env, name) for name in given] if isinstance(given, list) else _known(env, given)


def _store(env: Env, node: Node, found: Sequence[Any]) -> None:
    for name, value in zip(node.outputs, found):
        if isinstance(name, list):
            if len(name) != len(value):
                raise FileFormatError(f"operator {node.name} gives {len(value)} values for {len(name)} names")
            env.update(zip(name, value))
        elif name is not None:
            env[name] = value
    if len(found) < len(node.outputs) and any(name is not None for name in node.outputs[len(found) :]):
        for name in node.outputs[len(found) :]:
            env.pop(name, None) if not isinstance(name, list) else None


def _combine(run: Run, node: Node, env: Env) -> list[Any]:
    return [[_known(env, name) for name in node.inputs]]


def _split(run: Run, node: Node, env: Env) -> list[Any]:
    (value,) = [_known(env, name) for name in node.inputs]
    if not isinstance(value, list) or len(value) != len(node.outputs):
        raise FileFormatError("a list is taken apart into another number of values")
    return value


def _slice(run: Run, node: Node, env: Env) -> list[Any]:
    (value,) = [_known(env, name) for name in node.inputs]
    return [value[node.attrs["index"]]]


def _if(run: Run, node: Node, env: Env) -> list[Any]:
    condition = as_tensor(_known(env, node.inputs[0]))
    if len(node.blocks) != 2:
        raise FileFormatError("an if has two blocks")
    changed = start_lists(run.builder, written_outside(node.blocks, env), env, _each(run, node.blocks))

    def branch(graph: Graph) -> list[Any]:
        inner = dict(env)
        return [*run.graph(graph, inner), *[_known(inner, name) for name in changed]]

    blocks = [run.closed(lambda g=g: branch(g)) for g in node.blocks]  # type: ignore[misc]
    outer = align_captures(blocks)
    found = list(if_op(_scalar(condition), *outer, then=blocks[0], orelse=blocks[1]))
    env.update(zip(changed, found[len(found) - len(changed) :]))
    return found[: len(found) - len(changed)]


def _each(run: Run, graphs: Sequence[Graph]) -> Callable[[Env], None]:
    """Records blocks one after the other."""

    def record(env: Env) -> None:
        for graph in graphs:
            run.nodes(graph, env)

    return record


def _scalar(value: Any) -> Any:
    return value if value.ndim == 0 else get_op("reshape")(value, shape=())


def _while(run: Run, node: Node, env: Env) -> list[Any]:
    starts = [_known(env, name) for name in node.inputs]
    (graph,) = node.blocks
    if len(graph.args) != len(starts) - 1 or len(graph.outputs) != len(starts):
        raise FileFormatError("a while carries another number of values than its block")
    args = dict(zip(graph.args, starts[1:]))
    changed = start_lists(
        run.builder, written_outside([graph], env), env, lambda inner: run.nodes(graph, _with(inner, args))
    )
    start_lists(run.builder, graph.args, args, lambda inner: run.nodes(graph, _with(inner, env | inner)))
    starts = [_item(value) for value in (starts[0], *args.values())]

    def body(heads: Sequence[Any]) -> list[Any]:
        inner = {**env, **dict(zip([*graph.args, *changed], heads))}
        return [*run.graph(graph, inner), *[_known(inner, name) for name in changed]]

    found = _loop(run, [*starts, *[as_tensor(env[name]) for name in changed]], body)
    env.update(zip(changed, found[len(starts) :]))
    return found[1 : len(starts)]


def _with(env: Env, more: Env) -> Env:
    env.update(more)
    return env


def _item(value: Any) -> Any:
    """A value that a loop carries; raises UnsupportedError for an array to which nothing is written."""
    if isinstance(value, Empty):
        raise UnsupportedError("an array that nothing was written to cannot be read")
    return as_tensor(value)


def _loop(run: Run, starts: Sequence[Any], body: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
    """The values after a loop: the first one says whether it goes on, `body` takes and gives the others after it."""
    builder = run.builder
    carried = [_scalar(starts[0]), *starts[1:]]
    metas = [builder.value(v).meta for v in carried]
    for _ in range(_TRIES):
        with builder.trial() as trial:
            cond, inner = _blocks(run, metas, body)
            wider = [merge_metas(m, out.meta) for m, out in zip(metas, inner.outputs) if out is not None]
            if wider == metas:
                trial.keep()
                outer = align_captures([cond, inner])
                values = [builder.value(v) for v in carried]
                n = len(carried)
                return list(while_op(*values, *outer, cond=cond, body=inner, n_carried=n, n_xs=0, reverse=False)[:n])
        metas = wider
    raise UnsupportedError("the sizes of a loop's values do not settle")


def _blocks(run: Run, metas: Sequence[Any], body: Callable[[Sequence[Any]], list[Any]]) -> tuple[Block, Block]:
    stops = [isinstance(meta, Meta) and not meta.dtype.is_floating for meta in metas]
    with run.builder.sub_block() as cond:
        heads = [cond.add_input(m, stop_gradient=s) for m, s in zip(metas, stops)]
        cond.outputs = [run.builder.value(heads[0])]
    with run.builder.sub_block() as inner:
        heads = [inner.add_input(m, stop_gradient=s) for m, s in zip(metas, stops)]
        ends = [as_tensor(v) for v in body(heads[1:])]
        inner.outputs = [run.builder.value(v) for v in (_scalar(ends[0]), *ends[1:])]
    return cond, inner


# -- `.pdmodel`: blocks that write into the variables around them ------------------------------------------------------

_CONDITION, _COND, _MASK, _X, _INPUT = range(5)


def _old_while(run: Run, node: Node, env: Env) -> list[Any]:
    (condition,) = node.inputs[_CONDITION]
    (graph,) = node.blocks
    names = [condition, *[n for n in dict.fromkeys(node.outputs[0]) if n in env and n != condition]]
    names = start_lists(run.builder, names, env, lambda inner: run.nodes(graph, inner))

    def body(heads: Sequence[Any]) -> list[Any]:
        inner = {**env, **dict(zip(names[1:], heads))}
        run.nodes(graph, inner)
        return [_known(inner, name) for name in names]

    found = _loop(run, [as_tensor(_known(env, name)) for name in names], body)
    env.update(zip(names, found))
    return []


def _conditional(run: Run, node: Node, env: Env) -> list[Any]:
    """Values around the block that it writes are chosen now, others when another block's result stands beside them."""
    (condition,) = node.inputs[_COND]
    (graph,) = node.blocks
    names = [n for n in dict.fromkeys(node.outputs[0]) if n in env and not isinstance(env[n], Pending)]
    names = start_lists(run.builder, names, env, lambda inner: run.nodes(graph, inner))
    before = {name: env[name] for name in names}

    def branch(is_taken: bool) -> list[Any]:
        inner = dict(env)
        if is_taken:
            run.nodes(graph, inner)
        return [_known(inner, name) for name in names]

    if names:
        env.update(zip(names, _chosen(run, _known(env, condition), lambda: branch(True), lambda: branch(False))))
    return [[env[n] if n in before else Pending(node, i, before) for i, n in enumerate(node.outputs[0])]]


def _chosen(run: Run, condition: Any, then: Callable[[], list[Any]], orelse: Callable[[], list[Any]]) -> Sequence[Any]:
    """What one of two records gives, by a number."""
    choose = get_op("cast")(_scalar(as_tensor(condition)), dtype=bool_)
    blocks = [run.closed(record) for record in (then, orelse)]
    outer = align_captures(blocks)
    results: Sequence[Any] = if_op(choose, *outer, then=blocks[0], orelse=blocks[1])
    return results


def _select(run: Run, node: Node, env: Env) -> list[Any]:
    """One of two values by a number; where conditional blocks give them, these become the branches of an `if`."""
    (mask,) = node.inputs[_MASK]
    names = node.inputs[_X]
    if len(names) != 2:
        raise UnsupportedError("select_input among other than two values cannot be read")
    orelse, then = names
    return [[_chosen(run, _known(env, mask), lambda: [_end(run, env, then)], lambda: [_end(run, env, orelse)])[0]]]


def _end(run: Run, env: Env, name: str) -> Any:
    value = env.get(name)
    if not isinstance(value, Pending):
        return _known(env, name)
    inner = env | value.before
    run.nodes(value.node.blocks[0], inner)
    return _known(inner, value.node.outputs[0][value.place])


def _writer(writer: Callable[[Env, Node], list[Any]]) -> Callable[[Run, Node, Env], list[Any]]:
    def handler(run: Run, node: Node, env: Env) -> list[Any]:
        for name in node.inputs:
            _known(env, name)
        return writer(env, node)

    return handler


BLOCKS: dict[str, Callable[[Run, Node, Env], list[Any]]] = {
    "builtin.combine": _combine,
    "builtin.split": _split,
    "builtin.slice": _slice,
    "if": _if,
    "while": _while,
    "old.while": _old_while,
    "old.conditional_block": _conditional,
    "old.select_input": _select,
    **{name: _writer(writer) for name, writer in WRITERS.items()},
}

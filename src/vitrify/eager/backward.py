"""Reverse mode over the tape: dependency counts, accumulation, hooks, `grad` with create_graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.dispatch import bind_pair
from ..core.errors import ArgumentError, ShapeError, UnsupportedError
from ..core.modes import grad_enabled, scoped
from ..core.setting import WATCH
from ..core.timeline import TracerEventType, span
from ..ops.registry import get_op
from .tape import TENSORS, Node, as_leaf

if TYPE_CHECKING:
    from .tensor import Tensor


class _Pass:
    """State of one backward pass: pending dependency counts and cotangents received so far."""

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.pending: dict[int, int] = {}
        self.received: dict[int, list[Tensor | None]] = {}
        self.leaves: dict[int, tuple[Tensor, Tensor]] = {}
        self.captured: dict[tuple[int, int], Tensor] = {}
        self.wanted: set[tuple[int, int]] = set()
        self.add = get_op("add")

    def receive(self, node: Node, index: int, ct: Tensor) -> None:
        slots = self.received.get(id(node))
        if slots is None:
            slots = self.received[id(node)] = [None] * len(node.outputs)
        held = slots[index]
        slots[index] = ct if held is None else bind_pair(self.add, held, ct)

    def receive_leaf(self, leaf: Tensor, ct: Tensor) -> None:
        held = self.leaves.get(id(leaf))
        self.leaves[id(leaf)] = (leaf, ct if held is None else bind_pair(self.add, held[1], ct))


def _count_dependencies(roots: Sequence[Node], relevant: set[int] | None) -> dict[int, int]:
    """For each reachable node, the number of edges into it from reachable nodes."""
    counts: dict[int, int] = {}
    seen: set[int] = {id(n) for n in roots}
    stack = list(roots)
    while stack:
        node = stack.pop()
        for edge in node.edges:
            child = None if edge is None else edge[0]
            if child is None:
                continue
            key = id(child)
            if relevant is not None and key not in relevant:
                continue
            counts[key] = counts.get(key, 0) + 1
            if key not in seen:
                seen.add(key)
                stack.append(child)
    return counts


def _relevant_nodes(roots: Sequence[Node], nodes: set[int], leaves: set[int], blocked: set[int]) -> set[int]:
    """Nodes from which one of the target nodes or leaves can be reached, without passing blocked leaves."""
    reaches: dict[int, bool] = {}
    stack: list[tuple[Node, bool]] = [(n, False) for n in roots]
    while stack:
        node, expanded = stack.pop()
        key = id(node)
        if expanded:
            hit = key in nodes
            for edge in node.edges:
                if edge is None or hit:
                    continue
                child, _, leaf = edge
                hit = reaches.get(id(child), False) if child is not None else id(leaf) in leaves
            reaches[key] = hit
        elif key not in reaches:
            reaches[key] = False
            stack.append((node, True))
            stack.extend((e[0], False) for e in node.edges if e is not None and e[0] is not None)
    return {key for key, hit in reaches.items() if hit and key not in blocked}


def _run_hooks(hooks: Sequence[Any], ct: Tensor, create_graph: bool) -> Tensor:
    """What hooks make of a cotangent. Leaves' run when the walk is over, in the same mode as those of other tensors."""
    if not hooks:
        return ct
    found = shown = as_leaf(ct)
    with scoped(grad_enabled, create_graph):
        for hook in tuple(hooks):
            new = hook(found)
            if new is not None:
                found = new
    return ct if found is shown and shown._data is ct._data else found


def _received(state: _Pass, node: Node) -> list[Tensor | None]:
    """The cotangents of a node's outputs, shown to all who asked for them."""
    cts = state.received.pop(id(node), None) or [None] * len(node.outputs)
    for index, ct in enumerate(cts):
        if ct is None:
            continue
        if node.hooks and index in node.hooks:
            ct = cts[index] = _run_hooks(node.hooks[index], ct, state.create_graph)
        if (id(node), index) in state.wanted:
            state.captured[id(node), index] = ct
        if node.retained and index in node.retained:
            tensor = node.retained[index]()
            if tensor is not None:
                tensor._grad = None  # what is no leaf keeps the gradient of the last backward, as in PaddlePaddle
                tensor._accumulate(ct)
    return cts


def _visit(state: _Pass, node: Node, relevant: set[int] | None, ready: list[Node]) -> None:
    cts = _received(state, node)
    is_needed = relevant is None or _leads_on(node, relevant, state)
    has_cotangent = any(ct is not None for ct in cts)
    last = not state.keep_graph
    flowing = node.vjp(cts, last) if is_needed and has_cotangent else [None] * len(node.edges)
    for edge, ct in zip(node.edges, flowing):
        if edge is None:
            continue
        child, index, leaf = edge
        if child is None:
            if ct is not None:
                assert leaf is not None
                state.receive_leaf(leaf, ct)
            continue
        key = id(child)
        if relevant is not None and key not in relevant:
            continue
        if ct is not None:
            state.receive(child, index, ct)
        state.pending[key] -= 1
        if state.pending[key] == 0:
            ready.append(child)
    if last and is_needed:
        node.release()


def _leads_on(node: Node, relevant: set[int], state: _Pass) -> bool:
    """Whether something beyond this node is wanted, so that its vjp must run."""
    wanted_leaves = state.wanted
    return any(
        (id(child) in relevant) if child is not None else (id(leaf), -1) in wanted_leaves
        for child, _, leaf in (e for e in node.edges if e is not None)
    )


def _seed(state: _Pass, outputs: Sequence[Tensor], cotangents: Sequence[Tensor | None]) -> list[Node]:
    roots: dict[int, Node] = {}
    for out, ct in zip(outputs, cotangents):
        if ct is None:
            ct = TENSORS.ones_like(out)
        elif tuple(ct._data.shape) != tuple(out._data.shape):
            raise ShapeError(
                f"backward: grad_tensor has shape {list(ct._data.shape)}, the tensor has {list(out._data.shape)}"
            )
        elif ct._data.dtype != out._data.dtype:
            ct = get_op("cast")(ct, dtype=out.dtype)
        ct.version_cell()  # marks the memory as the caller's, which no `.grad` may take over
        node = out._node
        if node is None:
            state.receive_leaf(out, ct)
        else:
            roots[id(node)] = node
            state.receive(node, out._index, ct)
    return list(roots.values())


def _walk(state: _Pass, roots: Sequence[Node], relevant: set[int] | None) -> None:
    state.pending = _count_dependencies(roots, relevant)
    ready = [node for node in roots if state.pending.get(id(node), 0) == 0]
    token = grad_enabled.set(state.create_graph)  # `scoped` would take as long as a node
    try:
        if WATCH.on:
            with span(TracerEventType.Backward, "backward"):
                while ready:
                    _visit_noted(state, ready.pop(), relevant, ready)
        while ready:
            _visit(state, ready.pop(), relevant, ready)
    finally:
        grad_enabled.reset(token)


def _visit_noted(state: _Pass, node: Node, relevant: set[int] | None, ready: list[Node]) -> None:
    with span(TracerEventType.GradNode, f"{node.name} grad"):
        _visit(state, node, relevant, ready)


def refuse_dump(op: str, path: str | None) -> None:
    """Raise UnsupportedError if a picture of the tape is asked for."""
    if path is not None:
        raise UnsupportedError(
            f"{op}: dump_backward_graph_path is not supported",
            hint="to_static programs print their backward: f.concrete_program",
        )


def run_backward(outputs: Sequence[Tensor], cotangents: Sequence[Tensor | None], retain_graph: bool = False) -> None:
    """Accumulate into `.grad` of every leaf the vjp of `outputs` with `cotangents` (ones where None).

    Outputs that want no gradient give none, as in PaddlePaddle.
    """
    wanted = [i for i, out in enumerate(outputs) if not out.stop_gradient]
    if not wanted:
        return
    outputs, cotangents = [outputs[i] for i in wanted], [cotangents[i] for i in wanted]
    state = _Pass(retain_graph, create_graph=False)
    roots = _seed(state, outputs, cotangents)
    _walk(state, roots, None)
    for leaf, ct in state.leaves.values():
        leaf._accumulate(_run_hooks(leaf._hooks or (), ct, create_graph=False))


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor | None],
    *,
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    no_grad_vars: Sequence[Tensor],
) -> list[Tensor | None]:
    """The cotangent of each of `inputs`, leaving every `.grad` alone; with create_graph they are differentiable."""
    state = _Pass(retain_graph or create_graph, create_graph)
    keys = [(id(t), -1) if t._node is None else (id(t._node), t._index) for t in inputs]
    state.wanted = set(keys)
    roots = _seed(state, outputs, cotangents)
    nodes = {key for key, index in keys if index >= 0}
    leaves = {key for key, index in keys if index < 0}
    blocked = {id(t._node) for t in no_grad_vars if t._node is not None}
    relevant = _relevant_nodes(roots, nodes, leaves, blocked)
    _walk(state, [n for n in roots if id(n) in relevant], relevant)
    found: list[Tensor | None] = []
    for tensor, key in zip(inputs, keys):
        held = state.captured.get(key) if key[1] >= 0 else None
        if key[1] < 0 and key[0] in state.leaves:
            held = _run_hooks(tensor._hooks or (), state.leaves[key[0]][1], create_graph)
        if held is None and not allow_unused:
            raise ArgumentError(
                f"grad: input {tensor.name!r} is not used to compute the outputs",
                hint="pass allow_unused=True to get None for it",
            )
        found.append(held)
    return found

"""The tape: one GradNode per differentiable op call. Nodes point to what they came from, never back (no cycles)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..core.dispatch import EAGER
from ..core.errors import StaleBackwardError
from ..ops.registry import OpDef, Rule, Vjp
from .kernels import LARGE

if TYPE_CHECKING:
    from .tensor import Tensor

Hook = Callable[["Tensor"], Any]


class Node(Protocol):
    """What backward needs of a tape node."""

    hooks: dict[int, list[Hook]] | None
    retained: dict[int, Any] | None

    @property
    def name(self) -> str:
        """What it differentiates, for messages and pictures."""

    @property
    def edges(self) -> Sequence[Edge | None]:
        """Where the cotangent of each input goes; None for inputs that want none."""

    @property
    def outputs(self) -> Sequence[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and dtype of each output."""

    def vjp(self, cotangents: list[Tensor | None], last: bool = False) -> Sequence[Tensor | None]:
        """Cotangents for each edge, given those of each output (None stands for zeros).

        When it is the `last` time, what is kept for it may be given up while it computes, as may the cotangents, by
        emptying their list: nobody else needs them.
        """

    def release(self) -> None:
        """Drop what was kept for backward; a later `vjp` raises StaleBackwardError."""


# Where a cotangent goes: output `index` of an upstream node, (node, index, None), or a leaf tensor, (None, -1, leaf).
# A plain tuple: every recorded op call makes one or two, and one with names takes four times as long.
Edge: TypeAlias = "tuple[Node | None, int, Tensor | None]"


def meta_at(edge: Edge) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the dtype that a cotangent has where it goes."""
    node, index, leaf = edge
    if leaf is not None:
        return leaf._data.shape, leaf._data.dtype
    return node.outputs[index]  # type: ignore[union-attr]


class Saved:
    """A tensor kept for backward: its memory, the version it had, and where it stands on the tape.

    Holds no Tensor but leaves, so that a tensor changed in place, whose new node keeps its old content, is no cycle.
    """

    __slots__ = ("array", "cell", "index", "leaf", "node", "version")

    def __init__(self, tensor: Tensor) -> None:
        cell = tensor._cell
        if cell is None:
            cell = tensor._cell = [0]
        node = tensor._node
        self.array = tensor._data
        self.cell = cell
        self.version = cell[0]
        self.node = node
        self.index = tensor._index
        self.leaf = tensor if node is None and not tensor.stop_gradient else None

    def check(self, owner: str, name: str) -> None:
        """Raise StaleBackwardError when the memory was modified in place since."""
        if self.cell[0] != self.version or (self.leaf is not None and self.leaf._data is not self.array):
            raise StaleBackwardError(
                f"{owner}: backward needs {name} (shape {list(self.array.shape)}), which was modified in place: "
                f"its version is {self.cell[0]}, backward expects {self.version}",
                hint="modify a copy (x.clone()), or use the op without the trailing underscore",
            )

    def restore(self, owner: Node, name: str) -> Tensor:
        """The tensor as it was."""
        self.check(owner.name, name)
        if self.leaf is not None:
            return self.leaf
        out = TENSORS.wrap(self.array) if self.node is None else TENSORS.of_output(self.array, self.node, self.index)
        out._cell = self.cell
        return out

    def detach_memory(self) -> None:
        """Keep a copy, because the memory is about to be overwritten."""
        self.array = self.array.copy()
        self.cell = [self.version]


def as_leaf(ct: Tensor) -> Tensor:
    """A cotangent as code of the user's gets it, over the same memory: it wants a gradient, as in PaddlePaddle."""
    if not ct.stop_gradient:
        return ct
    shown = TENSORS.wrap(ct._data)
    shown._cell = ct.version_cell()
    shown.stop_gradient = False
    return shown


class SavedOutput(Saved):
    """An output of the node itself, which is known only when it is asked for."""

    __slots__ = ()

    def __init__(self, tensor: Tensor, index: int) -> None:
        self.array = tensor._data
        self.cell = tensor.version_cell()
        self.version = self.cell[0]
        self.node = None
        self.index = index
        self.leaf = None

    def restore(self, owner: Node, name: str) -> Tensor:
        """The output as it was."""
        self.check(owner.name, name)
        out = TENSORS.of_output(self.array, owner, self.index)
        out._cell = self.cell
        return out


class Like:
    """A tensor of which a rule only uses shape and dtype: kept without its memory."""

    __slots__ = ("dtype", "kind", "shape")

    def __init__(self, array: Any) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self.kind = array.__class__

    def restore(self, owner: Node, name: str) -> Tensor:
        """A tensor of that shape and dtype whose elements, all 0, share one place in memory."""
        if self.kind is np.ndarray:
            return TENSORS.wrap(np.ndarray(self.shape, self.dtype, _ZEROS, 0, (0,) * len(self.shape)))
        return TENSORS.zeros(self.shape, self.dtype)


_ZEROS = bytes(16)


class Plan:
    """What one op's tape nodes have in common when the same inputs want cotangents."""

    __slots__ = ("by_index", "keeps", "names", "needs")

    def __init__(self, op: OpDef, needs: frozenset[str], names: Sequence[str], keeps: Sequence[Any]) -> None:
        self.needs = needs
        self.names = names
        self.keeps = keeps
        rules = op.vjp
        assert isinstance(rules, Vjp)
        per_input = rules.per_input
        # The rule of each named input that wants a cotangent.
        self.by_index = [per_input[name] if name in needs and name in per_input else None for name in op.inputs]


class GradNode:
    """One op call on the tape: the op, what its vjp rules keep, and where the cotangents go."""

    __slots__ = ("attrs", "edges", "hooks", "op", "outputs", "plan", "retained", "saved")

    def __init__(
        self,
        op: OpDef,
        attrs: Mapping[str, Any],
        edges: Sequence[Edge | None],
        plan: Plan,
        saved: tuple[Any, ...],
        outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.edges = edges
        self.plan = plan
        self.saved: tuple[Any, ...] | None = saved
        self.outputs = outputs
        self.hooks: dict[int, list[Hook]] | None = None
        self.retained: dict[int, Any] | None = None

    @property
    def name(self) -> str:
        """The op's name, for messages and pictures."""
        return self.op.name

    def release(self) -> None:
        """Drop the residuals."""
        self.saved = None

    def _restore(self, kept: Any, name: str) -> Any:
        if isinstance(kept, (Saved, Like)):
            return kept.restore(self, name)
        if isinstance(kept, tuple):
            return tuple([self._restore(k, name) for k in kept])
        return kept

    def keep_own(self, array: Any, cell: Any) -> None:
        """Copy what was kept of `array`, or of views of it, which share its version `cell`: an in-place op is about to
        overwrite it with this node's output.
        """
        for kept in self.saved or ():
            for item in kept if isinstance(kept, tuple) else (kept,):
                if isinstance(item, Saved) and (item.array is array or item.cell is cell):
                    item.detach_memory()

    def vjp(self, cotangents: list[Tensor | None], last: bool = False) -> Sequence[Tensor | None]:
        """Cotangents for each input, reduced to the input's shape, in its dtype."""
        op = self.op
        cts: Any = [ct if ct is not None else TENSORS.zeros(*meta) for ct, meta in zip(cotangents, self.outputs)]
        cts = tuple(cts) if op.multiple else cts[0]
        kept = self._residuals()
        is_large = not op.multiple and cts._data.size >= LARGE
        found = EAGER.large_rule(self, cts, kept) if is_large else None
        return self._by_edge(self.by_rules(cts, kept) if found is None else found)

    def by_rules(self, cts: Any, kept: Mapping[str, Any]) -> Sequence[Any]:
        """What the rules give for each named input, from the cotangents of the outputs and what they keep."""
        rules = self.op.vjp
        assert isinstance(rules, Vjp)
        if rules.joint is None:
            return [None if r is None else r.fn(cts, **self._kwargs(r, kept)) for r in self.plan.by_index]
        found = rules.joint.fn(cts, **self._kwargs(rules.joint, kept))
        return [found.get(name) for name in self.op.inputs]

    def _residuals(self) -> dict[str, Any]:
        saved = self.saved
        if saved is None:
            raise StaleBackwardError(
                f"{self.op.name}: backward ran through this part of the graph before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        return {name: self._restore(kept, name) for name, kept in zip(self.plan.names, saved)}

    def _kwargs(self, rule: Rule, kept: Mapping[str, Any]) -> dict[str, Any]:
        attrs = self.attrs
        return {name: kept[name] if name in kept else attrs.get(name, self.plan.needs) for name in rule.residuals}

    def _by_edge(self, by_index: Sequence[Any]) -> list[Tensor | None]:
        last = len(by_index) - 1
        variadic, broadcast = self.op.variadic, self.op.broadcast
        out: list[Tensor | None] = []
        for i, edge in enumerate(self.edges):
            if edge is None:
                out.append(None)
                continue
            ct = by_index[i if i < last else last]
            if variadic and i >= last and ct is not None:
                ct = ct[i - last]
            if ct is not None:
                shape, dtype = meta_at(edge)
                if broadcast and ct._data.shape != shape:
                    ct = TENSORS.reduce_to(ct, shape)
                # Rules of integers may compute in floats; a node that only refuses knows no dtype.
                if dtype is not None and ct._data.dtype is not dtype and ct._data.dtype != dtype:
                    ct = TENSORS.cast(ct, dtype)
            out.append(ct)
        return out


class TensorFactory:
    """How the tape makes tensors; filled in once by `eager.tensor`, which imports this module."""

    __slots__ = ("as_tensor", "cast", "of_output", "ones_like", "reduce_to", "wrap", "zeros")

    as_tensor: Callable[[Any], Any]
    cast: Callable[[Tensor, np.dtype[Any]], Tensor]
    wrap: Callable[[Any], Tensor]
    of_output: Callable[[Any, Node, int], Tensor]
    zeros: Callable[[tuple[int, ...], np.dtype[Any]], Tensor]
    ones_like: Callable[[Tensor], Tensor]
    reduce_to: Callable[[Tensor, tuple[int, ...]], Tensor]


def _by_themselves(node: GradNode, cotangent: Tensor, kept: Mapping[str, Any]) -> None:
    """Rules are called, one op after the other."""


EAGER.large_rule = _by_themselves
TENSORS = TensorFactory()

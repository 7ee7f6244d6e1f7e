"""The tape: one GradNode per differentiable op call. Nodes point to what they came from, never back (no cycles)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.errors import StaleBackwardError
from ..ops.registry import OpDef, Rule, Vjp

if TYPE_CHECKING:
    from .tensor import Tensor

Hook = Callable[["Tensor"], Any]


class Edge:
    """Where a cotangent goes: output `index` of an upstream node, or a leaf tensor (`node` is None)."""

    __slots__ = ("index", "leaf", "node")

    def __init__(self, node: Node | None, index: int, leaf: Tensor | None) -> None:
        self.node = node
        self.index = index
        self.leaf = leaf


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

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents for each edge, given those of each output (None stands for zeros)."""

    def release(self) -> None:
        """Drop what was kept for backward; a later `vjp` raises StaleBackwardError."""


class Saved:
    """A tensor kept for backward: its memory, the version it had, and where it stands on the tape.

    Holds no Tensor but leaves, so that a tensor changed in place, whose new node keeps its old content, is no cycle.
    """

    __slots__ = ("array", "cell", "index", "leaf", "node", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.array = tensor._data
        self.cell = tensor.version_cell()
        self.version = self.cell[0]
        self.node = tensor._node
        self.index = tensor._index
        self.leaf = tensor if self.node is None and not tensor.stop_gradient else None

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


class GradNode:
    """One op call on the tape: the op, what its vjp rules keep, and where the cotangents go."""

    __slots__ = ("attrs", "edges", "hooks", "needs", "op", "outputs", "reduce", "retained", "saved", "variadic_count")

    def __init__(
        self,
        op: OpDef,
        attrs: Mapping[str, Any],
        edges: Sequence[Edge | None],
        needs: frozenset[str],
        saved: dict[str, Any],
        reduce: Sequence[tuple[int, ...] | None] | None,
        outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.edges = edges
        self.needs = needs
        self.saved: dict[str, Any] | None = saved
        self.reduce = reduce
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

    def _kwargs(self, rule: Rule, saved: dict[str, Any]) -> dict[str, Any]:
        kwargs: dict[str, Any] = {}
        for name in rule.residuals:
            if name in self.attrs:
                kwargs[name] = self.attrs[name]
            elif name == "needs":
                kwargs[name] = self.needs
            else:
                kwargs[name] = self._restore(saved[name], name)
        return kwargs

    def _restore(self, kept: Any, name: str) -> Any:
        if isinstance(kept, Saved):
            return kept.restore(self, name)
        if isinstance(kept, tuple):
            return tuple(self._restore(k, name) for k in kept)
        return kept

    def keep_own(self, array: Any) -> None:
        """Copy what was kept of `array`, which an in-place op is about to overwrite with this node's output."""
        for kept in (self.saved or {}).values():
            for item in kept if isinstance(kept, tuple) else (kept,):
                if isinstance(item, Saved) and item.array is array:
                    item.detach_memory()

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents for each input, reduced to the input's shape."""
        saved = self.saved
        if saved is None:
            raise StaleBackwardError(
                f"{self.op.name}: backward ran through this part of the graph before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        cts: Any = tuple(ct if ct is not None else TENSORS.zeros(*meta) for ct, meta in zip(cotangents, self.outputs))
        if not self.op.multiple:
            cts = cts[0]
        rule_table = self.op.vjp
        assert isinstance(rule_table, Vjp)
        found: dict[str, Any] = {}
        if rule_table.joint is not None:
            found = rule_table.joint.fn(cts, **self._kwargs(rule_table.joint, saved))
        else:
            for name, rule in rule_table.per_input.items():
                if name in self.needs:
                    found[name] = rule.fn(cts, **self._kwargs(rule, saved))
        return self._by_edge(found)

    def _by_edge(self, found: Mapping[str, Any]) -> list[Tensor | None]:
        names = self.op.inputs
        last = len(names) - 1
        out: list[Tensor | None] = []
        for i, edge in enumerate(self.edges):
            if edge is None:
                out.append(None)
                continue
            if self.op.variadic and i >= last:
                many = found.get(names[last])
                ct = None if many is None else many[i - last]
            else:
                ct = found.get(names[i])
            shape = None if self.reduce is None else self.reduce[i]
            out.append(ct if ct is None or shape is None else TENSORS.reduce_to(ct, shape))
        return out


class TensorFactory:
    """How the tape makes tensors; filled in once by `eager.tensor`, which imports this module."""

    __slots__ = ("as_tensor", "of_output", "ones_like", "reduce_to", "wrap", "zeros")

    as_tensor: Callable[[Any], Any]
    wrap: Callable[[Any], Tensor]
    of_output: Callable[[Any, Node, int], Tensor]
    zeros: Callable[[tuple[int, ...], np.dtype[Any]], Tensor]
    ones_like: Callable[[Tensor], Tensor]
    reduce_to: Callable[[Tensor, tuple[int, ...]], Tensor]


TENSORS = TensorFactory()

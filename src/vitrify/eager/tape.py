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

    name: str
    edges: Sequence[Edge | None]
    hooks: dict[int, list[Hook]] | None
    retained: dict[int, Any] | None
    outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents for each edge, given those of each output (None stands for zeros)."""

    def release(self) -> None:
        """Drop what was kept for backward; a later `vjp` raises StaleBackwardError."""


class SavedInput:
    """An input kept for backward, with the version it had."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.version = tensor.inplace_version

    def restore(self, owner: str) -> Tensor:
        """The tensor; raises StaleBackwardError when it was modified in place since."""
        if self.tensor.inplace_version != self.version:
            raise StaleBackwardError(
                f"{owner}: tensor {self.tensor.name!r} needed by backward was modified in place: its version is "
                f"{self.tensor.inplace_version}, backward expects {self.version}",
                hint="modify a copy (x.clone()), or use the op without the trailing underscore",
            )
        return self.tensor


class SavedOutput:
    """An output kept for backward as its array, so that the node does not point at its own tensor."""

    __slots__ = ("array", "cell", "index", "version")

    def __init__(self, tensor: Tensor, index: int) -> None:
        self.array = tensor._data
        self.cell = tensor.version_cell()
        self.version = self.cell[0]
        self.index = index

    def check(self, owner: str) -> None:
        """Raise StaleBackwardError when the output was modified in place since."""
        if self.cell[0] != self.version:
            raise StaleBackwardError(
                f"{owner}: its output was modified in place before backward used it: its version is {self.cell[0]}, "
                f"backward expects {self.version}",
                hint="modify a copy (x.clone()), or use the op without the trailing underscore",
            )


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
                kwargs[name] = self._restore(saved[name])
        return kwargs

    def _restore(self, kept: Any) -> Any:
        if isinstance(kept, SavedInput):
            return kept.restore(self.op.name)
        if isinstance(kept, SavedOutput):
            kept.check(self.op.name)
            return TENSORS.of_output(kept.array, self, kept.index)
        if isinstance(kept, tuple):
            return tuple(self._restore(k) for k in kept)
        return kept

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents for each input, reduced to the input's shape."""
        saved = self.saved
        if saved is None:
            raise StaleBackwardError(
                f"{self.op.name}: backward ran through this part of the graph before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        cts: Any = tuple(
            ct if ct is not None else TENSORS.zeros(*meta) for ct, meta in zip(cotangents, self.outputs)
        )
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

    __slots__ = ("of_output", "ones", "reduce_to", "zeros")

    of_output: Callable[[Any, Node, int], Tensor]
    zeros: Callable[[tuple[int, ...], np.dtype[Any]], Tensor]
    ones: Callable[[tuple[int, ...], np.dtype[Any]], Tensor]
    reduce_to: Callable[[Tensor, tuple[int, ...]], Tensor]


TENSORS = TensorFactory()

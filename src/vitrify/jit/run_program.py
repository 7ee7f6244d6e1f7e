"""run_program: a whole program as one node of the eager tape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import StaleBackwardError
from ..core.modes import grad_enabled
from ..core.rng import default_generator, rng_guard
from ..eager.tape import Edge, Hook
from ..eager.tensor import Tensor, wrap
from .nested import arrays_of, items_of, map_items, versions_of, wrapped

if TYPE_CHECKING:
    from .partial_program import CompiledSegment

Array = np.ndarray[Any, Any]


class SegmentNode:
    """The tape node of one call of a compiled segment.

    Keeps what the backward program reads: residual arrays, and for residuals that are inputs their version, so that a
    parameter changed in place between forward and backward is noticed.
    """

    __slots__ = (
        "edges",
        "hooks",
        "inputs",
        "name",
        "outputs",
        "residuals",
        "retained",
        "rng_state",
        "segment",
        "versions",
    )

    def __init__(
        self,
        segment: CompiledSegment,
        inputs: Sequence[Tensor],
        residuals: Sequence[Any],
        outputs: Sequence[Tensor],
        rng_state: Any,
    ) -> None:
        self.name = "run_program"
        self.segment = segment
        self.inputs: Sequence[Tensor] | None = inputs
        self.residuals: Sequence[Any] | None = residuals
        self.versions = self._versions(inputs)
        self.rng_state = rng_state
        self.hooks: dict[int, list[Hook]] | None = None
        self.retained: dict[int, Any] | None = None
        self.outputs = [(t._data.shape, t._data.dtype) for t in outputs]
        self.edges: list[Edge | None] = self._edges(inputs)

    def _versions(self, inputs: Sequence[Any]) -> list[Any]:
        return [inputs[i].inplace_version for i in self.segment.watched]

    def _edges(self, inputs: Sequence[Any]) -> list[Edge | None]:
        return [_edge(inputs[i]) for i in self.segment.wrt]

    def release(self) -> None:
        """Drop the residuals."""
        self.residuals = None
        self.inputs = None

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents of the inputs that want one, by the backward program."""
        inputs, residuals = self._kept()
        segment = self.segment
        cts = [cotangents[i] if cotangents[i] is not None else wrap(np.zeros(*self.outputs[i])) for i in segment.seeds]
        if grad_enabled.get():
            with rng_guard_at(self.rng_state):
                return segment.differentiable().run([*inputs, *[ct for ct in cts if ct is not None]])
        grads = segment.backward_core(*residuals, *[ct._data for ct in cts if ct is not None])
        return [wrap(g) for g in grads]

    def _kept(self) -> tuple[Sequence[Tensor], Sequence[Any]]:
        inputs, residuals = self.inputs, self.residuals
        if inputs is None or residuals is None:
            raise StaleBackwardError(
                "run_program: backward ran through this compiled segment before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        self._check_versions(inputs)
        return inputs, residuals

    def _check_versions(self, inputs: Sequence[Tensor]) -> None:
        for index, version, now in zip(self.segment.watched, self.versions, self._versions(inputs)):
            if now != version:
                name = getattr(inputs[index], "name", "in a list")
                raise StaleBackwardError(
                    f"run_program: tensor {name!r} needed by backward was modified in place after the "
                    f"compiled segment ran: its version is {now}, backward expects {version}",
                    hint="call backward before changing it (for parameters: before optimizer.step())",
                )


class NestedNode(SegmentNode):
    """The tape node of a segment that takes or gives lists. `numbers`: its outputs, a number for each tensor."""

    __slots__ = ("numbers",)

    def __init__(
        self, segment: CompiledSegment, inputs: Sequence[Any], residuals: Sequence[Any], outputs: list[Any], state: Any
    ) -> None:
        super().__init__(segment, inputs, residuals, list(items_of(outputs)), state)
        counter = count()
        self.numbers: list[Any] = map_items(lambda _: next(counter), outputs)

    def _versions(self, inputs: Sequence[Any]) -> list[Any]:
        return [versions_of(inputs[i]) for i in self.segment.watched]

    def _edges(self, inputs: Sequence[Any]) -> list[Edge | None]:
        return [_edge(t) for i in self.segment.wrt for t in items_of(inputs[i])]

    def vjp(self, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """Cotangents of all tensors in the inputs that want one."""
        inputs, residuals = self._kept()

        def given(number: int) -> Tensor:
            ct = cotangents[number]
            return ct if ct is not None else wrap(np.zeros(*self.outputs[number]))

        cts = [map_items(given, self.numbers[i]) for i in self.segment.seeds]
        if grad_enabled.get():
            with rng_guard_at(self.rng_state):
                return list(items_of(self.segment.differentiable().run([*inputs, *cts])))
        grads = self.segment.backward_core(*residuals, *map(arrays_of, cts))
        return list(items_of(wrapped(list(grads))))


def _edge(tensor: Tensor) -> Edge | None:
    if tensor.stop_gradient:
        return None
    node = tensor._node
    return Edge(None, -1, tensor) if node is None else Edge(node, tensor._index, None)


def rng_guard_at(state: Any) -> Any:
    """A context in which random ops draw what they drew from `state` on; the generator is restored after it."""
    return rng_guard(_generator_at(state))


def _generator_at(state: Any) -> Any:
    generator = type(default_generator())(0)
    if state is not None:
        generator.set_state(state)
    return generator

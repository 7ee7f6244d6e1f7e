"""run_program: a whole program as one node of the eager tape."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from ..core.errors import StaleBackwardError
from ..core.modes import grad_enabled
from ..core.rng import default_generator, rng_guard
from ..eager.tape import Edge, Hook
from ..eager.tensor import Tensor
from .cones import Cone, union
from .nested import arrays_of, items_of, map_items, versions_of, wrapped

if TYPE_CHECKING:
    from .segment import CompiledSegment

NOTHING = Cone()


class SegmentNode:
    """The tape node of one call of a compiled segment.

    Keeps what the backward program reads: residual arrays, and for residuals that are inputs their version, so that a
    parameter changed in place between forward and backward is noticed.
    """

    __slots__ = (
        "done",
        "edges",
        "given",
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
        self.outputs = [None if t is None else (t._data.shape, t._data.dtype) for t in outputs]
        self.edges: list[Edge | None] = self._edges(inputs)
        # Outputs that the latest backward came from; what backward passed for good.
        self.given: list[int] = []
        self.done = NOTHING

    def _versions(self, inputs: Sequence[Any]) -> list[Any]:
        return [inputs[i].inplace_version for i in self.segment.kept.watched]

    def _edges(self, inputs: Sequence[Any]) -> list[Edge | None]:
        return [tape_edge(inputs[i]) for i in self.segment.wrt]

    def release(self) -> None:
        """Drop the residuals, unless some output depends on nothing that backward passed: its own may still come."""
        if self._is_spent():
            self.residuals = None
            self.inputs = None

    def _is_spent(self) -> bool:
        """Whether every output depends on something that backward has passed, so that none may pass again."""
        seeds = self.segment.seeds
        if 0 < len(self.given) < len(seeds):
            cones = self.segment.cones
            self.done |= union([cones[i] for i in self.given])
            return not any(cones[i].operators and self.done.operators.isdisjoint(cones[i].operators) for i in seeds)
        return True

    def vjp(self, cotangents: list[Tensor | None], last: bool = False) -> Sequence[Tensor | None]:
        """Cotangents of the inputs that want one, by the backward program."""
        seeds = self.segment.seeds
        self.given = [i for i in seeds if cotangents[i] is not None]
        cts = [cotangents[i] for i in self.given]
        if last:
            cotangents.clear()
        return self._reached(self._pulled(cts, last))

    def _pulled(self, cts: list[Any], last: bool) -> list[Any]:
        """What backward gives for the cotangents of the outputs `given`. The `last` time it takes over all it needs."""
        inputs, residuals = self._kept()
        is_whole = len(self.given) == len(self.segment.seeds)
        fewer = None if is_whole or grad_enabled.get() else self.segment.backward_of(tuple(self.given))
        if grad_enabled.get() or not (is_whole or fewer):
            again = self._pulled_again([*inputs, *cts])
            if last and not grad_enabled.get():
                self.release()
            return again
        frame = [*residuals, *map(arrays_of, cts)]
        del inputs, residuals
        if last:
            cts.clear()
            self.release()
        if fewer is None:
            found: list[Any] = wrapped(list(self.segment.backward_core.consume(frame)))
            return found
        return _placed(wrapped(list(fewer.core.consume(frame))), fewer.outputs)

    def _pulled_again(self, values: list[Any]) -> list[Any]:
        """What backward gives by computing forward once more; it can be differentiated again where that is recorded."""
        again = self.segment.differentiable(tuple(self.given), grad_enabled.get())
        if again is None:
            return [None] * len(self.segment.wrt)
        self._check_overwritten(values, again.reads)
        with rng_guard_at(self.rng_state):
            return _placed(again.segment.run(values), again.outputs)

    def _passed(self) -> Cone | None:
        """What backward passes from the outputs that have a cotangent; None where all have."""
        if len(self.given) == len(self.segment.seeds):
            return None
        return union([self.segment.cones[i] for i in self.given])

    def _reached(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Without what came to inputs that no output with a cotangent depends on."""
        passed = self._passed()
        if passed is None:
            return grads
        return [grad if i in passed.inputs else None for i, grad in zip(self.segment.wrt, grads)]

    def _kept(self) -> tuple[Sequence[Any], Sequence[Any]]:
        inputs, residuals = self.inputs, self.residuals
        passed = self._passed()
        again = passed is not None and not passed.operators.isdisjoint(self.done.operators)
        if inputs is None or residuals is None or again:
            raise StaleBackwardError(
                "run_program: backward ran through this compiled segment before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        self._check_versions(inputs, residuals, passed)
        return inputs, residuals

    def _check_versions(self, inputs: Sequence[Any], residuals: Sequence[Any], passed: Cone | None) -> None:
        for index, version, now in self._changed(inputs):
            is_read = passed is None or index in passed.reads
            if is_read and self.segment.kept.lies_in(index, residuals, inputs[index]):
                name = getattr(inputs[index], "name", "in a list")
                raise StaleBackwardError(
                    f"run_program: tensor {name!r} needed by backward was modified in place after the "
                    f"compiled segment ran: its version is {now}, backward expects {version}",
                    hint="call backward before changing it (for parameters: before optimizer.step())",
                )

    def _changed(self, inputs: Sequence[Any]) -> list[tuple[int, Any, Any]]:
        """The inputs changed in place since the segment ran: number, version then, version now."""
        found = zip(self.segment.kept.watched, self.versions, self._versions(inputs))
        return [(index, version, now) for index, version, now in found if now != version]

    def _check_overwritten(self, inputs: Sequence[Any], reads: Collection[int]) -> None:
        """Raise StaleBackwardError if what computes forward once more needs an input that has changed since."""
        for index, _, _ in self._changed(inputs):
            if index in reads:
                name = getattr(inputs[index], "name", "in a list")
                raise StaleBackwardError(
                    f"run_program: tensor {name!r} was changed in place, by the function or after it, and this "
                    "backward computes the function once more (it goes back from some results, or is differentiated)",
                    hint="change a copy (x.clone()) in the function, or go back from all results without create_graph",
                )


def _placed(grads: list[Any], places: Sequence[int | None]) -> list[Any]:
    """The gradients at these places, None for None."""
    return [None if i is None else grads[i] for i in places]


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
        return [versions_of(inputs[i]) for i in self.segment.kept.watched]

    def _edges(self, inputs: Sequence[Any]) -> list[Edge | None]:
        return [tape_edge(t) for i in self.segment.wrt for t in items_of(inputs[i])]

    def vjp(self, cotangents: list[Tensor | None], last: bool = False) -> Sequence[Tensor | None]:
        """Cotangents of all tensors in the inputs that want one."""
        seeds = self.segment.seeds
        self.given = [i for i in seeds if any(cotangents[n] is not None for n in items_of(self.numbers[i]))]
        cts = [map_items(cotangents.__getitem__, self.numbers[i]) for i in self.given]
        counts = [sum(1 for _ in items_of(self.inputs[i])) for i in self.segment.wrt] if self.inputs is not None else []
        if last:
            cotangents.clear()
        found = self._reached(self._pulled(cts, last))
        return [item for grad, n in zip(found, counts) for item in (items_of(grad) if grad is not None else [None] * n)]


def tape_edge(tensor: Tensor | None) -> Edge | None:
    """Where the gradient of a tensor goes on; None where it wants none."""
    if tensor is None or tensor.stop_gradient:
        return None
    node = tensor._node
    return (None, -1, tensor) if node is None else (node, tensor._index, None)


def rng_guard_at(state: Any) -> Any:
    """A context in which random ops draw what they drew from `state` on; the generator is restored after it."""
    return rng_guard(_generator_at(state))


def _generator_at(state: Any) -> Any:
    generator = type(default_generator())(0)
    if state is not None:
        generator.set_state(state)
    return generator

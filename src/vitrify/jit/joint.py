"""A training step as one native call: a program that ends in the updates of parameters and state.

Gradients then are no arrays of their own, and Python looks at nothing between the program and its updates. What a call
gives and changes is what the two give and change one after the other; where no such call can be made, these run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.lazy import lazy_module
from ..core.setting import WATCH
from ..eager.tensor import Tensor, wrap
from .segment import CompiledSegment
from .updates import Updates

if TYPE_CHECKING:
    from ..codegen.whole import Ending
    from ..ir.program import Variable

_codegen = lazy_module("vitrify.codegen.whole")


class JointStep:
    """The runs of a segment whose outputs at `needs` only updates read."""

    __slots__ = ("_core", "_function", "_needs", "_numbers", "_segment", "_updates", "is_none")

    def __init__(self, segment: CompiledSegment, updates: Updates, needs: slice) -> None:
        self._segment = segment
        self._updates = updates
        self._needs = needs
        self._core: Any = None
        self._function: Callable[..., Any] | None = None
        self._numbers: list[Any] = []
        self.is_none = False
        """Whether it was found that there is no such call."""

    @staticmethod
    def of(segment: CompiledSegment, updates: Updates, needs: slice) -> JointStep | None:
        """For a segment without gradients or random numbers of its own; None for others."""
        if segment.__class__ is not CompiledSegment or segment.wrt or segment.random or not updates.groups:
            return None
        return JointStep(segment, updates, needs)

    def run(self, inputs: Sequence[Tensor]) -> list[Any] | None:
        """The segment's outputs but those at `needs`, the updates done; None, with nothing changed, where it cannot."""
        if self.is_none or WATCH.on:
            return None
        function = self._function
        if function is None or self._core is not self._segment.forward_core:
            function = self._planned(inputs)
            if function is None:
                return None
        made = self._updates.run_at_end(inputs, function, self._numbers)
        return None if made is None else [wrap(array) for array in made]

    def _planned(self, inputs: Sequence[Tensor]) -> Callable[..., Any] | None:
        core = self._segment.forward_core
        whole = core.whole
        if whole is None or whole.is_none:
            return None
        arrays = [t._data for t in inputs]
        if any(array.__class__ is not np.ndarray for array in arrays):
            return None
        found = whole.ended(arrays, self._needs.start, self._needs.stop, lambda *v: self._ending(arrays, *v))
        if found is False:
            return None
        self.is_none = found is None
        self._core, self._function = core, found
        return self._function

    def _ending(self, arrays: Sequence[Any], outputs: Sequence[Variable], needs: Sequence[Variable]) -> Ending:
        groups = self._updates.groups or ()
        dtypes = [arrays[group.columns[0][0]].dtype for group in groups]
        self._numbers = [np.zeros(group.form.count, dtype) for group, dtype in zip(groups, dtypes)]

        def emit(assembler: Any, given: Sequence[Any], gradients: Sequence[Any], numbers: Sequence[Any]) -> None:
            frame = [*given, *gradients]
            for group, own in zip(groups, numbers):
                group.emit(assembler, own, frame)

        found: Ending = _codegen.Ending(outputs, needs, self._numbers, emit)
        return found


__all__ = ["JointStep"]

"""Backward inside a trace: its operators are recorded behind those that it differentiates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..autodiff.activity import active_variables
from ..autodiff.reverse import pull_back
from ..core.errors import ArgumentError, ShapeError, StaleBackwardError, UnsupportedError
from ..core.modes import grad_enabled, recorder, scoped
from ..eager.tensor import Tensor
from ..ir.builder import Builder, building
from ..ir.program import Operator, Variable, position
from ..ops.like import cast, full_like
from ..ops.registry import NoGradient
from .leaves import OUTSIDE, Leaves
from .stale import Staleness, modified

if TYPE_CHECKING:
    from .tracing import Trace


class TracedBackward(Leaves):
    """Backward passes of one trace, and the operators that they have freed."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.block = trace.block
        self._freed: set[Operator] = set()
        self._retained: list[Variable] = []

    def retain(self, var: Variable) -> None:
        """Let backward keep the gradient of a variable that is no leaf."""
        self._retained.append(self._trace.builder.held(var))

    def backward(self, tensors: Sequence[Any], grads: Sequence[Any], retain_graph: bool) -> None:
        """Accumulate into `.grad` of every leaf the vjp of `tensors` with `grads` (ones where None).

        As in eager code, tensors that want no gradient are passed over.
        """
        flowing = [(out, ct) for out, ct in zip(map(self._output, tensors), grads) if not out.stop_gradient]
        if not flowing:
            return
        outs, grads = zip(*flowing)
        leaves = dict(self.wanted())
        if any(v.block is not self.block for v in leaves):
            raise UnsupportedError("backward() to a leaf made in a branch or loop that a tensor decides", hint=OUTSIDE)
        outside = [v for v in self._trace.arguments if not v.stop_gradient]
        wrt = [*leaves, *outside, *self._retained]
        found = self._pulled(outs, grads, wrt, retain_graph, create_graph=False)
        for var in outside:
            if var in found:
                raise UnsupportedError(
                    "backward() to a tensor that was given as an argument", hint="use paddle.grad, or " + OUTSIDE
                )
        with scoped(grad_enabled, False):
            for var in self._retained:
                if var in found:
                    self._accumulate(var, found[var])
            for var, leaf in leaves.items():
                if var in found:
                    self._accumulate(leaf, self._hooked(leaf, found[var]))

    def grad(
        self, outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any], *, retain_graph: bool,
        create_graph: bool, allow_unused: bool, no_grad_vars: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """The gradient for each of `inputs`, leaving every `.grad` alone."""
        outs, wrt = [self._output(t) for t in outputs], [self.first(self._output(t)) for t in inputs]
        blocked = frozenset(self.first(self._output(t)) for t in no_grad_vars)
        reached = [var for var in wrt if not var.stop_gradient]
        found = self._pulled(outs, grads, reached, retain_graph or create_graph, create_graph, blocked)
        results: list[Any] = []
        for var, given in zip(wrt, inputs):
            ct = found.get(var)
            if ct is None and not allow_unused:
                raise ArgumentError(
                    f"grad: input {given.name!r} is not used to compute the outputs",
                    hint="pass allow_unused=True to get None for it",
                )
            leaf = self._leaf(var)
            results.append(ct if ct is None or leaf is None else self._hooked(leaf, ct))
        return [None if ct is None else self._sure(ct, var) for ct, var in zip(results, wrt)]

    def _output(self, tensor: Any) -> Variable:
        """The variable of the program's outermost block that a tensor means now."""
        builder = self._trace.builder
        if builder.block is not self.block:
            raise UnsupportedError("backward inside a branch or loop that a tensor decides", hint=OUTSIDE)
        found = builder.value(tensor)
        assert isinstance(found, Variable)
        return found

    def _pulled(
        self, outs: Sequence[Variable], grads: Sequence[Any], wrt: Sequence[Variable], retain_graph: bool,
        create_graph: bool, blocked: frozenset[Variable] = frozenset(),
    ) -> Mapping[Variable, Variable]:  # fmt: skip
        """The cotangent of each of `wrt` that has one; the operators that compute them are recorded."""
        passed = self._passed(outs, wrt, blocked)
        staleness = Staleness(self._trace.builder.aliases)
        for operator in passed:
            if operator in self._freed:
                raise StaleBackwardError(
                    f"{operator.op.name}: backward ran through this part of the graph before and freed it",
                    hint="call backward(retain_graph=True) the first time",
                )
            stale = staleness.error(operator)
            if stale is not None:
                raise stale
        mark = len(self.block.ops)
        with self._recording(create_graph) as builder:
            seeds: dict[Variable, Variable] = {}
            for out, given in zip(outs, grads):
                seed = self._seed(out, given)
                seeds[out] = seeds[out] + seed if out in seeds else seed
            found = pull_back(builder, self.block, seeds, wrt, blocked)
        self._check_versions(self.block.ops[mark:])
        if not retain_graph:
            # A new version of a leaf keeps nothing for backward that could be freed.
            self._freed |= {op for op in passed if not any(self.is_version(v) for v in op.outputs)}
        return found

    @contextmanager
    def _recording(self, create_graph: bool) -> Iterator[Builder]:
        """A builder that knows of no in-place change: a rule reads what the forward operators read."""
        outer = self._trace.builder
        builder = Builder(self.block.program)
        builder.block = self.block
        builder.locs = outer.locs
        with building(builder), scoped(grad_enabled, create_graph), self.block.program.adding("backward"):
            yield builder

    def _seed(self, out: Variable, given: Any) -> Variable:
        if given is None:
            with scoped(grad_enabled, False):
                seed: Variable = full_like(out, 1.0)
            return seed
        with scoped(recorder, self._trace.builder):
            ct = self._output(given)
        if len(ct.shape) != len(out.shape) or any(a != b for a, b in zip(ct.shape, out.shape) if -1 not in (a, b)):
            raise ShapeError(f"backward: grad_tensor has shape {list(ct.shape)}, the tensor has {list(out.shape)}")
        self._given.add(ct)
        return ct if ct.dtype is out.dtype else cast(ct, out.dtype)

    def _passed(self, outs: Iterable[Variable], wrt: Iterable[Variable], blocked: frozenset[Variable]) -> set[Operator]:
        """The operators that a gradient passes on its way from `outs` to `wrt`."""
        operators = self._differentiated()
        active = active_variables(operators, wrt, blocked)
        wanted = {v for v in outs if v in active}
        passed: set[Operator] = set()
        for operator in reversed(operators):
            if not wanted.isdisjoint(operator.outputs):
                passed.add(operator)
                wanted.update(v for v in operator.variables if v in active)
        return passed

    def _differentiated(self) -> list[Operator]:
        """The operators that a gradient can pass."""
        ops = self.block.ops
        return [op for op in ops if op.role != "optimize" and not isinstance(op.op.vjp, NoGradient)]

    def _check_versions(self, recorded: Iterable[Operator]) -> None:
        """Raise StaleBackwardError where backward reads a leaf as it was before an in-place change."""
        replaced = self._trace.builder.aliases.replaced
        for operator in recorded:
            for var in operator.variables:
                if var in replaced and self._leaf(var) is not None:
                    raise modified(operator, var)

    def _spent(self) -> set[Variable]:
        """What depends on operators that backward freed."""
        spent: set[Variable] = set()
        if self._freed:
            for operator in self._differentiated():
                if operator in self._freed or any(v in spent for v in operator.variables):
                    spent.update(v for v in operator.outputs if not v.stop_gradient)
        return spent

    def _check_flow(self, outputs: Sequence[Variable]) -> None:
        for leaf in [v for v, owner in self.leaf_of.items() if not isinstance(owner, Tensor) and not v.stop_gradient]:
            if position(outputs, leaf) >= 0:
                active = active_variables(self._differentiated(), [leaf])
                if any(v in active and v is not leaf for v in outputs):
                    raise UnsupportedError(
                        "a leaf that was made inside leaves the function beside a tensor that was computed from it: "
                        "backward() outside would not reach it",
                        hint="make the leaf outside of the function, or call backward() inside",
                    )

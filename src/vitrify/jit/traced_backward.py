"""Backward inside a trace: its operators are recorded behind those that it differentiates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..autodiff.activity import active_variables, reached_variables
from ..autodiff.reverse import pull_back
from ..core.errors import ArgumentError, ShapeError, StaleBackwardError, UnsupportedError
from ..core.modes import grad_enabled, recorder, scoped
from ..core.source import Loc, user_frames
from ..eager.tensor import Tensor
from ..ir.builder import Builder, building
from ..ir.program import Block, Operator, Variable, position
from ..ops.like import cast, full_like
from .ended_blocks import Wanting, differentiated, has_run, reached_by, seen_outside
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
        self._freed_inside: dict[Operator, list[Block]] = {}  # by backward in these blocks, inside of the operator's
        self._carried: list[tuple[Variable, tuple[Loc, ...]]] = []  # what a backward inside came to
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
        leaves = self._leaves_here()
        refused = self._out_of_reach()
        found = self._pulled(outs, grads, [*leaves, *refused, *self._retained], retain_graph, create_graph=False)
        for var, (what, hint) in refused.items():
            if var in found:
                raise UnsupportedError(f"backward() to {what}", hint=hint)
        with scoped(grad_enabled, False):
            for var in self._retained:
                if var in found:
                    self._put_grad(var, None)
                    self._accumulate(var, found[var])
            for var, leaf in leaves.items():
                if var in found:
                    self._accumulate(leaf, self._hooked(leaf, found[var]))

    def grad(
        self, outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any], *, retain_graph: bool,
        create_graph: bool, allow_unused: bool, no_grad_vars: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """The gradient for each of `inputs`, leaving every `.grad` alone."""
        held = self._trace.builder.held
        outs, wrt = [self._output(t) for t in outputs], [self.first(held(t)) for t in inputs]
        blocked = frozenset(self.first(held(t)) for t in no_grad_vars)
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
        """The variable that a tensor means now, as it is seen from the block that is being recorded."""
        found = self._trace.builder.value(tensor)
        assert isinstance(found, Variable)
        return found

    def _levels(self) -> list[Block]:
        """The block that is being recorded and those around it, from inside."""
        found = [self._trace.builder.block]
        while found[-1] is not self.block:
            outer = found[-1].parent
            assert outer is not None
            found.append(outer)
        return found

    def _leaves_here(self) -> dict[Variable, Any]:
        """The variables, of this block and those around it, whose gradient is that of a leaf, each with the leaf."""
        levels, builder = self._levels(), self._trace.builder
        found = {var: leaf for var, leaf in self.wanted() if var.block in levels}
        if len(levels) > 1:  # where a loop carries a leaf, the head of its body is what the leaf was first
            found |= {self.first(builder.held(leaf)): leaf for leaf in [*found.values()]}
        return found

    def _out_of_reach(self) -> dict[Variable, tuple[str, str]]:
        """The variables that no backward inside may come to, each with what it is and a way out."""
        levels = self._levels()
        inner = [var for var, _ in self.wanted() if var.block not in levels]
        made = "a leaf made in a branch or loop that a tensor decides", OUTSIDE
        return {var: made for leaf in inner for var in seen_outside(leaf, levels)}

    def _pulled(
        self, outs: Sequence[Variable], grads: Sequence[Any], wrt: Sequence[Variable], retain_graph: bool,
        create_graph: bool, blocked: frozenset[Variable] = frozenset(),
    ) -> Mapping[Variable, Variable]:  # fmt: skip
        """The cotangent of each of `wrt` that has one; the operators that compute them are recorded."""
        block = self._trace.builder.block
        mark = len(block.ops)
        found: dict[Variable, Variable] = {}
        with self._recording(create_graph) as builder:
            flowing: dict[Variable, Variable] = {}
            for out, given in zip(outs, grads):
                seed = self._seed(out, given)
                flowing[out] = flowing[out] + seed if out in flowing else seed
            for level in self._levels():
                ends = [v for v in level.inputs if level is not self.block and not v.stop_gradient]
                here = [v for v in wrt if v.block is level]
                passed = self._passed(level, flowing, [*here, *ends], blocked)
                self._check_passed(passed)
                reached = pull_back(builder, level, flowing, [*here, *ends], blocked)
                found.update((v, reached[v]) for v in here if v in reached)
                flowing = self._outside(level, {v: reached[v] for v in ends if v in reached and position(here, v) < 0})
                if not retain_graph:
                    self._free(passed, level)
                if not flowing:
                    break
        self._check_versions(block.ops[mark:])
        return found

    def _outside(self, block: Block, reached: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
        """What flows on from the inputs of a block to what they are captures of.

        What loops carry and functions are given is taken to want none, until the end of the trace tells.
        """
        outer = {inner: var for var, inner in block.captures.items()}
        self._carried += [(v, user_frames(1)) for v in reached if v not in outer]
        return {outer[v]: ct for v, ct in reached.items() if v in outer}

    def _check_carried(self) -> None:
        """Raise UnsupportedError where a backward came to what another iteration, or the caller, computed."""
        if not self._carried:
            return
        given = [*self._trace.arguments, *[self._trace.variables[id(t)] for t in self._trace.captured]]
        sources = {v for v in (*given, *dict(self.wanted())) if not v.stop_gradient}
        wanting = Wanting(self.block.program, sources)
        for var, locs in self._carried:
            if var in wanting.of(var.block):
                raise UnsupportedError(
                    "backward, in a loop or recursion that a tensor decides, through what it got from the iteration or "
                    "call before",
                    loc=next(iter(locs), None),
                    hint="detach() what one hands to the next, or call backward() behind the loop",
                )

    def _check_passed(self, passed: Iterable[Operator]) -> None:
        """Raise StaleBackwardError where an earlier backward freed what this one passes, or a change made it stale."""
        staleness, levels = Staleness(self._trace.builder.aliases), self._levels()
        for operator in passed:
            if operator in self._freed:
                raise StaleBackwardError(
                    f"{operator.op.name}: backward ran through this part of the graph before and freed it",
                    hint="call backward(retain_graph=True) the first time",
                )
            if any(has_run(block, levels) for block in self._freed_inside.get(operator, ())):
                raise UnsupportedError(
                    f"backward through {operator.op.name} behind a branch or loop that a tensor decides, in which a "
                    "backward freed it",
                    hint="call backward(retain_graph=True) there",
                )
            stale = staleness.error(operator)
            if stale is not None:
                raise stale

    def _free(self, passed: Iterable[Operator], level: Block) -> None:
        """Note what a backward freed of a block, where it is sure to run.

        Raises UnsupportedError in a loop or recursion, for what was computed before it.
        """
        inner = self._trace.builder.block
        # A new version of a leaf keeps nothing for backward that could be freed.
        freed = {op for op in passed if not any(self.is_version(v) for v in op.outputs)}
        if level is inner:
            self._freed |= freed
        elif freed and self._is_repeated(inner, level):
            raise UnsupportedError(
                "backward, in a loop or recursion that a tensor decides, through what was computed before it",
                hint="call backward(retain_graph=True), or compute it inside",
            )
        else:
            for operator in freed:
                self._freed_inside.setdefault(operator, []).append(inner)

    @contextmanager
    def _recording(self, create_graph: bool) -> Iterator[Builder]:
        """A builder that knows of no in-place change: a rule reads what the forward operators read."""
        outer = self._trace.builder
        builder = Builder(self.block.program)
        builder.block = outer.block
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

    def _passed(
        self, block: Block, outs: Iterable[Variable], wrt: Iterable[Variable], blocked: frozenset[Variable]
    ) -> set[Operator]:
        """The operators of a block that a gradient passes on its way from `outs` to `wrt`."""
        operators = differentiated(block)
        active = active_variables(operators, wrt, blocked)
        wanted = {v for v in outs if v in active}
        passed: set[Operator] = set()
        for operator in reversed(operators):
            if not wanted.isdisjoint(operator.outputs):
                passed.add(operator)
                wanted.update(reached_variables(operator, active))
        return passed

    def _is_repeated(self, block: Block | None, outer: Block) -> bool:
        """Whether a loop, or a function that calls itself, is around `block` that `outer` is around."""
        while block is not None and block is not outer:
            if block in self._trace.builder.loop_bodies or block.name:
                return True
            block = block.parent
        return False

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
            for operator in differentiated(self.block):
                if operator in self._freed:
                    spent.update(v for v in operator.outputs if not v.stop_gradient)
                elif any(v in spent for v in operator.variables):
                    spent.update(v for v in reached_by(operator, spent) if not v.stop_gradient)
        return spent

    def _check_flow(self, outputs: Sequence[Variable]) -> None:
        made = [v for v, owner in self.leaf_of.items() if not isinstance(owner, Tensor)]
        for leaf in [v for v in dict.fromkeys((*made, *self.copies)) if not v.stop_gradient]:
            if position(outputs, leaf) >= 0:
                active = active_variables(differentiated(self.block), [leaf])
                if any(v in active and v is not leaf for v in outputs):
                    raise UnsupportedError(
                        "a leaf that was made inside leaves the function beside a tensor that was computed from it: "
                        "backward() outside would not reach it",
                        hint="make the leaf outside of the function, or call backward() inside",
                    )

"""Backward inside a trace: its operators are recorded behind those that it differentiates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..autodiff.activity import active_variables
from ..autodiff.reverse import pull_back
from ..convert.calls.pylayer import CHANGES, change_refused
from ..convert.control.slopes import SlopesNeeded, Target
from ..core.errors import ArgumentError, ShapeError, StaleBackwardError, UnsupportedError
from ..core.modes import grad_enabled, recorder, scoped
from ..core.source import Loc, user_frames
from ..eager.tensor import Tensor
from ..ir.builder import Builder, building
from ..ir.graph_tensor import is_number
from ..ir.origins import maker
from ..ir.program import Block, Operator, Variable, position
from ..ops.like import cast, full_like
from ..ops.methods import TensorMethods
from ..ops.missing import MAY_BE_MISSING
from .ended_blocks import (
    Wanting,
    differentiated,
    flows_on,
    has_run,
    leaf_outside,
    part_at,
    reached_by,
    seen_outside,
)
from .leaves import OUTSIDE, Leaves
from .slopes import Slopes, carried_backward, scaled, sure
from .stale import Staleness, modified, read_by_backward, reads, refused_results

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
        self._slopes = Slopes()

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
        wrt = [*leaves, *refused, *self._retained]
        found = self._pulled(outs, grads, wrt, retain_graph, create_graph=False, takes_all=True)
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
            if ct is None and (self._missed or _has_lost(outs, var)):
                raise carried_backward()
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
        create_graph: bool, blocked: frozenset[Variable] = frozenset(), takes_all: bool = False,
    ) -> Mapping[Variable, Variable]:  # fmt: skip
        """The cotangent of each of `wrt` that has one; the operators that compute them are recorded.

        takes_all: whether all leaves take what comes to them.
        """
        block = self._trace.builder.block
        mark = len(block.ops)
        self._missed = False
        more: list[tuple[Variable, Variable]] = []
        flows: list[tuple[_Flow, set[Operator]]] = []
        found: dict[Variable, Variable] = {}
        with self._recording(create_graph) as builder:
            flowing: dict[Variable, Variable] = {}
            for out, given in zip(outs, grads):
                seed = self._seed(out, given)
                flowing[out] = flowing[out] + seed if out in flowing else seed
            for level in self._levels():
                outward = level.inputs if self._leads_out(level, wrt) else []
                ends = [v for v in outward if not (v.stop_gradient or is_number(v))]
                here = [v for v in wrt if v.block is level]
                flow = _Flow(level, tuple(flowing), (*here, *ends), blocked)
                passed = flow.passed()
                flows.append((flow, passed))
                self._check_passed(flow, passed)
                reached = pull_back(builder, level, flowing, [*here, *ends], blocked)
                found.update((v, reached[v]) for v in here if v in reached)
                left = {v: reached[v] for v in ends if v in reached and position(here, v) < 0}
                flowing = self._outside(level, left)
                wanted = None if takes_all else wrt
                more += self._through_slopes(level, left, wanted, create_graph, retain_graph)
                if not retain_graph:
                    self._free(passed, level)
                if not flowing:
                    break
            for var, ct in more:
                if position(wrt, var) >= 0:
                    found[var] = _joined(found[var], ct) if var in found else ct
        self._check_versions(block.ops[mark:], flows)
        return found

    def _outside(self, block: Block, reached: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
        """What flows on from the inputs of a block to what they are captures of."""
        outer = {inner: var for var, inner in block.captures.items()}
        return {outer[v]: ct for v, ct in reached.items() if v in outer}

    def _leads_out(self, level: Block, wrt: Sequence[Variable]) -> bool:
        """Whether a gradient may leave a block on its way to `wrt`: what it got depends on nothing computed in it."""
        if level is self.block:
            return False
        levels = self._levels()
        outer = levels[levels.index(level) + 1 :]
        return any(v.block in outer or (v.block is level and position(level.inputs, v) >= 0) for v in wrt)

    def _through_slopes(
        self, block: Block, reached: Mapping[Variable, Variable], wanted: Sequence[Variable] | None,
        create_graph: bool, retain_graph: bool,
    ) -> list[tuple[Variable, Variable]]:  # fmt: skip
        """What flows on from what a loop carries, by its slopes.

        What else loops carry and functions are given is taken to want none, until the end of the trace tells.
        """
        captures, found = [*block.captures.values()], list[tuple[Variable, Variable]]()
        for var, ct in reached.items():
            if position(captures, var) >= 0:
                continue
            need = SlopesNeeded(carried_backward(), var, wanted, create_graph)
            slopes = self._slopes.of(var, need) if block in self._trace.builder.loop_bodies else None
            if slopes is None:
                self._carried.append((var, user_frames(1)))
                self._missed = True
                continue
            if slopes:
                self._slopes.pass_through(var, self._levels(), retain_graph)
            found += [(target, scaled(slope, ct)) for target, slope in slopes]
        return found

    def leaves(self) -> list[Any]:
        """The leaves that a backward here may come to."""
        return [*{id(leaf): leaf for leaf in self._leaves_here().values()}.values()]

    def owner(self, var: Variable) -> Any:
        """The leaf that a variable is a version of; any other variable itself."""
        leaf = self._leaf(var)
        return var if leaf is None else leaf

    def slopes(self, loss: Any, wanted: Sequence[tuple[Target, Any]], need: SlopesNeeded) -> dict[Target, Variable]:
        """The gradients that a loss gives to each of `wanted` that it depends on.

        Raises UnsupportedError where that may be None, or others get one that are not among them.
        """
        out = self._output(loss) if isinstance(loss, TensorMethods) else None
        if out is None or out.stop_gradient:
            return {}
        known = [(target, self._place_of(tensor)) for target, tensor in wanted if isinstance(tensor, TensorMethods)]
        others = [*self._leaves_here(), *self._out_of_reach()] if need.wanted is None else []
        wrt = [*dict.fromkeys([*[var for _, var in known], *others])]
        try:
            found = self._pulled([out], [None], wrt, True, need.create_graph, takes_all=need.wanted is None)
        except StaleBackwardError:
            raise need.reason from None
        slopes: dict[Target, Variable] = sure(found, known, need)
        return slopes

    def note_slopes(self, head: Any, slopes: Sequence[tuple[Any, Any]]) -> None:
        """Know what a backward comes to through `head`, which a loop carries beside these slopes."""
        held = self._trace.builder.held
        self._slopes.note(held(head), [(self._place_of(tensor), held(slope)) for tensor, slope in slopes])

    def _place_of(self, tensor: Any) -> Variable:
        """Where the gradient of a tensor comes out."""
        return self.first(self._trace.builder.held(tensor))

    def _check_carried(self) -> None:
        """Raise UnsupportedError where a backward came to what another iteration, or the caller, computed."""
        if not self._carried:
            return
        given = [*self._trace.arguments, *[self._trace.variables[id(t)] for t in self._trace.captured]]
        sources = {v for v in (*given, *dict(self.wanted())) if not v.stop_gradient}
        wanting = Wanting(self.block.program, sources)
        for var, locs in self._carried:
            if var in wanting.of(var.block):
                raise carried_backward(next(iter(locs), None))

    def _check_passed(self, flow: _Flow, passed: Iterable[Operator]) -> None:
        """Raise StaleBackwardError where an earlier backward freed what this one passes, or a change made it stale."""
        staleness, levels = Staleness(self._trace.builder.aliases), self._levels()
        for operator in passed:
            if operator in self._freed:
                raise StaleBackwardError(
                    f"{operator.op.name}: backward ran through this part of the graph before and freed it",
                    hint="call backward(retain_graph=True) the first time",
                )
            blocks = [block for block in self._freed_inside.get(operator, ()) if has_run(block, levels)]
            if any(flow.passes_behind(operator, block) for block in blocks):
                raise UnsupportedError(
                    f"backward through {operator.op.name} behind a branch or loop that a tensor decides, in which a "
                    "backward freed it",
                    hint="call backward(retain_graph=True) there",
                )
            stale = staleness.error(operator)
            if stale is not None:
                raise stale
        if levels == [flow.block] and not flow.blocked:  # elsewhere paths decide whether a gradient comes by
            for result in refused_results(flow.block, self._trace.builder.aliases, flow.outs).values():
                if any(v in result.behind for v in flow.wrt):
                    raise result.error

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

    def _is_repeated(self, block: Block | None, outer: Block) -> bool:
        """Whether a loop, or a function that calls itself, is around `block` that `outer` is around."""
        while block is not None and block is not outer:
            if block in self._trace.builder.loop_bodies or block.name:
                return True
            block = block.parent
        return False

    def _check_versions(self, recorded: Iterable[Operator], flows: Sequence[tuple[_Flow, set[Operator]]]) -> None:
        """Raise StaleBackwardError where backward reads a leaf as it was before an in-place change.

        Raises UnsupportedError where only a run knows whether it was changed by then.
        """
        replaced = self._trace.builder.aliases.replaced
        for operator in recorded:
            for var in operator.variables:
                if var not in replaced or self._leaf(var) is None or not reads(operator, var):
                    continue
                changed_in = _changing(replaced[var])
                if changed_in is None:
                    raise modified(operator, var)
                if not _is_read_elsewhere(var, changed_in, flows):
                    raise UnsupportedError(
                        f"backward to {var.name} as it was before a branch or loop that a tensor decides, which "
                        "changes it in place",
                        hint="call backward before, or compute anew what depends on it",
                    )

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

    def _check_changes(self, outputs: Sequence[Variable]) -> None:
        """Raise UnsupportedError where a backward outside would come by a hook that changes Python objects."""
        operators = differentiated(self.block)
        for operator in operators:
            name = getattr(operator.attrs.get("backward"), CHANGES, None)
            if name is not None:
                active = active_variables(operators, operator.outputs)
                if any(v in active for v in outputs):
                    raise change_refused(name)

    def _check_flow(self, outputs: Sequence[Variable]) -> None:
        made = [v for v, owner in self.leaf_of.items() if not isinstance(owner, Tensor)]
        for leaf in [v for v in dict.fromkeys((*made, *self.copies)) if not v.stop_gradient]:
            outside = leaf_outside(leaf, self.block)
            if outside is not None and position(outputs, outside) >= 0:
                reached = [leaf] if outside is leaf else seen_outside(leaf, [self.block])
                active = active_variables(differentiated(self.block), reached)
                if any(v in active and v is not outside for v in outputs):
                    raise UnsupportedError(
                        "a leaf that was made inside leaves the function beside a tensor that was computed from it: "
                        "backward() outside would not reach it",
                        hint="make the leaf outside of the function, or call backward() inside",
                    )


def _joined(ct: Variable, more: Variable) -> Variable:
    """The sum of two cotangents of one variable."""
    if MAY_BE_MISSING in ct.__dict__:
        raise carried_backward()
    found: Variable = ct + more
    return found


def _has_lost(outs: Sequence[Variable], wrt: Variable) -> bool:
    """Whether a branch or loop gave `wrt`, and beside it what `outs` come from, which may depend on it inside."""
    made = maker(wrt)
    if made is None or not made.blocks:
        return False
    beside = [v for v in made.outputs if v is not wrt and not v.stop_gradient]
    return any(v in active_variables(differentiated(wrt.block), beside) for v in outs)


@dataclass(frozen=True)
class _Flow:
    """A gradient on its way through a block, from `outs` to `wrt`."""

    block: Block
    outs: Sequence[Variable]
    wrt: Sequence[Variable]
    blocked: frozenset[Variable]

    def passed(self, ran: Block | None = None) -> set[Operator]:
        """The operators that it passes; in a run that comes by `ran`, a block of one of them, where that is given."""
        operators = differentiated(self.block)
        active = active_variables(operators, self.wrt, self.blocked)
        wanted = {v for v in self.outs if v in active}
        found: set[Operator] = set()
        for operator in reversed(operators):
            if wanted.isdisjoint(operator.outputs):
                continue
            found.add(operator)
            is_sure = ran is not None and ran in operator.blocks.values()
            wanted.update(flows_on(operator, wanted, active, ran if is_sure else None))
        return found

    def passes_behind(self, operator: Operator, ran: Block) -> bool:
        """Whether it may pass an operator in a run that came by `ran`, a block inside of this one."""
        part = part_at(ran, self.block)
        return part is None or operator in self.passed(part)


def _changing(version: Variable) -> Operator | None:
    """The branch or loop that gave a version of a leaf; None where something else did."""
    made = maker(version)
    if made is not None and not made.blocks:  # what hands the gradient of the new content on to that of the old
        made = next((m for m in map(maker, made.variables) if m is not None and m.blocks), None)
    return made


def _is_read_elsewhere(var: Variable, changed_in: Operator, flows: Sequence[tuple[_Flow, set[Operator]]]) -> bool:
    """Whether backward reads `var` only in runs that do not come by the blocks which change it in place."""
    readers = [(flow, op) for flow, passed in flows for op in passed if position(read_by_backward(op), var) >= 0]
    changing = [
        block for block in changed_in.blocks.values() if var not in block.captures or _gives_another(block, var)
    ]
    return bool(readers) and not any(flow.passes_behind(op, block) for flow, op in readers for block in changing)


def _gives_another(block: Block, var: Variable) -> bool:
    return position(block.outputs, block.captures[var]) < 0

"""Training inside a trace: backward, `.grad` and updates of parameters become part of the program.

The leaves of a trace are the captured tensors that want a gradient, and variables that the code makes leaves itself
(`x.stop_gradient = False`). An in-place change under no_grad gives a leaf another version, which no gradient passes:
what flows to any version of a leaf is its gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autodiff.activity import active_variables, carries_gradient
from ..autodiff.reverse import pull_back
from ..convert import convert_call
from ..convert.branches import choose
from ..convert.gradient_place import GradientPlace, gradient_of
from ..convert.guards import AnyNumber, Expected, Found, Guard, Source
from ..convert.journal import is_nested, note_write
from ..convert.observe import MethodCall, current_observer
from ..convert.optional import is_none, optional_kind
from ..core.errors import ArgumentError, ShapeError, StaleBackwardError, UnsupportedError
from ..core.modes import grad_enabled, recorder, scoped
from ..core.source import user_frames
from ..eager.tensor import Tensor, wrap
from ..ir.builder import Builder, building
from ..ir.graph_tensor import as_number
from ..ir.program import Operator, Variable, position
from ..ops.like import assign_op, cast, detach_op, full_like
from ..ops.missing import MAY_BE_MISSING, filled, is_given_op
from ..ops.registry import NoGradient

if TYPE_CHECKING:
    from .concrete_program import _Trace

_OUTSIDE = "return the loss and call backward() outside, or leave this function out with @not_to_static"


class LeafState(Expected):
    """That leaves want gradients as they did, and have the hooks that they had."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted

    def fits(self, value: Any, found: Found) -> bool:
        return bool(value == self.wanted)

    def __str__(self) -> str:
        return "as before"


class Training:
    """What one trace knows of gradients: its leaves, what backward has passed, and what is called after each run."""

    def __init__(self, trace: _Trace) -> None:
        self._trace = trace
        self.block = trace.block
        self.leaf_of: dict[Variable, Any] = {}
        """The leaf that a variable made by an in-place change, or by a leaf of the program's own, is a version of."""
        self.leaves: dict[int, Tensor] = {}
        """The tensors whose gradient or state the program reads or writes: no other may take their place."""
        self.freed: set[Operator] = set()
        self.calls: list[MethodCall] = []
        self.late: dict[int, tuple[Any, list[MethodCall]]] = {}
        """Objects by id that methods are called of after the run, with these calls."""
        self.on_failure: list[Callable[[], Any]] = []
        """What takes back what the trace made for its program, where none comes of it."""
        self._retained: list[Variable] = []
        self._given: set[Variable] = set()
        self._numbers: dict[Any, Variable] = {}

    @contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Take back what was made for the program if an exception leaves."""
        try:
            yield
        except BaseException:
            for undo in self.on_failure:
                undo()
            raise

    # -- leaves -------------------------------------------------------------------------------------------------------

    def pin(self, leaf: Tensor) -> None:
        """Note that the program is about this very tensor."""
        self.leaves.setdefault(id(leaf), leaf)

    def note_leaf(self, var: Variable, owner: Any) -> None:
        """Remember that `var` is a leaf that wants a gradient, which `owner.grad` will hold."""
        self.leaf_of[var] = owner

    def version(self, old: Variable, value: Variable) -> Variable | None:
        """`value` as the content of the leaf whose content was `old`; None if that is no leaf."""
        leaf = self._leaf(old)
        if leaf is None:
            return None
        if isinstance(leaf, Tensor):
            self.pin(leaf)
        return value if self.leaf_of.get(value) is leaf else self._version_of(value, leaf)

    def _leaf(self, var: Variable) -> Any:
        """The leaf that a variable is a version of, or None."""
        found = self.leaf_of.get(var)
        if found is None:
            found = self._trace.tensors.get(var)
            if found is not None and (found._node is not None or found.stop_gradient):
                return None
        return found

    def _version_of(self, value: Variable, leaf: Any) -> Variable:
        builder = self._trace.builder
        with scoped(grad_enabled, False):
            value = builder.block.resolve(value)
            fresh = builder.block.create_var(value.meta, prefix="leaf")
            builder.block.append(detach_op, [value], [fresh], {}, builder.locs or user_frames(2))
        object.__setattr__(fresh, "stop_gradient", not carries_gradient(fresh))
        self.leaf_of[fresh] = leaf
        return fresh

    def updated(self, leaf: Tensor, value: Variable) -> None:
        """Let `leaf` mean `value`, which an update just computed for it alone."""
        self.pin(leaf)
        if not leaf.stop_gradient:
            object.__setattr__(value, "stop_gradient", False)
            self.leaf_of[value] = leaf
        with scoped(grad_enabled, False):
            leaf._become(value)

    def versions(self) -> Iterator[tuple[Variable, Any]]:
        """All versions of all leaves that want a gradient, each with its leaf."""
        for tensor in self._trace.captured:
            var = self._trace.variables[id(tensor)]
            if not var.stop_gradient and carries_gradient(var):
                yield var, tensor
        yield from ((var, leaf) for var, leaf in self.leaf_of.items() if not var.stop_gradient)

    # -- gradients ----------------------------------------------------------------------------------------------------

    def grad_of(self, owner: Any) -> Any:
        """`owner.grad`: None, a tensor from outside or a variable."""
        if isinstance(owner, Tensor):
            self.pin(owner)
            observer = current_observer()
            assert observer is not None
            observer.attribute(owner, "grad", owner._grad)
        elif position(self._trace.arguments, owner) >= 0 or owner in self._trace.builder.aliases.forks:
            raise UnsupportedError(
                "the gradient of a tensor that was given as an argument", hint="use paddle.grad, or " + _OUTSIDE
            )
        return gradient_of(owner)

    def set_grad(self, owner: Any, value: Any) -> None:
        """`owner.grad = value`."""
        self.grad_of(owner)
        place = GradientPlace(owner)
        note_write(place)
        if isinstance(owner, Tensor):
            owner._grad = value
        else:
            place.set(value)

    def clear(self, owner: Any, set_to_zero: bool) -> None:
        """Reset `owner.grad`, if there is one, to zeros or None."""
        held = self.grad_of(owner)
        if held is None:
            return
        with scoped(grad_enabled, False):
            if not set_to_zero:
                self.set_grad(owner, None)
            elif optional_kind(held) is None:
                self.set_grad(owner, full_like(owner, 0.0))
            else:
                self.set_grad(owner, choose(is_none(held), _nothing, lambda: full_like(owner, 0.0), "a gradient"))

    def retain(self, var: Variable) -> None:
        """Let backward keep the gradient of a variable that is no leaf."""
        self._retained.append(self._trace.builder.held(var))

    def backward(self, tensors: Sequence[Any], grads: Sequence[Any], retain_graph: bool) -> None:
        """Accumulate into `.grad` of every leaf the vjp of `tensors` with `grads` (ones where None)."""
        outs = [self._output(t) for t in tensors]
        for out, tensor in zip(outs, tensors):
            if out.stop_gradient:
                raise ArgumentError(
                    f"backward: tensor {tensor.name!r} has stop_gradient=True, so no gradient flows from it",
                    hint="set stop_gradient=False on an input, or check for no_grad()",
                )
        leaves = {v: leaf for v, leaf in self.versions() if v.block is self.block}
        if any(v.block is not self.block and not isinstance(leaf, Tensor) for v, leaf in self.versions()):
            raise UnsupportedError("backward() to a leaf made in a branch or loop that a tensor decides", hint=_OUTSIDE)
        outside = [v for v in self._trace.arguments if not v.stop_gradient]
        wrt = [*leaves, *outside, *self._retained]
        found = self._pulled(outs, grads, wrt, retain_graph, create_graph=False)
        for var in outside:
            if var in found:
                raise UnsupportedError(
                    "backward() to a tensor that was given as an argument", hint="use paddle.grad, or " + _OUTSIDE
                )
        with scoped(grad_enabled, False):
            for var in self._retained:
                if var in found:
                    self._accumulate(var, found[var])
            for leaf, ct in self._summed(leaves, found):
                self._accumulate(leaf, self._hooked(leaf, ct))

    def grad(
        self, outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any], *, retain_graph: bool,
        create_graph: bool, allow_unused: bool, no_grad_vars: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """The gradient for each of `inputs`, leaving every `.grad` alone."""
        outs, wrt = [self._output(t) for t in outputs], [self._output(t) for t in inputs]
        blocked = frozenset(self._output(t) for t in no_grad_vars)
        found = self._pulled(outs, grads, wrt, retain_graph or create_graph, create_graph, blocked)
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
            raise UnsupportedError("backward inside a branch or loop that a tensor decides", hint=_OUTSIDE)
        found = builder.value(tensor)
        assert isinstance(found, Variable)
        return found

    def _pulled(
        self, outs: Sequence[Variable], grads: Sequence[Any], wrt: Sequence[Variable], retain_graph: bool,
        create_graph: bool, blocked: frozenset[Variable] = frozenset(),
    ) -> Mapping[Variable, Variable]:  # fmt: skip
        """The cotangent of each of `wrt` that has one; the operators that compute them are recorded."""
        passed = self._passed(outs, wrt, blocked)
        for operator in passed:
            if operator in self.freed:
                raise StaleBackwardError(
                    f"{operator.type}: backward ran through this part of the graph before and freed it",
                    hint="call backward(retain_graph=True) the first time",
                )
        mark = len(self.block.ops)
        with self._recording(create_graph) as builder:
            seeds: dict[Variable, Variable] = {}
            for out, given in zip(outs, grads):
                seed = self._seed(out, given)
                seeds[out] = seeds[out] + seed if out in seeds else seed
            found = pull_back(builder, self.block, seeds, wrt, blocked)
        self._check_versions(self.block.ops[mark:])
        if not retain_graph:
            self.freed |= passed
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
            raise ShapeError(f"backward: grad_tensor has shape {ct.shape}, the tensor has {out.shape}")
        self._given.add(ct)
        return ct

    def _passed(
        self, outs: Iterable[Variable], wrt: Iterable[Variable], blocked: frozenset[Variable]
    ) -> set[Operator]:
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
                    raise StaleBackwardError(
                        f"{operator.type}: backward needs {var.name}, which was modified in place since",
                        hint="call backward before changing it (for parameters: before optimizer.step())",
                    )

    def _summed(
        self, leaves: Mapping[Variable, Any], found: Mapping[Variable, Variable]
    ) -> list[tuple[Any, Variable]]:
        """(leaf, gradient) for the leaves that have one, from all their versions."""
        sums: dict[int, tuple[Any, Variable]] = {}
        for var, leaf in leaves.items():
            if var in found:
                held = sums.get(id(leaf))
                sums[id(leaf)] = (leaf, found[var] if held is None else self._sure(held[1], var) + found[var])
        return list(sums.values())

    def _hooked(self, leaf: Any, ct: Variable) -> Any:
        """The gradient as the hooks of its leaf change it."""
        if not isinstance(leaf, Tensor):
            return ct
        self.pin(leaf)
        if leaf._node is not None:
            raise UnsupportedError("backward() to what computed a tensor from outside of the function", hint=_OUTSIDE)
        for hook in tuple(leaf._hooks or ()):
            if MAY_BE_MISSING in ct.__dict__:
                raise UnsupportedError("a hook of a tensor that gets a gradient on some paths of the program only")
            new = convert_call(hook)(ct)
            ct = ct if new is None else self._trace.builder.value(new)
        return ct

    def _sure(self, ct: Variable, like: Variable) -> Any:
        """A gradient that only some paths give, as a value that is None on the others; any other as it is."""
        if MAY_BE_MISSING not in ct.__dict__:
            return ct
        return choose(is_given_op(ct), lambda: filled(ct, like), _nothing, "a gradient")

    def _accumulate(self, leaf: Any, ct: Variable) -> None:
        """Add `ct` to the gradient of a leaf."""
        held = self.grad_of(leaf)
        builder = self._trace.builder
        like = builder.value(leaf)
        if held is not None and optional_kind(held) is not None:
            found = choose(is_none(held), lambda: self._sure(ct, like), lambda: _added(held, ct, like), "a gradient")
            self.set_grad(leaf, found)
        elif held is not None:
            self.set_grad(leaf, _added(held, ct, like))
        elif MAY_BE_MISSING in ct.__dict__:
            self.set_grad(leaf, self._sure(ct, like))
        else:
            self.set_grad(leaf, self._own(ct, like))

    def _own(self, ct: Variable, like: Variable) -> Variable:
        """The first gradient of a leaf, in memory that no other has."""
        if ct.dtype is not like.dtype:
            ct = cast(ct, like.dtype)
        elif ct in self._given:
            ct = assign_op(ct)
        self._given.add(ct)
        return ct

    # -- what changes from run to run ---------------------------------------------------------------------------------

    def number(self, key: Any, label: str, read: Callable[[], float]) -> Variable:
        """What `read()` gives before each run, a float, as an input of the program."""
        found = self._numbers.get(key)
        if found is None:
            observer = current_observer()
            assert observer is not None
            with scoped(recorder, None):
                value = read()
            tensor = wrap(np.asarray(value, "float64"))
            found = self._numbers[key] = as_number(self._trace.lift(tensor))
            observer.guards[key] = Guard(Source(label, read), value, AnyNumber(tensor, type(value)), key)
        return found

    def watch(self, key: Any, label: str, read: Callable[[], Any]) -> None:
        """Let the program hold only while `read()` gives what it gives now."""
        observer = current_observer()
        assert observer is not None
        with scoped(recorder, None):
            wanted = read()
        observer.guards.setdefault(key, Guard(Source(label, read), wanted, LeafState(wanted), key))

    def after_run(self, owner: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Let each run of the program end with `owner.method(*args, **kwargs)`."""
        if is_nested():
            raise UnsupportedError(f"{type(owner).__name__}.{method} where a tensor decides whether it is called")
        call = MethodCall(owner, method, args, kwargs)
        self.calls.append(call)
        self.late.setdefault(id(owner), (owner, []))[1].append(call)
        observer = current_observer()
        assert observer is not None
        observer.late[id(owner)] = f"{type(owner).__name__}.{method}()"

    def held_before(self, owner: Any, attribute: str) -> Any:
        """What an attribute that the trace wrote held before."""
        observer = current_observer()
        assert observer is not None
        return observer.journal.before[id(owner), attribute][1]

    def calls_of(self, owner: Any) -> Sequence[MethodCall]:
        """The calls of methods of `owner` that wait for the end of the run."""
        return tuple(self.late.get(id(owner), (owner, []))[1])

    # -- the end of a trace -------------------------------------------------------------------------------------------

    def finish(self, outputs: Sequence[Variable]) -> frozenset[int]:
        """The numbers of the outputs whose graph backward freed; what no program can do is refused."""
        tensors = list(self.leaves.values())
        if tensors:
            self.watch("leaves", "what gradients the parameters want", lambda: _state_of(tensors))
            self._watch_missing(tensors)
        for var in outputs:
            if var.__dict__.get("_grad") is not None:
                raise UnsupportedError("a tensor with a gradient of its own leaves the function", hint=_OUTSIDE)
        spent = self._spent()
        self._check_flow([v for v in outputs if v not in spent])
        return frozenset(i for i, v in enumerate(outputs) if v in spent)

    def _watch_missing(self, tensors: Sequence[Tensor]) -> None:
        """Look at all gradients at once that were None."""
        observer = current_observer()
        assert observer is not None
        keys = {id(t): (id(t), "grad") for t in tensors}
        none = [t for t in tensors if keys[id(t)] in observer.guards and observer.guards[keys[id(t)]].value is None]
        for tensor in none:
            del observer.guards[keys[id(tensor)]]
        if none:
            source = Source("which parameters have gradients", lambda: [t for t in none if t._grad is not None])
            observer.guards["no gradients"] = Guard(source, [], LeafState([]), "no gradients")

    def _spent(self) -> set[Variable]:
        """What depends on operators that backward freed."""
        spent: set[Variable] = set()
        if self.freed:
            for operator in self._differentiated():
                if operator in self.freed or any(v in spent for v in operator.variables):
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
        changed = [v for v, leaf in self.leaf_of.items() if isinstance(leaf, Tensor) and not v.stop_gradient]
        if not changed:
            return
        active = active_variables(self._differentiated(), changed)
        if any(v in active and v not in self.leaf_of for v in outputs):
            raise UnsupportedError(
                "a tensor leaves the function that was computed from a parameter changed inside: backward() outside "
                "would have to reach it",
                hint="call backward() inside as well, or return it detached",
            )


def _nothing() -> None:
    """What a gradient is that does not come."""


def _added(held: Any, ct: Variable, like: Variable) -> Any:
    """The sum of a gradient that is there and one that may come."""
    if MAY_BE_MISSING not in ct.__dict__:
        return held + ct
    return choose(is_given_op(ct), lambda: held + filled(ct, like), lambda: held, "a gradient")


def _state_of(tensors: Sequence[Tensor]) -> list[Any]:
    """Whether each tensor wants a gradient, and its hooks."""
    return [t.stop_gradient if not t._hooks else (t.stop_gradient, *t._hooks) for t in tensors]

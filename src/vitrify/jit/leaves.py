"""The leaves of a trace: what wants a gradient, the versions that in-place changes give it, and its `.grad`.

Leaves are the captured tensors and arguments that want a gradient, and variables that the code makes leaves itself
(`x.stop_gradient = False`). An in-place change under no_grad gives a leaf another version, which hands its gradient on
to the one before: what flows to any version of a leaf is its gradient.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ..convert import convert_call
from ..convert.control.branches import choose
from ..convert.guards.observe import current_observer
from ..convert.state.gradient_place import GradientPlace, gradient_of
from ..convert.state.journal import note_write
from ..convert.values.optional import is_none, optional_kind
from ..core.errors import UnsupportedError
from ..core.modes import grad_enabled, scoped
from ..eager.gradients import Handle, held_grad
from ..eager.tensor import Tensor
from ..ir.program import Variable, position
from ..ir.stop_flags import want_own_gradient
from ..ir.tape_place import LEAF, version_of
from ..ir.text import FORWARD
from ..ops.like import assign_op, cast, full_like
from ..ops.missing import MAY_BE_MISSING, filled, is_given_op
from .leaf_hooks import LeafHooks, TracedHandle

if TYPE_CHECKING:
    from .tracing import Trace

OUTSIDE = "return the loss and call backward() outside, or leave this function out with @not_to_static"


class Leaves:
    """What one trace knows of its leaves and their gradients."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.leaf_of: dict[Variable, Any] = {}
        """The leaf that a variable made by an in-place change, or by a leaf of the program's own, is a version of."""
        self.copies: set[Variable] = set()
        """Leaves that `copy` and `deepcopy` made of others."""
        self.mixed: set[Variable] = set()
        """What is a leaf on one path of a tensor's decision alone, or one that the path has used."""
        self.pinned: dict[int, Tensor] = {}
        """The tensors whose gradient or state the program reads or writes: no other may take their place."""
        self.asked: set[Variable] = set()
        """The arguments whose `.grad` the code has read or set: the program takes them to have none before the run."""
        self.hooks = LeafHooks()
        self._given: set[Variable] = set()
        self._firsts: dict[Variable, Variable] = {}
        self._read: dict[int, Tensor] = {}  # gradients from outside that the code has read
        self._gradients: dict[int, Tensor] = {}  # all of those from outside: leaves whose own gradient nobody keeps
        self._computed: set[Variable] = set()  # those of the program's own that the code has read
        self._handles: dict[int, Handle] = {}  # what becomes of gradients from outside that were not kept
        self._updates: dict[Variable, Variable] = {}  # what updates computed, by the version that it became

    def is_made(self, var: Variable) -> bool:
        """Whether it is a leaf that the program made, or a version of one."""
        return var in self.copies or var in self._computed or isinstance(self.leaf_of.get(var), Variable)

    # -- versions -----------------------------------------------------------------------------------------------------

    def pin(self, leaf: Tensor) -> None:
        """Note that the program is about this very tensor."""
        self.pinned.setdefault(id(leaf), leaf)

    def register_hook(self, leaf: Any, hook: Any) -> TracedHandle:
        """`leaf.register_hook(hook)`, of a leaf from outside, an argument, or one that the program made."""
        return self.hooks.register(leaf, hook, self._trace.builder.held(leaf).stop_gradient)

    def has_hooks(self, tensor: Any) -> bool:
        """Whether a variable is a leaf, whose hooks see all that comes to it."""
        return self._is_argument(tensor) or self.leaf_of.get(self._trace.builder.held(tensor)) is tensor

    def note_leaf(self, var: Variable, owner: Any) -> None:
        """Remember that `var` is a leaf that wants a gradient, which `owner.grad` will hold."""
        self.leaf_of[var] = owner

    def merged(self, result: Variable, sides: tuple[Any, ...]) -> None:
        """Note that `result` is what two paths gave: a leaf, where both only made one."""
        variables = [side for side in sides if isinstance(side, Variable)]
        made = [side for side in variables if self.leaf_of.get(side) is side]
        if not made:
            if any(side in self.mixed for side in variables):
                self.mixed.add(result)
            return
        used = {v for side in made for op in side.block.ops for v in op.inputs}
        if len(made) < 2 or any(side in used for side in made):
            self.mixed.add(result)
            return
        for side in made:
            self.leaf_of.pop(side, None)
        object.__setattr__(result, "stop_gradient", False)
        self.note_leaf(result, result)

    def version(self, old: Variable, value: Variable) -> Variable | None:
        """`value` as the content of the leaf whose content was `old`; None if that is no leaf."""
        leaf = self._leaf(old)
        if leaf is None:
            return None
        if isinstance(leaf, Tensor):
            self.pin(leaf)
        return value if self.leaf_of.get(value) is leaf else self._version_of(old, value, leaf)

    def _leaf(self, var: Variable) -> Any:
        """The leaf that a variable is a version of, or None."""
        found = self.leaf_of.get(var)
        if found is None:
            found = self._trace.tensors.get(var)
            if found is not None and (found._node is not None or found.stop_gradient or id(found) in self._gradients):
                return None
        return self._carried_leaf(var) if found is None else found

    def _carried_leaf(self, var: Variable) -> Any:
        """The leaf whose content is `var` at the head of a loop's body that changes it, or None."""
        if var.block is self._trace.block or position(var.block.inputs, var) < 0:
            return None
        handle = next((h for h, held in self._trace.builder.current.items() if held is var and h is not var), None)
        return None if handle is None else self._leaf(handle)

    def _version_of(self, old: Variable, value: Variable, leaf: Any) -> Variable:
        fresh = version_of(old, value)
        fresh.__dict__[LEAF] = True
        self.leaf_of[fresh] = leaf
        self._firsts[fresh] = self.first(old)
        return fresh

    def updated(self, leaf: Tensor, value: Variable) -> None:
        """Let `leaf` mean `value`, which an update just computed for it alone."""
        self.pin(leaf)
        if not leaf.stop_gradient:
            builder = self._trace.builder
            value.__dict__[LEAF] = True
            with builder.program.adding(FORWARD):
                version = self._version_of(builder.value(leaf), value, leaf)
            self._updates[version] = value
            value = version
        with scoped(grad_enabled, False):
            leaf._become(value)

    def first(self, var: Variable) -> Variable:
        """What the leaf was at first that `var` is a version of; any other variable as it is."""
        return self._firsts.get(var, var)

    def written(self, var: Variable) -> Variable:
        """What is written into the leaf that is `var` after the run: what an update computed, where it was one."""
        return self._updates.get(var, var)

    def drop_unread(self, outputs: Collection[Variable | None]) -> None:
        """Take out of the outermost block the versions that updates made and nothing reads, nor is among `outputs`."""
        if not self._updates:
            return
        read, kept = {*outputs}, []
        for operator in reversed(self._trace.block.ops):
            if all(v in read or v not in self._updates for v in operator.outputs):
                read.update(operator.variables)
                kept.append(operator)
        self._trace.block.ops[:] = kept[::-1]

    def is_version(self, var: Variable) -> bool:
        """Whether an in-place change of a leaf, or an update, made it."""
        return var in self._firsts

    def wanted(self) -> Iterator[tuple[Variable, Any]]:
        """What each leaf was first that wants a gradient, and the leaf."""
        for tensor in self._trace.captured:
            var = self._trace.variables[id(tensor)]
            if not var.stop_gradient and id(tensor) not in self._gradients:
                yield var, tensor
        yield from ((var, var) for var in self._trace.arguments if not var.stop_gradient)
        own = [(var, leaf) for var, leaf in self.leaf_of.items() if not self.is_version(var)]
        yield from ((var, leaf) for var, leaf in own if not var.stop_gradient)

    # -- gradients ----------------------------------------------------------------------------------------------------

    def grad_of(self, owner: Any) -> Any:
        """`owner.grad` for code that may go on with it: None, a tensor from outside or a variable."""
        if id(owner) in self._gradients or self._trace.builder.held(owner) in self._computed:
            raise UnsupportedError(
                "the gradient of what backward() has put into `.grad`",
                hint="use paddle.grad(..., create_graph=True) and differentiate what it gives, or " + OUTSIDE,
            )
        self._ask(owner)
        held = self.held_by(owner)
        if isinstance(held, Tensor):
            self._read[id(held)] = held
        elif isinstance(held, Variable) and optional_kind(held) is None and self.handle_of(owner) is not Handle.GIVEN:
            self._computed.add(want_own_gradient(self._trace.builder, held))
        return held

    def held_by(self, owner: Any) -> Any:
        """`owner.grad`, of which nothing else than `owner` shall hold more than the value."""
        if isinstance(owner, Tensor):
            self.pin(owner)
            observer = current_observer()
            assert observer is not None
            held = held_grad(owner)
            observer.attribute(owner, "grad", held)
            if isinstance(held, Tensor):
                self._gradients[id(held)] = held
        elif owner in self._trace.builder.aliases.forks:
            raise UnsupportedError(
                "the gradient of a tensor of which a tensor decides which one it is",
                hint="use paddle.grad, or " + OUTSIDE,
            )
        return gradient_of(owner)

    def _is_argument(self, owner: Any) -> bool:
        return isinstance(owner, Variable) and position(self._trace.arguments, owner) >= 0

    def _ask(self, owner: Any) -> None:
        """Note that what the code does depends on whether an argument has a gradient already."""
        if self._is_argument(owner):
            self.asked.add(owner)

    def gets_gradient(self, owner: Any) -> bool:
        """Whether what `.grad` of a tensor has become outlives the call."""
        return isinstance(owner, Tensor) or self._is_argument(owner)

    def with_gradients(self) -> list[Variable]:
        """The arguments whose `.grad` the program reads or writes."""
        written = [v for v in self._trace.arguments if v.__dict__.get("_grad") is not None]
        return [v for v in self._trace.arguments if v in self.asked or position(written, v) >= 0]

    def set_grad(self, owner: Any, value: Any) -> None:
        """`owner.grad = value`, a copy of it."""
        self._ask(owner)
        if isinstance(value, Variable) and optional_kind(value) is None:
            held = self.held_by(owner)
            with scoped(grad_enabled, False):
                value = assign_op(value)
                if self._is_followed(held) and held.shape == value.shape and held.dtype is value.dtype:
                    held._become(value)  # whoever has read `.grad` has the new one
                    value = held
                elif held is None:
                    self._handles[id(owner)] = Handle.GIVEN
        self._put_grad(owner, value)

    def _is_followed(self, held: Any) -> bool:
        """Whether code of the program may have read this gradient, so that it changes in place."""
        return id(held) in self._read or (isinstance(held, Variable) and optional_kind(held) is None)

    def handle_of(self, owner: Any) -> Handle:
        """What becomes of the tensor that was `owner.grad` before the run."""
        if self._is_argument(owner) and owner not in self.asked:
            return Handle.ADDED
        return self._handles.get(id(owner), Handle.KEPT)

    def _put_grad(self, owner: Any, value: Any) -> None:
        """Let `owner.grad` be `value`, which no other place holds."""
        self.held_by(owner)
        place = GradientPlace(owner)
        note_write(place)
        if isinstance(owner, Tensor):
            owner._grad = value
        else:
            place.set(value)

    def clear(self, owner: Any, set_to_zero: bool) -> None:
        """Reset `owner.grad`, if there is one, to zeros or None."""
        self._ask(owner)
        held = self.held_by(owner)
        if held is None:
            return
        if not set_to_zero and self._handles.get(id(owner)) is Handle.GIVEN:
            del self._handles[id(owner)]
        at_once = set_to_zero and self._trace.builder.block is self._trace.block
        self._handles.setdefault(id(owner), Handle.CLEARED if at_once else Handle.LEFT)
        with scoped(grad_enabled, False):
            if not set_to_zero:
                self._put_grad(owner, None)
            elif optional_kind(held) is None:
                if self._is_followed(held):
                    held._become(full_like(owner, 0.0))  # what whoever has read `.grad` sees
                self._put_grad(owner, full_like(owner, 0.0))
            else:
                self._put_grad(owner, choose(is_none(held), _nothing, lambda: full_like(owner, 0.0), "a gradient"))

    def _hooked(self, leaf: Any, ct: Variable) -> Any:
        """The gradient as the hooks of its leaf change it."""
        own = self.hooks.of(leaf)
        if isinstance(leaf, Tensor):
            self.pin(leaf)
            if leaf._node is not None:
                what = "backward() to what computed a tensor from outside of the function"
                raise UnsupportedError(what, hint=OUTSIDE)
            own = [*(leaf._hooks or ()), *own]
        for hook in own:
            if MAY_BE_MISSING in ct.__dict__:
                raise UnsupportedError("a hook of a tensor that gets a gradient on some paths of the program only")
            new = convert_call(hook)(ct)
            ct = ct if new is None else self._trace.builder.value(new)
        return ct

    def _accumulate(self, leaf: Any, ct: Variable) -> None:
        """Add `ct` to the gradient of a leaf."""
        held = self.held_by(leaf)
        builder = self._trace.builder
        like = builder.value(leaf)
        if held is not None and optional_kind(held) is not None:
            found = choose(is_none(held), lambda: self._sure(ct, like), lambda: _added(held, ct, like), "a gradient")
            self._put_grad(leaf, found)
        elif self._is_followed(held):
            with scoped(grad_enabled, False):
                held._become(_added(held, ct, like))  # whoever has read `.grad` holds the sum, too
            self._put_grad(leaf, held)
        elif held is not None:
            self._put_grad(leaf, _added(held, ct, like))
        elif MAY_BE_MISSING in ct.__dict__:
            self._put_grad(leaf, self._sure(ct, like))
        else:
            self._put_grad(leaf, self._own(ct, like))

    def _sure(self, ct: Variable, like: Variable) -> Any:
        """A gradient that only some paths give, as a value that is None on the others; any other as it is."""
        if MAY_BE_MISSING not in ct.__dict__:
            return ct
        return choose(is_given_op(ct), lambda: filled(ct, like), _nothing, "a gradient")

    def _own(self, ct: Variable, like: Variable) -> Variable:
        """The first gradient of a leaf, in memory that no other has."""
        if ct.dtype is not like.dtype:
            ct = cast(ct, like.dtype)
        elif ct in self._given:
            ct = assign_op(ct)
        self._given.add(ct)
        return ct


def _nothing() -> None:
    """What a gradient is that does not come."""


def _added(held: Any, ct: Variable, like: Variable) -> Any:
    """The sum of a gradient that is there and one that may come."""
    if MAY_BE_MISSING not in ct.__dict__:
        return held + ct
    return choose(is_given_op(ct), lambda: held + filled(ct, like), lambda: held, "a gradient")

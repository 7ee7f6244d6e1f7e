"""Recording op calls into a Program: the static backend behind `core.dispatch.bind`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..core.dtype import as_dtype, default_dtype, fitted
from ..core.errors import DTypeError, UnsupportedError, UserCodeError, VitrifyError
from ..core.lazy import lazy_module
from ..core.modes import amp_state, grad_enabled, recorder, scoped
from ..core.source import Loc, stack_depth, user_frames
from ..ops.amp_policy import cast_for_amp
from ..ops.creation import constant
from ..ops.failure import changed_leaf, missing_tensor, need_given
from ..ops.number import NUMBER_OPS
from ..ops.promote import SCALARS, common_dtype, promote_inputs, with_numpy_numbers
from ..ops.registry import OpDef, get_op
from .aliases import Aliases, Hooks
from .gradient_flow import stops_of
from .lifted_attrs import lift_attrs
from .notes import Notes, as_it_is
from .numbers import as_number, weaken
from .operator import place_behind
from .program import Block, Literal, Program, Variable
from .tape_place import IN_PLACE, UNSEEN, in_place_of
from .varying import KIND, pass_on

_stop_flags = lazy_module("vitrify.ir.stop_flags")  # traces of Python alone set them

UNSET = "unset_flag"
"""The attribute of a variable that some path left unset: the flag that says whether it is set, its name and line."""
Lift = Callable[[Any], Any]


def _constant(value: Any) -> Any:
    """An array or nested list of numbers as a constant of the program; anything else cannot be used."""
    if isinstance(value, (np.ndarray, np.generic, list, tuple)):
        return constant(np.asarray(value))
    raise DTypeError(
        f"a program being built cannot use a {type(value).__name__} directly",
        hint="make it a static.data or a parameter, or build with @to_static, which captures eager tensors",
    )


class Contents(NamedTuple):
    """What tensors changed in place hold at some point of a block: `Builder.current`, and `Aliases.replaced`."""

    current: dict[Variable, Variable]
    replaced: dict[Variable, Variable]


class Trial:
    """Whether what is recorded inside stays."""

    kept = False

    def keep(self) -> None:
        """Let it stay."""
        self.kept = True


class Builder(Notes):
    """Appends operators to the current block of a Program.

    `lift` turns foreign inputs (eager Tensors, NumPy arrays) into Variables of the global block. `current` maps a
    Variable that was changed in place to the one that now holds its value; an eager tensor is changed as the Variable
    that stands for it, so that it is one thing by whatever name it is reached.
    """

    def __init__(self, program: Program, lift: Lift = _constant) -> None:
        super().__init__()
        self.program = program
        self.block: Block = program.global_block()
        self.lift = lift
        self._wants_gradients = grad_enabled.get()
        self.current: dict[Variable, Variable] = {}
        self.stands_for: Mapping[int, Variable] = {}  # lifted, by the ids of eager tensors: tracing puts its own
        self.aliases = Aliases()
        self.locs: tuple[Loc, ...] | None = None

    # -- blocks -----------------------------------------------------------------------------------------------------

    @contextmanager
    def sub_block(self, parent: Block | None = None) -> Iterator[Block]:
        """Record into a new block below `parent` (the current one by default).

        In-place changes made inside are undone at its end, so whoever builds the block reads `current` before leaving
        and makes them outputs.
        """
        outer, contents = self.block, self.contents()
        self.block = self.program.create_block(parent or outer)
        try:
            yield self.block
        finally:
            self.block = outer
            self._hold(contents)

    def contents(self) -> Contents:
        """What tensors changed in place so far hold now."""
        return Contents(dict(self.current), dict(self.aliases.replaced))

    def _hold(self, contents: Contents) -> None:
        self.current, self.aliases.replaced = contents

    @contextmanager
    def resume(self, block: Block, contents: Contents | None = None) -> Iterator[None]:
        """Record at the end of a block that was left before; contents: with what tensors held there."""
        outer, held = self.block, Contents(self.current, self.aliases.replaced)
        self.block = block
        if contents is not None:
            self._hold(contents)
        try:
            yield
        finally:
            self.block = outer
            self._hold(held)

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Record here, and take everything back at the end unless the trial is kept by then."""
        block, contents = self.block, self.contents()
        last = block.ops[-1] if block.ops else None
        asserted, flagged = set(self.asserted), set(self.flagged)
        trial = Trial()
        try:
            yield trial
        finally:
            if not trial.kept:
                for var in self.flagged - flagged:
                    object.__setattr__(var, "stop_gradient", not var.stop_gradient)
                self.flagged = flagged
                del block.ops[place_behind(block.ops, last) :]
                self._hold(contents)
                self.asserted = asserted

    def _lines(self) -> tuple[Loc, ...]:
        """The user's lines that what is recorded now comes from; none where `at` says so."""
        return self.locs if self.locs is not None else user_frames(2)

    @contextmanager
    def at(self, locs: tuple[Loc, ...]) -> Iterator[None]:
        """Give the operators recorded inside these locations instead of the running frames."""
        held, self.locs = self.locs, locs
        try:
            yield
        finally:
            self.locs = held

    # -- values -----------------------------------------------------------------------------------------------------

    def value(self, handle: Any) -> Any:
        """The Variable, Literal-to-be (a Python scalar) or None that an op input stands for, seen from this block."""
        if isinstance(handle, Variable):
            if UNSET in handle.__dict__:
                self.on_unset(handle)
            if KIND in handle.__dict__:
                self.on_kind(handle)
        return self.passed_on(handle)

    def passed_on(self, handle: Any) -> Any:
        """What `value` gives, for those who do not use it themselves: it may be unset."""
        if not isinstance(handle, Variable) and (handle is None or isinstance(handle, SCALARS)):
            return handle
        held = self.held(handle)
        return self.block.resolve(held) if isinstance(held, Variable) else held

    def meaning(self, handle: Any) -> Variable | None:
        """What the shape and dtype of a handle are read from; None where it is as it was made.

        So it is taken while content is put back where views show it.
        """
        return self.changed(handle) if self.current and self.aliases.noting else None

    def changed(self, handle: Any) -> Variable | None:
        """The Variable that holds the value of a tensor since it was changed in place; None for all others."""
        var = handle if isinstance(handle, Variable) else self.stands_for.get(id(handle))
        return None if var is None else self.current.get(var)

    def content(self, value: Any) -> Any:
        """What `changed` gives, the value itself where it is no changed tensor."""
        found = self.changed(value)
        return value if found is None else found

    def held(self, handle: Any) -> Any:
        """The Variable that holds what `handle` means now, wherever it was made."""
        var = self._variable(handle)
        found = self.current.get(var, var)
        if not self.aliases.follows(found):
            return found
        fresh = self.aliases.refreshed(found)
        if fresh is not found:
            self.mean(var, fresh)
        return fresh

    def _variable(self, handle: Any) -> Variable:
        return handle if isinstance(handle, Variable) else self.lift(handle)

    def settle(self) -> None:
        """Record again the views of this block whose base was changed in place since, for who asks for them by name."""
        if self.aliases.replaced:
            for var in list(self.aliases.views):
                if var.block is self.block:
                    self.held(var)

    def assign(self, handle: Any, value: Variable) -> None:
        """From here on `handle` means `value` (an in-place change), and so does all that shares its memory.

        A variable that lives in a Scope is written there.
        """
        if self.copies_into(handle):
            self.block.append(get_op("assign"), [self.block.resolve(value)], [handle], {}, self._lines())
            return
        old = self.held(handle)
        value.__dict__[IN_PLACE] = True
        value = self._kept_leaf(old, value)
        if not grad_enabled.get():
            value.__dict__[UNSEEN] = True
        self.mean(handle, value)
        if not (self.aliases.is_view_of(value, old) or self.aliases.leaves_memory(old, value)):
            self._replace(old, value)

    def mean(self, handle: Any, value: Variable) -> None:
        """Let `handle` mean `value`."""
        var = self._variable(handle)
        self.current[var] = value
        if value is not var and self.tensor_of(self.object_of.setdefault(value, var)) is not self.tensor_of(var):
            self.object_of[value] = value

    def tensor_of(self, var: Variable) -> Variable:
        """The tensor that a variable is: itself, unless it holds what one means since that was changed."""
        while (known := self.object_of.get(var, var)) is not var:
            var = known
        return var

    def unhook(self, handle: Any) -> tuple[Variable, Hooks]:
        """What `handle` is without its hooks, and from here on means, and these."""
        base, hooks = self.aliases.hooks(self.held(handle))
        self.mean(handle, base)
        return base, hooks

    def hook(self, handle: Any, base: Variable, value: Variable, hooks: Hooks) -> None:
        """From here on `handle`, which holds `base`, is `value`: the hooks change the gradient on its way to `base`."""
        self.aliases.note_hooked(base, value, hooks)
        self.mean(handle, value)

    def set_stop_gradient(self, handle: Any, stop: bool, is_leaf: bool = False) -> None:
        """From here on `handle`, the same tensor, stops gradients, or wants one; as a leaf, or made as it was."""
        _stop_flags.write_flag(self, handle, stop, is_leaf)

    def copies_into(self, handle: Any) -> bool:
        """Whether `assign` writes a copy: the variable lives in a Scope."""
        return isinstance(handle, Variable) and handle.persistable and handle.block is self.block

    def _kept_leaf(self, old: Variable, value: Variable) -> Variable:
        """`value` as the new content of `old`; a leaf stays a leaf, and what no tape sees leaves `old` on its place."""
        if not self._wants_gradients or old.stop_gradient:
            return value
        leaf: Variable | None = None if self.training is None else self.training.version(old, value)
        if leaf is None and not grad_enabled.get():
            return in_place_of(old, value)
        return value if leaf is None else leaf

    def detach(self, handle: Any) -> Variable:
        """A tensor of the same values, and in eager code of the same memory, that stops gradients."""
        with scoped(grad_enabled, False):
            made: Variable = get_op("detach")(handle)
        self.aliases.note_detached(self.held(handle), made)
        return made

    def keep(self, value: Any) -> None:
        """Note that the program holds `value`, a tensor or container, as it is now, though Python shares the object."""
        for memory in self._memory(value):
            self.kept[id(memory)] = memory

    def is_kept(self, value: Any) -> bool:
        """Whether `keep` was told of `value`, or of a tensor that shares its memory."""
        return bool(self.kept) and any(id(memory) in self.kept for memory in self._memory(value))

    def check_change(self, value: Any) -> None:
        """Raise UnsupportedError when the program holds `value` as it is, so that it would not see a change."""
        if self.is_kept(value):
            self._refuse_change()

    def check_leaf(self, tensor: Any) -> None:
        """Raise what eager code does where a leaf that wants a gradient, made by the program, is changed in place."""
        if grad_enabled.get() and self.training is not None and self.training.is_made(self.held(tensor)):
            err = changed_leaf(tensor.name)
            self.errors[id(err)] = (err, None, True)
            raise err

    def check_flag(self, tensor: Any) -> None:
        """What `check_change` does, for a change of `stop_gradient`, which tensors on one memory have each."""
        if self.kept and any(id(held) in self.kept for held in (tensor, self.content(tensor))):
            self._refuse_change()

    def _refuse_change(self) -> NoReturn:
        raise UnsupportedError(
            "a change of what a list holds whose length is known only when the program runs, or of memory that a "
            "call shares which waited for a number of the run",
            loc=next(iter(user_frames(2)), None),
            hint="use a copy there (x.clone()), or make a new value instead of changing the old one",
        )

    def _memory(self, value: Any) -> Iterator[Any]:
        """`value`, the variable that it means now, and what that is a view of."""
        yield value
        var = self.content(value)
        while isinstance(var, Variable):
            yield var
            view = self.aliases.views.get(var)
            var = view.base if view is not None and self.aliases.shares(var) else None

    def _replace(self, old: Variable, value: Variable) -> None:
        """The memory of `old` holds `value` now."""
        self.aliases.replaced[old] = value
        written = self.aliases.written_base(old, value)
        if written is not None:
            self.aliases.shows(value, self._refill(*written))
        ways = self.aliases.forks.get(old, ())
        for way in ways:
            base = self.aliases.refreshed(self.aliases.latest(way.target))
            if base is not value:
                self._refill(base, way.choose(value, base))
        self.aliases.fork(value, [replace(way, target=self.aliases.latest(way.target)) for way in ways])

    def _refill(self, base: Variable, content: Variable) -> Variable:
        """`base`, which others show or share, holds `content` now, and so do its handles. Returns what they mean."""
        if not base.stop_gradient and not grad_enabled.get():
            content = in_place_of(base, content)
        sharing = [h for h, held in self.current.items() if held is base]
        for handle in sharing or ([] if base in self.current else [base]):
            self.mean(handle, content)
        self._replace(base, content)
        return content

    def latest(self, handle: Any) -> Any:
        """What `handle` means now: the value of its last in-place change, or itself."""
        is_known = isinstance(handle, Variable) or self.changed(handle) is not None
        return self.held(handle) if is_known else handle

    @contextmanager
    def as_made(self, values: Sequence[Variable]) -> Iterator[None]:
        """Take these for what they are, not for the tensors which they stand for, whatever those hold now."""
        held = {var: self.current.pop(var) for var in values if var in self.current}
        try:
            yield
        finally:
            self.current.update(held)

    def changed_since(self, before: Mapping[Variable, Variable], block: Block) -> dict[Variable, Variable]:
        """What was changed in place since `current` was `before`, leaving out variables that `block` made itself."""
        now = self.current.items()
        return {var: value for var, value in now if before.get(var) is not value and var.block is not block}

    def is_anything_changed(self, before: Mapping[Variable, Variable], mark: int) -> bool:
        """Whether a tensor was changed in place since `current` was `before`, leaving out what was made since.

        mark: how many operators the current block had then.
        """
        made = {var for operator in self.block.ops[mark:] for var in operator.outputs}
        return any(before.get(var) is not value and var not in made for var, value in self.current.items())

    # -- ops --------------------------------------------------------------------------------------------------------

    def apply(self, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Append one operator; returns its output Variable, or a list of them."""
        locs = self._lines()
        try:
            return self._append(op, inputs, attrs, locs)
        except VitrifyError as err:
            if err.loc is None and locs:
                err.loc = locs[0]
            raise

    def append_held(self, op: OpDef, values: Sequence[Variable], attrs: Mapping[str, Any]) -> list[Variable]:
        """Append an operator of several outputs on values as they were taken, whatever changed in place since."""
        seen = [self.block.resolve(v) for v in values]
        outs = [self.block.create_var(m, prefix=op.name) for m in op.meta(*[v.meta for v in seen], **attrs)]
        self.block.append(op, seen, outs, attrs, self._lines())
        return outs

    def _append(self, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], locs: Any) -> Any:
        has_blocks = any(isinstance(value, Block) for value in attrs.values())
        inputs = with_numpy_numbers(op, inputs)
        self.appending = op
        values = [self.passed_on(v) if has_blocks else self.value(v) for v in inputs]
        self.appending = None
        if amp_state.get() is not None:
            values = cast_for_amp(op, values)
        if not has_blocks:
            need_given(op, values)
        op, values, is_number = weaken(op, inputs, values)
        if is_number and op.raises and op not in NUMBER_OPS:  # those are left where the divisor is known
            self.on_raise(op, values)
        if op.promote:
            values = promote_inputs(op, values)
        values = self._literals(op, values)
        given = attrs
        attrs, refs = lift_attrs(op, attrs, len(values), self.value, self.foreseen.value)
        metas = self._metas(op, values, attrs, refs)
        values += refs
        metas = metas if op.multiple else (metas,)
        stops = stops_of(op, values, attrs, len(metas))
        outs = [self.block.create_var(m, prefix=op.name, stop_gradient=stop) for m, stop in zip(metas, stops)]
        self.foreseen.note(self.block.append(op, values, outs, attrs, locs))
        if is_number:
            as_number(outs[0])
        pass_on(op, inputs, outs)
        if op.view:
            self.aliases.note(op, self.held(inputs[0]), inputs[1:], given, outs[0])
        return outs if op.multiple else outs[0]

    def _metas(self, op: OpDef, values: Sequence[Any], attrs: Mapping[str, Any], refs: Sequence[Any]) -> Any:
        """What the op gives; where its rule refuses, eager code does, too: the error counts as raised by the user."""
        try:
            return op.meta(*[v if v is None else v.meta for v in values], **attrs)
        except AttributeError as err:  # the rule asked something of None
            raise missing_tensor(op, values) or err from None
        except UserCodeError as err:
            if not refs and not isinstance(err, UnsupportedError):
                self.errors[id(err)] = (err, None, True)
            raise

    def _literals(self, op: OpDef, values: Sequence[Any]) -> list[Any]:
        if not any(not isinstance(v, Variable) and isinstance(v, SCALARS) for v in values):
            return list(values)
        dtype = common_dtype(op, values)
        out: list[Any] = []
        for i, v in enumerate(values):
            if isinstance(v, SCALARS):
                promoted = dtype if dtype is not None and op.input_name(i) in op.promote else None
                out.append(Literal(v if promoted is None else fitted(v, promoted), promoted or _scalar_dtype(v)))
            else:
                out.append(v)
        return out


def _scalar_dtype(value: Any) -> Any:
    if isinstance(value, bool):
        return as_dtype("bool")
    if isinstance(value, int):
        return as_dtype("int64")
    return default_dtype() if isinstance(value, float) else as_dtype("complex64")


def builder_of(program: Program) -> Builder:
    """The one builder of a program written by hand: what changed in place under one guard is known under others."""
    found: Builder | None = program.builder
    if found is None:
        known, changed = program.global_block().vars, program.changed_names()
        found = program.builder = Builder(program)
        found.current.update((known[name], known[held]) for name, held in changed.items())
    return found


@contextmanager
def building(builder: Builder) -> Iterator[Builder]:
    """Send op calls of this thread to `builder`."""
    outer = builder.depth  # guards of one program may be nested
    builder.depth = stack_depth(skip=2)  # of those who enter, not of this function and of contextlib
    try:
        with scoped(recorder, builder):
            yield builder
    finally:
        builder.depth = outer


def current_builder() -> Builder | None:
    """The builder that receives op calls now, or None when eager."""
    found: Builder | None = recorder.get()
    return found


def is_written_by_hand() -> bool:
    """Whether a program is being built by calls that nobody converted, as in Paddle's static mode."""
    builder = current_builder()
    return builder is not None and builder.convert is as_it_is

"""`stop_gradient` of a tensor that is set while a program is built: the name means another variable from there on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.errors import UnsupportedError
from ..core.modes import grad_enabled, scoped
from ..ops.registry import get_op
from .aliases import always, cut
from .origins import maker, origin
from .program import Variable
from .varying import STOP_GRADIENT, clear, facts_of

if TYPE_CHECKING:
    from .builder import Builder

WANTS = "wants_gradient"
"""The attribute of a variable whose tensor wants a gradient on every path, whatever it is made of."""


def write_flag(build: Builder, handle: Any, stop: bool, is_leaf: bool = False, name: str = "stop_gradient") -> None:
    """From here on `handle`, the same tensor, stops gradients, or wants one; `name` is what sets it.

    Raises UnsupportedError for a tensor from outside of the block, once it was used.
    """
    held = build.held(handle)
    if build.tracing and (held.stop_gradient is not stop or STOP_GRADIENT in facts_of(held)):
        build.check_flag(handle)
    is_made = isinstance(handle, Variable) and maker(handle) is not None
    if not build.tracing or is_made or held.stop_gradient is stop or STOP_GRADIENT in facts_of(held):
        set_flag(build, handle, stop, is_leaf)
    elif not _flag_input(build, handle, stop) and not _flag_later(build, handle, stop):
        raise UnsupportedError(
            f"{name} of a tensor that the function was given, or that was there before, is changed after it was used, "
            "or where a tensor decides",
            hint="set it first of all in the function, or of a tensor made inside (x = x.detach(), x = x * 1)",
        )


def _flag_later(build: Builder, handle: Any, stop: bool) -> bool:
    """Let a tensor from outside, which something used, stop gradients from here on or want one; False where a path may.

    What it is at the end is set after the run.
    """
    is_global = build.block is build.program.global_block()
    if isinstance(handle, Variable) or not is_global or build.held(handle).block is not build.block:
        return False
    set_flag(build, handle, stop, is_leaf=not stop)
    build.flagged_later[id(handle)] = handle
    return True


def set_flag(build: Builder, handle: Any, stop: bool, is_leaf: bool) -> None:
    """From here on `handle`, the same tensor, stops gradients, or wants one; as a leaf, or made as it was."""
    held = build.held(handle)
    _set_on_paths(build, held, stop, is_leaf)
    if held.stop_gradient is stop is True:
        return
    before = build.aliases.uncut(held) if stop else origin(build.aliases, held)
    if before.stop_gradient is not stop:
        made = cut(before, stop)
        clear(made, STOP_GRADIENT)  # whatever path made the values
        build.aliases.note_cut(before, made, is_leaf)
        if not stop and build.training is not None:
            build.training.note_leaf(made, handle)
        build.mean(handle, made)
        return
    if before is not held:
        build.mean(handle, before)
    if not stop and STOP_GRADIENT in facts_of(before):
        _want_gradient(build, handle, before)


def want_own_gradient(build: Builder, handle: Variable) -> Variable:
    """From here on `handle`, from which nothing flows back, wants a gradient, as does what is computed from it.

    Returns what it means.
    """
    held: Variable = build.held(handle)
    if held.stop_gradient is True:
        held = cut(held, False)
        clear(held, STOP_GRADIENT)
        build.mean(handle, held)
    return held


def _set_on_paths(build: Builder, held: Variable, stop: bool, is_leaf: bool) -> None:
    """Set the flag of tensors that are `held` on some path, on that path."""
    for taken, var in build.aliases.same_on_paths(held):
        if var.block is not build.block or maker(var) is None or taken is always:
            continue
        of_var = [h for h, now in build.current.items() if build.aliases.flagged_form(now, var) is not None]
        for other in of_var or [var]:
            now = build.held(other)
            if now.stop_gradient is not stop or STOP_GRADIENT in facts_of(now):
                change = partial(set_flag, build, other, stop, is_leaf)
                build.choose(taken(), change, _nothing, "stop_gradient")


def _nothing() -> None:
    """A branch that does nothing."""


def _want_gradient(build: Builder, handle: Any, held: Variable) -> None:
    """From here on `handle`, the same tensor, wants a gradient on every path; which `held` did on some."""
    with scoped(grad_enabled, True):
        made: Variable = get_op("assign")(held)
    clear(made, STOP_GRADIENT)
    made.__dict__[WANTS] = True
    build.aliases.note_cut(held, made, is_leaf=False)
    build.mean(handle, made)


def rename(build: Builder, handle: Any, value: Variable, is_leaf: bool) -> None:
    """From here on `handle` is `value`, the same tensor; set was at most its stop_gradient."""
    build.aliases.note_cut(build.held(handle), value, is_leaf)
    build.mean(handle, value)


def _flag_input(build: Builder, handle: Any, stop: bool) -> bool:
    """Let a tensor from outside, which nothing used yet, stop gradients or want one; False where that is too late.

    Only where every run comes by: in the global block.
    """
    var = build.held(handle)
    used = maker(var) is not None or any(held is var for op in build.block.ops for held in op.inputs)
    if used or var.block is not build.block or build.block is not build.program.global_block():
        return False
    object.__setattr__(var, "stop_gradient", stop)
    build.flagged.add(var)
    return True

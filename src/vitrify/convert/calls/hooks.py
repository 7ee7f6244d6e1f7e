"""`y.register_hook(hook)` of a tensor that a converted function made: the hook becomes part of the backward program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import NoGradientError, UnsupportedError
from ...core.modes import grad_enabled, scoped
from ...ir.builder import current_builder
from ...ir.program import Variable
from ...ops.creation import assign
from ..values.base import builder
from .pylayer import as_leaf, with_backward

Convert = Callable[[Any], Any]


class HookHandle:
    """Removes its hook, `handle.remove()`, while the function is traced: the backward program is recorded then."""

    def __init__(self, block: Any) -> None:
        self._block = block
        self.is_registered = True

    def remove(self) -> bool:
        """Whether the hook was still registered; it is not any more. Raises UnsupportedError on a tensor's path."""
        build = current_builder()
        if build is None or build.block is not self._block:
            raise UnsupportedError(
                "the hook of a tensor of a program is removed after its run, or where a tensor decides",
                hint="let the hook return None or its gradient where it shall do nothing",
            )
        found, self.is_registered = self.is_registered, False
        return found


def registering(tensor: Any, convert: Convert) -> Callable[[Any], HookHandle]:
    """What to call in place of the tensor's `register_hook`."""

    def register_hook(hook: Callable[[Any], Any]) -> HookHandle:
        build = builder()
        held: Variable = build.held(tensor)
        training = build.training
        if training is not None and training.has_hooks(tensor):
            registered: HookHandle = training.register_hook(tensor, hook)
            return registered
        if held.stop_gradient:
            raise NoGradientError("register_hook: tensor has stop_gradient=True, so it gets no gradient")
        _check_fresh(held, build.block)
        handle = HookHandle(build.block)
        base, earlier = build.unhook(tensor)
        hooks = (*earlier, (convert(hook), handle))

        def pulled(cts: Sequence[Any], values: Sequence[Any], own: list[Any] | None = None) -> list[Any]:
            ct = as_leaf(cts[0])
            for called, registered in hooks:  # the first that was registered comes first
                found = called(ct) if registered.is_registered else None
                ct = ct if found is None else found
            return [ct]

        with scoped(grad_enabled, True):  # as eager code, which asks the tensor and not the mode
            (made,) = with_backward("the hook", pulled, [assign(base)], [base], may_change=True)
        build.hook(tensor, base, made, hooks)
        return handle

    return register_hook


def _check_fresh(var: Variable, block: Any) -> None:
    """Raise UnsupportedError unless the block made `var`, and nothing used it: a hook sees what comes from all uses."""
    if all(out is not var for operator in block.ops for out in operator.outputs):
        raise UnsupportedError(
            "register_hook() on a tensor that was not made here: an argument, a parameter, or one from outside of the "
            "branch or loop that registers the hook",
            hint="register the hook outside of the function, or where the tensor is made",
        )
    using = [op for op in block.ops if any(value is var for value in op.inputs)]
    if any(not out.stop_gradient for op in using for out in op.outputs):
        raise UnsupportedError(
            "register_hook() on a tensor that was used before: the hook sees the gradient of those uses, too",
            hint="register the hook right behind the statement that makes the tensor",
        )

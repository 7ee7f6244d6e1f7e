"""Calling a Layer: `forward`, and the hooks around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core.config import DEBUG
from ..core.converted_too import converted_too
from ..core.epoch import LAYER_MODES
from ..core.modes import recorder
from ..core.setting import WATCH
from ..core.source import show_traceback
from ..core.timeline import TracerEventType, span

_recorder = recorder.get
_watch = WATCH


@dataclass(frozen=True, eq=False)
class ForwardHook:
    """A function called around `forward`, and how it wants to be called."""

    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False


class HookRemoveHelper:
    """Takes its hook off again: `handle.remove()`."""

    def __init__(self, hooks: dict[int, Any], hook: Any, prepend: bool = False) -> None:
        self._hooks = hooks
        self._key = max(hooks, default=-1) + 1
        held = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[self._key] = hook
        hooks.update(held)
        LAYER_MODES.bump()

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        self._hooks.pop(self._key, None)
        LAYER_MODES.bump()


class LayerHooks:
    """`layer(...)`: straight to `forward` where no hook is registered."""

    _forward_pre_hooks: dict[int, ForwardHook]
    _forward_post_hooks: dict[int, ForwardHook]
    _state_dict_hooks: dict[int, Callable[..., Any]]

    def _make_hooks(self) -> None:
        for table in ("_forward_pre_hooks", "_forward_post_hooks", "_state_dict_hooks"):
            object.__setattr__(self, table, {})

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the Layer computes; each Layer defines its own."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward(...)")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        try:
            if self._forward_pre_hooks or self._forward_post_hooks:
                return self._call_with_hooks(self._forward_now(), inputs, kwargs)
            if _recorder() is not None:
                return self._forward_now()(*inputs, **kwargs)
            if _watch.on:
                with span(TracerEventType.Forward, type(self).__name__):
                    return self.forward(*inputs, **kwargs)
            return self.forward(*inputs, **kwargs)
        except Exception as err:
            _show_without_call(err)
            raise

    def _forward_now(self) -> Callable[..., Any]:
        builder = _recorder()
        if builder is None:
            return self.forward
        builder.on_layer(self)
        found: Callable[..., Any] = builder.convert(self.forward)
        return found

    def calling(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """What calls `forward` in place of the Layer's own, hooks included."""
        if not (self._forward_pre_hooks or self._forward_post_hooks):
            return forward
        return lambda *inputs, **kwargs: self._call_with_hooks(forward, inputs, kwargs)

    def _call_with_hooks(self, forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        done: set[int] = set()
        try:
            with span(TracerEventType.Forward, type(self).__name__):
                for before in list(self._forward_pre_hooks.values()):
                    inputs, kwargs = _now(_replaced_inputs)(before, self, inputs, kwargs)
                outputs = _now(_forwarded)(forward, inputs, kwargs)
                for key, after in list(self._forward_post_hooks.items()):
                    done.add(key)
                    outputs = _now(_replaced_outputs)(after, self, inputs, kwargs, outputs)
                return outputs
        except Exception:
            for key, after in list(self._forward_post_hooks.items()):
                if after.always_call and key not in done:
                    _now(_replaced_outputs)(after, self, inputs, kwargs, None)
            raise

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Call `hook(layer, inputs)` before each forward; what it returns, if anything, replaces the inputs.

        prepend: before the hooks registered so far. with_kwargs: `hook(layer, inputs, kwargs)`, which returns both.
        Source: paddle.nn.Layer.register_forward_pre_hook.
        """
        return HookRemoveHelper(self._forward_pre_hooks, ForwardHook(hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookRemoveHelper:
        """Call `hook(layer, inputs, outputs)` after each forward; what it returns, if anything, replaces the outputs.

        prepend: before the hooks registered so far. with_kwargs: `hook(layer, inputs, kwargs, outputs)`.
        always_call: also when forward raises. Source: paddle.nn.Layer.register_forward_post_hook.
        """
        return HookRemoveHelper(self._forward_post_hooks, ForwardHook(hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call `hook(destination)` when state_dict is complete; a returned dict replaces it."""
        return HookRemoveHelper(self._state_dict_hooks, hook)


def _now(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, converted while a program is recorded: a tensor may decide what a hook returns."""
    builder = _recorder()
    found: Callable[..., Any] = function if builder is None else builder.convert(function)
    return found


@converted_too
def _replaced_inputs(
    hook: ForwardHook, layer: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What `forward` is given, after a hook."""
    if hook.with_kwargs:
        both: tuple[tuple[Any, ...], dict[str, Any]] | None = hook.function(layer, inputs, kwargs)
        return (inputs, kwargs) if both is None else both
    result = hook.function(layer, inputs)
    if result is None:
        return inputs, kwargs
    return (result if isinstance(result, tuple) else (result,)), kwargs


@converted_too
def _forwarded(forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `forward` gives, which may be given what is one of several."""
    return forward(*inputs, **kwargs)


@converted_too
def _replaced_outputs(
    hook: ForwardHook, layer: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any
) -> Any:
    """What the call gives, after a hook."""
    if hook.with_kwargs:
        result = hook.function(layer, inputs, kwargs, outputs)
    else:
        result = hook.function(layer, inputs, outputs)
    return outputs if result is None else result


__all__ = ["ForwardHook", "HookRemoveHelper", "LayerHooks"]


def _show_without_call(err: Exception) -> None:
    """Leave the frames of this file, which only pass a call on, out of a traceback, unless VITRIFY_DEBUG is set.

    For a handler that ends with a bare `raise`.
    """
    if DEBUG.value:
        return
    tb = err.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename == __file__:
        tb = tb.tb_next
    show_traceback(err, tb)

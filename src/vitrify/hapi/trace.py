"""One call of a network, watched layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ..core.pytree import all_leaves
from ..eager.grad_mode import no_grad
from ..eager.layer import Layer
from ..ops.arguments import is_tensor

Hook = Callable[[Layer, Any, Any], None]


def watch(net: Layer, inputs: tuple[Any, ...], chosen: Callable[[Layer], bool], hook: Hook) -> None:
    """Call net(*inputs) in evaluation mode without gradients, and `hook(layer, inputs, outputs)` after each call of
    a chosen layer. Modes are as before afterwards.
    """
    layers = [net, *net.sublayers()]
    modes = [layer.training for layer in layers]
    with ExitStack() as stack, no_grad():
        for layer in layers:
            if chosen(layer):
                stack.callback(layer.register_forward_post_hook(hook).remove)
        try:
            net.eval()
            net(*inputs)
        finally:
            for layer, mode in zip(layers, modes):
                layer.training = mode


def own_tensors(layer: Layer, whole: bool) -> list[Any]:
    """The parameters of a layer itself (or with `whole` of all below it), and its running statistics."""
    parameters = layer.parameters() if whole else layer.parameters(include_sublayers=False)
    statistics = [b for name, b in layer.named_buffers(include_sublayers=False) if name in ("_mean", "_variance")]
    return [*parameters, *statistics]


def tensors_in(value: Any) -> list[Any]:
    """The tensors in a nested structure, in order."""
    return [leaf for leaf in all_leaves(value) if is_tensor(leaf)]


def shapes_in(value: Any) -> Any:
    """The structure with the shape in place of each tensor."""
    if isinstance(value, (list, tuple)):
        return [shapes_in(item) for item in value]
    return list(value.shape) if hasattr(value, "shape") else []

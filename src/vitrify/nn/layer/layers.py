"""`paddle.nn.layer.layers`: the base class, what it gives, and the mode that model code asks for here."""

from ...core.modes import is_tracing
from ...eager.layer import Layer
from ...eager.layer_hooks import HookRemoveHelper
from ...eager.layer_object_helper import LayerObjectHelper


def in_declarative_mode() -> bool:
    """Return whether `to_static` is making a program of the code that asks. Source: paddle.nn.layer.layers.

    >>> in_declarative_mode()
    False
    """
    return is_tracing()


__all__ = ["HookRemoveHelper", "Layer", "LayerObjectHelper", "in_declarative_mode"]

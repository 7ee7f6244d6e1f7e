"""Running now: Tensor, the tape, backward, and the base class of Layers. Importing it makes op calls run eagerly."""

from . import engine, moving

__all__ = ["engine", "moving"]

"""`paddle.vision`: operations on images and boxes, models, transforms, data sets."""

from . import ops

__all__ = ["ops"]

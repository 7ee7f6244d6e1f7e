"""`paddle.vision`: operations on images and boxes, models, transforms, data sets; all but `ops` load when used."""

from ..core.lazy import lazy_attributes
from . import ops

__getattr__ = lazy_attributes(__name__, modules=("models",), all_of=("models",))
__all__ = ["ops"]

"""`paddle.vision`: operations on images and boxes, models, transforms, data sets; all but `ops` load when used."""

from ..core.lazy import lazy_attributes
from . import ops

__getattr__ = lazy_attributes(
    __name__,
    modules=("datasets", "image", "models", "transforms"),
    all_of=("models", "transforms", "datasets", "image"),
)
__all__ = ["get_image_backend", "image_load", "ops", "set_image_backend"]

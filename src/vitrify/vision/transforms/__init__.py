"""`paddle.vision.transforms`: changes of images, given as PIL images, NumPy arrays [h, w, c] or tensors [c, h, w]."""

from . import functional as functional
from .classes import *  # noqa: F403 - all that is public there
from .functional import *  # noqa: F403 - likewise

"""`paddle.autograd`: gradients on demand and operations with a backward of their own."""

from ..eager.autograd import backward
from ..eager.pylayer import PyLayer, PyLayerContext

Function = PyLayer

__all__ = ["Function", "PyLayer", "PyLayerContext", "backward"]

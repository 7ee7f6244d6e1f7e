"""`paddle.autograd`: gradients on demand, operations with a backward of their own, derivative matrices."""

from ..eager.autograd import backward
from ..eager.packing import saved_tensors_hooks
from ..eager.pylayer import PyLayer, PyLayerContext
from .matrices import hessian, jacobian

Function = PyLayer

__all__ = ["Function", "PyLayer", "PyLayerContext", "backward", "hessian", "jacobian", "saved_tensors_hooks"]

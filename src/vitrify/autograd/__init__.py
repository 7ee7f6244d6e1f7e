"""`paddle.autograd`: gradients on demand, operations with a backward of their own, derivative matrices."""

from ..eager.autograd import backward, grad
from ..eager.grad_mode import no_grad
from ..eager.packing import saved_tensors_hooks
from ..eager.pylayer import PyLayer, PyLayerContext
from .matrices import hessian, jacobian

Function = PyLayer

__all__ = [
    "Function", "PyLayer", "PyLayerContext", "backward", "grad", "hessian", "jacobian", "no_grad",
    "saved_tensors_hooks",
]  # fmt: skip

"""What a tensor is, by the path that model code imports from. Source: paddle.tensor.attribute."""

from ..ops.casting import is_complex, is_floating_point, is_integer
from ..ops.complex_ import imag, real
from ..ops.creation import assign
from ..ops.sizes import rank, shape

__all__ = ["assign", "imag", "is_complex", "is_floating_point", "is_integer", "rank", "real", "shape"]
